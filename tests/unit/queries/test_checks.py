from duvet.model import Kind
from duvet.project.project import Project
from duvet.queries.checks import AnnotationCheck, AnnotationQuery, Completeness, QueryFilter
from duvet.tree.files import MemoryTree

SPECIFICATION = """\
# S

## A

It MUST boil. It MUST whistle.

## B

It MUST stop.
"""
CONFIG = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[[source]]
pattern = "*.rs"
[[specification]]
source = "s.md"
"""


def query(*annotations: str, filter: QueryFilter = QueryFilter()) -> AnnotationQuery:  # noqa: B008 - frozen
    """Return a query for annotations written as `SECTION TYPE QUOTE`."""
    source = ""
    for annotation in annotations:
        section, kind, quote = annotation.split(" ", 2)
        quoted = f"//# {quote}\n" if quote else ""
        reason = "//= reason=x\n" if kind == "exception" else ""
        source += f"//= s.md#{section}\n//= type={kind}\n{reason}{quoted}\n"
    files = {"s.md": SPECIFICATION, ".duvet/config.toml": CONFIG, "a.rs": source}
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    assert project.trace.problems == ()
    return AnnotationQuery(project, filter)


def states(query: AnnotationQuery, check: AnnotationCheck) -> dict[str, str]:
    return {query.trace.annotations[one.id].quote: name.value for name in Completeness for one in check.verdicts[name]}


def test_the_implementation_check_reports_its_verdicts() -> None:
    ##= man/spec/query.md#checks
    ##% The check `implementation` MUST fail unless citations, implications and exceptions together quote each whole
    ##% requirement, and no todo quotes any part of it.
    for cited, state in [
        ([], "none"),
        (["b citation It MUST stop."], "complete"),
        (["b implication It MUST stop."], "complete"),
        (["b exception It MUST stop."], "complete"),
        (["b citation It MUST", "b exception MUST stop."], "complete"),
        (["b citation It MUST stop"], "incomplete"),
        (["b test It MUST stop.", "b citation "], "none"),
        (["b todo It MUST stop."], "pending"),
        (["b todo It"], "pending"),
        (["b todo It", "b citation It MUST stop."], "mixed"),
        (["b todo It", "b citation stop."], "mixed"),
    ]:
        asked = query(*cited, "a citation It MUST boil. It MUST whistle.")
        found = asked.check_implementations()
        complete = dict.fromkeys(("It MUST boil.", "It MUST whistle."), "complete")
        assert states(asked, found) == {**complete, "It MUST stop.": state}
        assert found.has_passed == (state == "complete")


def test_the_test_check_reports_its_verdicts() -> None:
    ##= man/spec/query.md#checks
    ##% The check `test` MUST fail unless tests together quote all the text that citations quote.
    for cited, state in [
        ([], "none"),
        (["b test It MUST stop.", "b test stop."], "complete"),
        (["b test It"], "incomplete"),
        (["b todo It MUST stop.", "b implication It MUST stop."], "none"),
    ]:
        asked = query("b citation It MUST stop.", "a citation ", *cited)
        found = asked.check_tests()
        assert states(asked, found) == {"It MUST stop.": state, "": "complete"}
        assert found.has_passed == (state == "complete")


def test_the_duplicates_check_reports_groups() -> None:
    ##= man/spec/query.md#checks
    ##% The check `duplicates` MUST fail for an annotation if other annotations of its type together quote all the
    ##% text that it quotes.
    for cited, duplicates in [
        ([], []),
        (["b citation It MUST stop.", "b test It MUST stop.", "b todo It MUST stop."], []),
        (["b citation It MUST stop.", "b citation It MUST stop."], [(Kind.CITATION, 2)]),
        (["b citation It MUST stop.", "b citation It MUST"], [(Kind.CITATION, 1)]),
        (["b test It MUST stop.", "b test It MUST", "b test MUST stop."], [(Kind.TEST, 3)]),
        (["b test It MUST", "b test MUST stop."], []),
        (["b todo It", "a todo It"], []),
        (["b spec It MUST stop."], [(Kind.SPEC, 2)]),
        (["b exception ", "b implication ", "a implication "], [(Kind.EXCEPTION, 1), (Kind.IMPLICATION, 2)]),
    ]:
        found = query(*cited).check_duplicates()
        counts = [(kind, len(verdicts[Completeness.COMPLETE])) for kind, verdicts in found.by_kind.items()]
        assert [(kind, count) for kind, count in counts if count] == duplicates
        assert found.has_passed == (not duplicates)


def test_filters_apply_to_checks() -> None:
    ##= man/spec/query.md#checks
    ##% `--section PATH#SECTION` MUST select the annotations with exactly this target, and `--section PATH` those with
    ##% any target in this specification. `--quote TEXT` MUST select the annotations whose quote contains TEXT,
    ##% ignoring case.
    for sections, quotes, selected in [
        ((), (), "stop boil whistle"),
        (("s.md",), (), "stop boil whistle"),
        (("s.md#b",), (), "stop"),
        (("s.md#b", "s.md#a"), (), "stop boil whistle"),
        (("./s.md", "s", "s.md#", "s.md#c", "", "S.MD"), (), ""),
        ((), ("must S",), "stop"),
        ((), ("boil", "STOP"), "stop boil"),
        ((), ("",), "stop boil whistle"),
        ((), ("must  stop",), ""),
        (("s.md#a",), ("stop", "boil"), "boil"),
    ]:
        asked = query("b citation It MUST stop.", filter=QueryFilter(sections, quotes))
        assert [*states(asked, asked.check_implementations())] == [f"It MUST {word}." for word in selected.split()]
    annotations = ("b test It MUST stop.", "b test It MUST")
    assert not query(*annotations, filter=QueryFilter(quotes=("it must",))).check_duplicates().has_passed
    assert query(*annotations, filter=QueryFilter(quotes=("stop",))).check_duplicates().has_passed
