import re
from collections.abc import Mapping

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.model import Kind
from duvet.prompts import library
from duvet.prompts.content import CitationComment, fill_prompt, make_comments
from duvet.text import make_text_id
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from tests.cli.tea_project import SOURCE, TEA, TEA_PROJECT
from tests.conftest import ROOT
from tests.tokens import MOST, tokens
from tests.unit.tools import tool_calls

USUAL = Registry()
WARM = "1dd64a535306"


def context_of(**changed: str) -> ProjectSnapshot:
    """Return the tea project with some files changed; a file without text is left out."""
    return tool_calls.context_of({path: text for path, text in {**TEA_PROJECT, **changed}.items() if text})


def text_for(registry: Registry, name: str, context: ProjectSnapshot, given: Mapping[str, str]) -> str:
    return fill_prompt(name, library.check_prompt_arguments(name, given), context, registry)


def text_of(name: str, context: ProjectSnapshot, /, **given: str) -> str:
    return text_for(USUAL, name, context, given)


@pytest.fixture(scope="module")
def tea() -> ProjectSnapshot:
    return context_of()


PROMPTS: dict[str, tuple[str, dict[str, str]]] = {
    "implement": ("implement_requirement", {"requirement": WARM}),
    "test": ("write_test", {"requirement": "a541"}),
    "review": ("review_citations", {}),
    "review_spec": ("review_citations", {"spec": "rfc7168"}),
    "review_file": ("review_citations", {"file": "tests"}),
    "triage": ("triage_uncited", {}),
    "triage_level": ("triage_uncited", {"spec": "tea.md", "level": "MAY"}),
    "section": ("explain_section", {"section": "rfc7168#section-2"}),
    "section_empty": ("explain_section", {"section": "/specifications/tea/sections/sugar"}),
}


@pytest.mark.parametrize("file", PROMPTS)
def test_the_text_of_each_prompt(file: str, tea: ProjectSnapshot, snapshot: Snapshot) -> None:
    ##= man/spec/mcp.md#prompts
    ##% A prompt about a requirement MUST contain its text, its state, its citations with the code around them, and the
    ##% comments to write.
    snapshot.snapshot_dir = ROOT / "tests/gold/prompts"
    name, given = PROMPTS[file]
    snapshot.assert_match(text_of(name, tea, **given), f"{file}.md")


def test_the_problems_to_review_are_in_order() -> None:
    unreasoned = SOURCE.replace("//= reason=Our cups are drawn on paper.\n", "")
    text = text_of("review_citations", context_of(**{"src/pot.rs": unreasoned}), spec="tea", file="src")
    assert re.findall(r"^- (\S+),.*: (.*)$", text, re.MULTILINE) == [
        ("src/pot.rs:14", "this exception has no reason [DUV090]"),
        ("src/pot.rs:26", 'missing section "milk" in tea.md [DUV043]'),
        ("src/pot.rs:29", 'could not find text in section "pot" of tea.md [DUV050]'),
    ]


@pytest.mark.parametrize(
    "name", [one.name for one in library.list_prompts(Registry()) if one.name != library.SYSTEM_PROMPT]
)
def test_a_prompt_names_the_enabled_tools(name: str) -> None:
    given = {"requirement": WARM, "section": "tea#pot"}
    wanted = {one.name: given[one.name] for one in library.describe_prompt(name).arguments if one.required}
    ##= man/spec/mcp.md#prompts
    ##% A prompt MUST NOT name a disabled tool.
    on, off = (text_for(registry, name, context_of(), wanted) for registry in (USUAL, Registry([])))
    named = [one.name for one in Registry() if f"`{one.name}` (`duvet " in on]
    assert len(named) > 0 and on.count("`duvet ") == off.count("`duvet ")
    assert [one.name for one in Registry() if one.name in off] == []


def test_unreadable_comments_are_reviewed() -> None:
    text = "//= tea.md#pot\n//= colour=black\n//# The pot\n\n//# The cup\n"
    context = context_of(**{"src/pot.rs": text, "tests/pot.rs": "", ".duvet/todos/tea.toml": "[[todo]]\n"})
    unread = "- src/pot.rs:2: invalid metadata field [DUV020]\n  It says: //= tea.md#pot //= colour=black //# The pot\n"
    stray = "- src/pot.rs:5: this quote has no target and is ignored [DUV027]\n  It says: //# The cup\n"
    for given in ({}, {"file": "src"}):
        found = text_of("review_citations", context, **given)
        wrong, _, doubtful = found.partition("## Doubtful citations")
        assert (unread in wrong, stray in doubtful) == (True, True)
    for given in ({"file": ".duvet"}, {"spec": "tea"}):
        assert "src/pot.rs" not in text_of("review_citations", context, **given)


@pytest.mark.parametrize(
    "sentence", ["The pot number {} MUST be warm. ", "ポット {} は常に MUST 温かい状態で保たれる。 "]
)
def test_a_long_line_is_cut(sentence: str) -> None:
    long = "".join(map(sentence.format, range(2_000)))
    text = text_of("explain_section", context_of(**{"tea.md": f"{TEA}\n## All\n\n{long}\n"}), section="tea#all")
    assert re.search(r"^\d+ more lines are omitted here", text, re.MULTILINE)
    assert sentence.format(1).strip() in text
    assert tokens(text) < MOST
    assert tokens(text_of("triage_uncited", context_of(**{"tea.md": f"# All\n\n{long}\n"}))) < MOST
    source = "//= tea.md#pot\n//# The pot MUST be warm.\n" + "x = " + "1 + " * 9_000 + "1;\n"
    text = text_of("write_test", context_of(**{"src/pot.rs": source}), requirement=WARM)
    assert max(map(len, text.splitlines())) < 200


def test_prompts_of_an_empty_or_broken_project() -> None:
    with pytest.raises(DuvetError):
        context_of(**{".duvet/config.toml": "["})
    context = context_of(**dict.fromkeys(TEA_PROJECT, ""))
    assert "\n0 of 0 are uncited or `to do`:\n\nNone.\n" in text_of("triage_uncited", context)
    assert "## Invalid citations\n\nNone.\n" in text_of("review_citations", context)


def test_arguments_are_completed(tea: ProjectSnapshot) -> None:
    cases: dict[tuple[str, str], list[str]] = {
        ("requirement", "1DD"): [WARM],
        ("spec", ""): ["rfc7168", "tea"],
        ("section", "tea#p"): ["tea#pot"],
        ("file", "src"): ["src/pot.rs"],
        ("level", "m"): ["must", "may"],
        ("nothing", ""): [],
    }
    assert {asked: library.complete_prompt_argument(tea.catalogue, *asked) for asked in cases} == cases


TEXT = "The pot MUST be warm before the water is poured into it, and the lid MUST be on it after that."
PLAIN = """\
       //= tea.md#pot
       //# The pot MUST be warm before the water is poured into it, and the lid
       //# MUST be on it after that.
"""


def typed(kind: str) -> str:
    return PLAIN.replace("#pot\n", f"#pot\n       //= type={kind}\n")


def starred(comment: str) -> str:
    return comment.replace("//=", "*=").replace("//#", "*#")


TRIAGE, REVIEW, EXPLAIN = "triage_uncited", "review_citations", "explain_section"
WRONG: list[tuple[type[DuvetError], str, dict[str, str]]] = [
    *((QueryError, name, {"x": ""}) for name in ("system", TRIAGE)),
    *((QueryError, TRIAGE, given) for given in ({"specs": ""}, {"level": "shall"})),
    (QueryError, EXPLAIN, {"section": " "}),
    (NotFoundError, "write_test", {"requirement": "tea#pot"}),
    *((NotFoundError, EXPLAIN, {"section": WARM}), (NotFoundError, TRIAGE, {"spec": "tee"})),
    *((NotFoundError, REVIEW, given) for given in ({"spec": "tee"}, {"file": "src/pit.rs"})),
    (NotFoundError, REVIEW, {"file": "../../etc/passwd"}),
]


def test_a_wrong_argument_is_refused(tea: ProjectSnapshot, problem_files: Snapshot) -> None:
    lines = []
    for kind, name, given in WRONG:
        with pytest.raises(kind) as caught:
            text_of(name, tea, **given)
        lines.append(f"{name} {given}: {caught.value.message}; {caught.value.hint}")
    problem_files.assert_match("\n".join(lines), "prompts.txt")


def test_a_prompt_that_would_be_too_long_says_what_it_leaves_out() -> None:
    many = "".join(f"The pot number {number} MUST be warm.\n" for number in range(900))
    wrong = "".join(f"//= tea.md#pot\n//# The cup number {number} MUST be warm.\n\n" for number in range(300))
    cited = "//= tea.md#all\n//# The pot number 1 MUST be warm.\nfn a() {}\n\n" * 300
    large = context_of(**{"tea.md": f"{TEA}## All\n\n{many}", "src/pot.rs": wrong, "src/cited.rs": cited})
    more = r"more are omitted here: see `get_requirement` \(`duvet show"
    for name, given, said in (
        (TRIAGE, {}, "more are omitted here: decide"),
        (REVIEW, {}, "more are omitted here: fix"),
        (EXPLAIN, {"section": "tea#all"}, "more lines are omitted here"),
        ("implement_requirement", {"requirement": make_text_id("The pot number 1 MUST be warm.")}, more),
    ):
        text = text_of(name, large, **given)
        assert re.search(rf"^\d+ {said}", text, re.MULTILINE)
        assert tokens(text) < MOST


def test_each_comment_style_is_shown_once() -> None:
    tests = SourceRule(("tests/*.rs",), kind=Kind.TEST)
    rules = [SourceRule(("src/*.rs", "bin/*.rs")), tests, SourceRule(("lib/*.rs",)), SourceRule(("c/*.c",), "*=", "*#")]
    assert make_comments(rules, "tea.md#pot", TEXT) == (
        CitationComment("`src/*.rs`, `bin/*.rs`, `lib/*.rs`", PLAIN, typed("test")),
        CitationComment("`tests/*.rs`", "", PLAIN),
        CitationComment("`c/*.c`", starred(PLAIN), starred(typed("test"))),
    )
    alone = CitationComment("`tests/*.rs`", typed("implementation"), PLAIN)
    assert make_comments([tests], "tea.md#pot", TEXT) == (alone,)
    assert make_comments([], "tea.md#pot", TEXT) == ()
