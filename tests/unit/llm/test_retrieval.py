"""What a project has to say about a question."""

from __future__ import annotations

import pytest

from duvet.errors import QueryError, UnreadableError
from duvet.llm.ask import MAX_SOURCE_CHARACTERS, AnswerSource, ProjectRetriever, fit_sources
from duvet.model import Specification
from duvet.project.project import Project
from duvet.queries.full_text import RequirementIndex
from duvet.queries.search import SearchQuery, search_requirements
from duvet.trace.catalogue import SpecificationCard
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from duvet.tree.files import MemoryTree
from tests.tokens import tokens
from tests.unit.queries.made import SEARCH_FILES as FILES

WARM = "The server MUST warm the pot before the leaves are added."
BREWING = "/specifications/tea/sections/brewing"
ID = "d587e4d0eaaf"
CODE = """\
//= tea.md#brewing
//# The server MUST warm the pot before the leaves are added.
fn warm() {}"""
TEST = """\
//= tea.md#brewing
//= type=test
//# The server MUST warm the pot before the leaves are added.
fn warms() {}"""


def project_of(files: dict[str, str]) -> Project:
    return Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))


def retrieval_of(files: dict[str, str]) -> ProjectRetriever:
    project = project_of(files)
    catalogue = project.catalogue
    return ProjectRetriever(
        catalogue,
        lambda: RequirementIndex(catalogue, Cache()),
        ProjectFiles(project.tree, ""),
        project.specification,
    )


def test_sources() -> None:
    ##= man/spec/ask.md#answers
    ##= type=test
    ##% `duvet ask` MUST give the model about 3,000 tokens of sources: the requirements that `duvet search` finds, their
    ##% sections, and the code that cites them.
    assert retrieval_of(FILES).sources("When is the pot warmed?") == (
        AnswerSource(
            number=1,
            kind="requirement",
            title="tea.md#brewing (MUST, done)",
            full_path=f"{BREWING}/requirements/{ID}",
            file_path="tea.md",
            line_number=5,
            text=WARM,
        ),
        AnswerSource(
            number=2,
            kind="section",
            title="Brewing (tea.md#brewing)",
            full_path=BREWING,
            file_path="tea.md",
            line_number=3,
            text=f"{WARM}\nA server SHOULD NOT boil the water twice.\nThe kettle MUST NOT be left without water.",
        ),
        AnswerSource(
            number=3,
            kind="citation",
            title="citation of tea.md#brewing",
            full_path=f"{BREWING}/requirements/{ID}/citations/src/server.rs:1",
            file_path="src/server.rs",
            line_number=1,
            text=CODE,
        ),
        AnswerSource(
            number=4,
            kind="citation",
            title="test of tea.md#brewing",
            full_path=f"{BREWING}/requirements/{ID}/citations/src/server.rs:5",
            file_path="src/server.rs",
            line_number=5,
            text=TEST,
        ),
    )


@pytest.mark.parametrize(
    "question", ["pot", "which errors are logged?", "tea.md#serving", "src/server.rs:3", "server water"]
)
def test_requirements_are_those_of_the_search(question: str) -> None:
    ##= man/spec/ask.md#answers
    ##= type=test
    ##% `duvet ask` MUST give the model about 3,000 tokens of sources: the requirements that `duvet search` finds, their
    ##% sections, and the code that cites them.
    project = project_of(FILES)
    found = search_requirements(project.catalogue, SearchQuery(question), Cache(), ProjectFiles(project.tree, ""))
    sources = retrieval_of(FILES).sources(question)
    assert [one.text for one in sources if one.kind == "requirement"] == [row.text for row in found.rows]
    assert [one.number for one in sources] == [*range(1, len(sources) + 1)]


def test_nothing() -> None:
    assert retrieval_of(FILES).sources("coffee") == ()
    assert retrieval_of(FILES).sources("what is the") == ()
    with pytest.raises(QueryError):
        retrieval_of(FILES).sources("?!")


def test_a_large_project() -> None:
    ##= man/spec/ask.md#answers
    ##= type=test
    ##% `duvet ask` MUST give the model about 3,000 tokens of sources: the requirements that `duvet search` finds, their
    ##% sections, and the code that cites them.
    long = "word \u00e4\u00f6\u00fc " * 40
    sentences = "".join(f"The pot {number} MUST be {long}.\n\n" for number in range(40))
    tea = "# Tea\n\n" + "".join(f"## Part {number}\n\n{sentences}" for number in range(5))
    code = "".join(f"//= tea.md#part-0\n//# The pot {number} MUST be {long}.\nfn f() {{}}\n\n" for number in range(40))
    sources = retrieval_of({**FILES, "tea.md": tea, "src/server.rs": code}).sources("pot word")
    assert {one.kind for one in sources} == {"requirement", "section", "citation"}
    assert sum(len(one.text.encode()) + len(one.title.encode()) for one in sources) <= MAX_SOURCE_CHARACTERS
    assert 1_000 < sum(tokens(one.text) for one in sources) < 3_300


def test_what_can_not_be_read_any_more() -> None:
    project = project_of(FILES)

    def load(card: SpecificationCard) -> Specification:
        raise UnreadableError("it is gone", path=card.path)

    catalogue = project.catalogue
    lost = ProjectRetriever(
        catalogue, lambda: RequirementIndex(catalogue, Cache()), ProjectFiles(MemoryTree({}), ""), load
    )
    assert [one.kind for one in lost.sources("pot")] == ["requirement"]


def test_citations_that_share_their_code() -> None:
    shared = """\
//= tea.md#brewing
//# The server MUST warm the pot before the leaves are added.
//= tea.md#brewing
//# The kettle MUST NOT be left without water.
fn warm() {
    pour();
}

fn other() {}
"""
    codes = [
        one.text
        for one in retrieval_of({**FILES, "src/server.rs": shared}).sources("warm pot")
        if one.kind == "citation"
    ]
    assert codes == [shared.rstrip("\n")]


def source(text: str, title: str = "t") -> AnswerSource:
    return AnswerSource(number=0, kind="section", title=title, full_path=None, file_path="a", line_number=1, text=text)


def test_what_drives_terminals_is_left_out() -> None:
    (found,) = fit_sources([source("\x1b[31mred\x00\n\tx\udcff", "a\nb\x07")])
    assert (found.number, found.title, found.text) == (1, "a b", "[31mred\n\tx")


@pytest.mark.parametrize(("room", "texts"), [(1000, ["abc", "abc"]), (124, ["abc"]), (120, []), (0, [])])
def test_room(room: int, texts: list[str]) -> None:
    assert [one.text for one in fit_sources([source("abc"), source("abc")], room)] == texts


def test_a_text_is_cut_between_characters() -> None:
    assert [one.text for one in fit_sources([source("\u00e4" * 100)], 121 + 20)] == ["\u00e4" * 8 + "…"]
