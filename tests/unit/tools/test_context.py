import gc
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sqlite3 import ProgrammingError
from threading import Thread

import pytest
from msgspec import msgpack

from duvet.project.project import Project
from duvet.queries.search import RequirementIndex
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ToolError
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree
from tests.cli.sample_project import make
from tests.unit.tools.tool_calls import FILES, ask, context_in, context_of


def test_an_index_answers_in_every_thread(context: ProjectSnapshot) -> None:
    index = RequirementIndex(context.catalogue, context.project.memory)
    plain = RequirementIndex(context.catalogue, context.project.memory)
    answers: list[dict[int, float]] = []
    thread = Thread(target=lambda: answers.append(index.find_matches("hot OR lid", range(99))))
    thread.start()
    thread.join()
    assert answers == [plain.find_matches("hot OR lid", range(99))] and answers[0]
    assert [index.find_matches("handling", range(99)), index.marks("hot", [4])] == [
        plain.find_matches("handling", range(99)),
        plain.marks("hot", [4]),
    ]


def test_an_index_is_closed_with_its_snapshot() -> None:
    def open_indexes() -> list[RequirementIndex]:
        return [one for one in gc.get_objects() if isinstance(one, RequirementIndex)]

    others = open_indexes()
    context = context_of(FILES)
    ask(context, "search_requirements", {"query": "hot"})
    (index,) = [one for one in open_indexes() if one not in others]
    table = index._connection
    del context, index
    gc.collect()
    with pytest.raises(ProgrammingError):
        table.execute("SELECT 1")


def test_names_that_clients_make_up_are_not_recorded(tmp_path: Path) -> None:
    tree = RecordedTree(DiskTree(str(make(tmp_path, FILES))))
    project = Project(str(tmp_path), tree=tree)
    context = ProjectSnapshot(project, project.catalogue, 50)
    asked = {"get_citation_context": "citation_id", "search_requirements": "query", "resolve_spec_id": "url"}

    def sizes() -> list[int]:
        return [len(tree.seen), len(msgpack.encode(tree.record))]

    def make_up(number: int) -> None:
        for tool, name in asked.items():
            for value in (f"src/made_up{number}.rs:7", f"made{number}.md#up", f"made_up{number}"):
                try:
                    ask(context, tool, {name: value})
                except ToolError:
                    continue

    make_up(0)
    before = sizes()
    make_up(1)
    assert sizes() == before
    # A file is read once.
    text = context.files.text("src/main.rs")
    (tmp_path / "src/main.rs").unlink()
    assert context.files.text("src/main.rs") is text


@pytest.mark.parametrize(("tool", "name"), [("get_requirement", "reference"), ("search_requirements", "query")])
def test_files_outside_the_project_are_not_revealed(tmp_path: Path, tool: str, name: str) -> None:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse a path outside the project, and MUST NOT reveal whether a file exists there.
    (tmp_path / "project").mkdir()
    context = context_in(make(tmp_path / "project", FILES))
    (tmp_path / "project/link").symlink_to(tmp_path)

    def answer(written: str) -> object:
        try:
            return ask(context, tool, {name: written.format(tmp_path)})
        except ToolError as error:
            return error.code, error.message, error.hint

    paths = ("{0}/outside.md", "../outside.md", "{0}/project/../outside.md:1", "link/outside.md")
    before = [*map(answer, paths)]
    (tmp_path / "outside.md").write_text("A secret.\n")
    assert [*map(answer, paths)] == before


def test_a_file_without_annotations_is_named_as_such() -> None:
    context = context_of({**FILES, "src/lib.rs": "fn brew() {}\n"})
    with pytest.raises(ToolError, match=r"no annotations in .src/lib\.rs"):
        ask(context, "get_requirement", {"reference": "src/lib.rs"})


def test_values_are_made_and_read_once(context: ProjectSnapshot) -> None:
    made: list[int] = []

    def make_one(asked: ProjectSnapshot) -> int:
        made.append(len(asked.catalogue.requirements))
        return made[0]

    assert [context.once(make_one), context.once(make_one), made] == [8, 8, [8]]
    readings: list[int] = []

    def read(snapshot: ProjectSnapshot) -> int:
        readings.append(1)
        time.sleep(0.05)
        return len(readings)

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda _: context.read(read), range(4))] == [1] * 4
    assert readings == [1]
