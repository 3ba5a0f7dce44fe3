import pytest
from hypothesis import given, settings, strategies as st

from duvet.errors import DuvetError
from duvet.model import Annotation, Kind
from duvet.queries import execution
from duvet.queries.execution import Execution, JavaModel, Outcome
from duvet.sources import java
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.java import LineClasses, LineScope, classify_java
from duvet.tree.files import MemoryTree

EXECUTED, MISSED, STRUCTURAL = map(
    execution.Execution, (execution.Outcome.EXECUTED, execution.Outcome.NOT_EXECUTED, execution.Outcome.STRUCTURAL)
)


def unknown(line: int) -> execution.Execution:
    return execution.Execution(execution.Outcome.UNKNOWN, line)


DIRECT = "//= a\n//# A.\n\n// A comment.\nfn f() {\n    //= b\n    g();\n}\n//= c\n\n"


def test_the_direct_model_judges_lines() -> None:
    ##= man/spec/query.md#executed-lines
    ##% Except in Java files, an annotation MUST count as executed if the next line below it that is neither blank nor
    ##% an annotation was executed.
    for lines, hits, expected in [
        ((1, 2), {4: True}, EXECUTED),
        ((1, 2), {4: False}, MISSED),
        ((1, 2), {5: True}, unknown(4)),
        ((6, 6), {7: True, 99: True}, EXECUTED),
        ((9, 9), {7: True, 0: True}, unknown(0)),
    ]:
        assert execution.DirectModel(DIRECT, [(1, 2), (6, 6), (9, 9)]).apply(hits)(lines) == expected


BODY = """\
@A
class A {
  //= a
  /* A comment
   * of two lines. */
  @Override
  void f() {
    int a;
    //= b

    g();
    h(
      1);
    if (a) {
      i();
    } else {
      j();
    }
    int b;
    //= c
  }
  //= d
  void empty() {}
  interface I {
    void k();
  }
}
"""


def test_the_java_model_judges_declarations() -> None:
    ##= man/spec/query.md#executed-lines
    ##% In a Java file, `duvet query` MUST also treat the declarations, comments and blank lines directly above an
    ##% executed line as executed, up to the line that opens their block.
    for above, hits, expected in [
        *((3, {11: True}, MISSED), (3, {6: True}, EXECUTED), (6, {11: True}, EXECUTED), (6, {11: False}, MISSED)),
        *((12, {13: True}, EXECUTED), (17, {17: True}, STRUCTURAL), (22, {23: False}, STRUCTURAL)),
        *((27, {}, STRUCTURAL), (6, {28: True, 11: True}, unknown(6)), (6, {0: True, 11: True}, unknown(6))),
    ]:
        model = execution.JavaModel(classify_java(BODY, "A.java"), ((3, 3), (9, 9), (20, 20), (22, 22)))
        assert model.apply(hits)((above, above)) == expected
    broken = execution.JavaModel(classify_java("class A {\n  void f( {\n    g();\n  }\n}\n", "A.java"), ())
    assert broken.apply({3: True})((2, 2)) == unknown(2)


ENTRIES = "coverage is ambiguous for {}: its path matches multiple report entries ({}). duvet cannot tell which entry"
FILES = "coverage report entry '{}' is ambiguous: it matches multiple source files ({}). duvet cannot tell which file"


def test_coverage_reports_are_joined_unless_they_are_ambiguous() -> None:
    ##= man/spec/query.md#coverage-reports
    ##% `duvet query` MUST match an entry of a coverage report with the source file whose absolute path ends with the
    ##% path of the entry, and refuse an ambiguous match.
    for entries, sources, joined in [
        (["a/B.java"], ["src/a/B.java"], {"src/a/B.java": "a/B.java"}),
        (["B.java"], ["src/a/B.java"], {"src/a/B.java": "B.java"}),
        (["home/p/src/B.java"], ["src/B.java"], {"src/B.java": "home/p/src/B.java"}),
        (["other/src/B.java", "rc/B.java", "b.java", "src/B.java/"], ["src/B.java"], {}),
        (["src\\B.java"], ["src/B.java"], {"src/B.java": "src\\B.java"}),
        (["opt/B.java"], ["/opt/B.java"], {"/opt/B.java": "opt/B.java"}),
    ]:
        assert execution.join_sources(entries, sources, "/home/p") == joined
    for entry, source, message in [
        ("B.java a/B.java", "a/B.java", f"{ENTRIES.format('a/B.java', 'B.java, a/B.java')} refers to this file."),
        ("B.java", "b/B.java a/B.java", f"{FILES.format('B.java', 'a/B.java, b/B.java')} the report refers to."),
        ("B.java", "B.java B.java", f"{FILES.format('B.java', 'B.java, B.java')} the report refers to."),
    ]:
        with pytest.raises(DuvetError) as refused:
            execution.join_sources(entry.split(), source.split(), "/home/p")
        assert refused.value.message == message


SOURCE = "class A {\n  //= spec.md#a\n  //# A.\n\n  int a;\n}\n"


def test_several_reports() -> None:
    ##= man/spec/query.md#coverage-reports
    ##% An annotation that was executed in one coverage report MUST count as executed, whatever the other reports say.
    tree = MemoryTree({"A.java": SOURCE.encode(), "b.rs": SOURCE.encode()})
    found = [one for path in tree.files for one in scan_comments(path, SOURCE, SourceStyle())[0]]
    entry = Annotation("a.toml", 1, Kind.EXCEPTION, "spec.md#a", "A.", from_file=True)
    models = execution.FileModels(tree, [*found, entry])
    hits = {
        "hit": {"A.java": {5: True}, "b.rs": {5: True}},
        "drift": {"A.java": {99: True}, "b.rs": {4: True}},
        "missed": {"A.java": {5: False}, "b.rs": {5: False}},
        "none": {},
    }
    reports: dict[str, execution.ReportLines] = {
        name: execution.apply_report(report, ["A.java", "b.rs"], "/p", models) for name, report in hits.items()
    }

    def judge_in(*names: str) -> list[execution.Execution]:
        return [execution.judge_annotation(one, [reports[name] for name in names], models) for one in (*found, entry)]

    assert judge_in() == judge_in("none") == [MISSED, MISSED, MISSED]
    executed = [EXECUTED, EXECUTED, MISSED]
    assert judge_in("hit") == judge_in("none", "drift", "hit") == judge_in("hit", "drift") == executed
    assert judge_in("drift", "none") == judge_in("missed", "drift") == [unknown(2), unknown(5), MISSED]
    assert judge_in("missed", "none") == judge_in("none", "missed") == [STRUCTURAL, MISSED, MISSED]
    assert (models.classified, models.direct) == ({"A.java"}, {"b.rs"})


LINES = 12
CODE = java.STATEMENT | java.DECLARATION | java.SCOPE_OPEN


@st.composite
def line_classes(draw: st.DrawFn) -> LineClasses:
    properties = [draw(st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 80, 128, 129])) for _ in range(LINES)]
    scopes: list[LineScope] = []

    def add(first: int, last: int, depth: int) -> None:
        while first < last and depth and draw(st.booleans()):
            low = draw(st.integers(first, last - 1))
            high = draw(st.integers(low, last))
            add(low, high, depth - 1)
            scopes.append(LineScope(low, high))
            first = high

    add(1, LINES, 3)
    for scope in scopes:
        properties[scope.first - 1] |= java.SCOPE_OPEN
        properties[scope.last - 1] |= java.SCOPE_CLOSE
    return LineClasses((0, *properties), tuple(dict.fromkeys(scopes)) or (LineScope(1, LINES),))


def walk_plainly(classes: LineClasses, hits: set[int]) -> set[int]:
    properties, executed = classes.properties, set(hits)
    for scope in classes.scopes:
        if any(properties[line] & java.NON_LINEAR for line in range(scope.first, scope.last + 1)):
            continue
        for hit in [line for line in hits if scope.first < line <= scope.last]:
            for line in range(hit - 1, 0, -1):
                if not properties[line] or properties[line] & (java.SCOPE_CLOSE | java.STATEMENT):
                    break
                executed.add(line)
                if properties[line] & java.SCOPE_OPEN:
                    break
    return executed


def find_target_plainly(properties: tuple[int, ...], after: int) -> int | None:
    for line in range(after + 1, LINES + 1):
        found = properties[line]
        if not (found & java.ANNOTATION or found in (java.BLANK, java.COMMENT)):
            return None if found & java.SCOPE_CLOSE and not found & CODE else line
    return None


def judge_plainly(classes: LineClasses, hits: dict[int, bool], after: int) -> Execution:
    properties = classes.properties
    line = find_target_plainly(properties, after)
    if line is None:
        return Execution(Outcome.STRUCTURAL)
    found = properties[line]
    if not found or found & java.NON_LINEAR:
        return Execution(Outcome.UNKNOWN, line)
    if line in walk_plainly(classes, {hit for hit, is_hit in hits.items() if is_hit}):
        return Execution(Outcome.EXECUTED)
    around = [scope for scope in classes.scopes if scope.first <= line <= scope.last]
    if found & java.DECLARATION and not found & java.STATEMENT and around:
        scope = min(around, key=lambda one: one.last - one.first)
        if not any(properties[one] & java.STATEMENT for one in range(scope.first, scope.last + 1)):
            return Execution(Outcome.STRUCTURAL)
    return Execution(Outcome.NOT_EXECUTED)


@settings(deadline=None)
@given(line_classes(), st.dictionaries(st.integers(1, LINES), st.booleans()))
def test_executed_lines_equal_the_plain_rules(classes: LineClasses, hits: dict[int, bool]) -> None:
    judge = JavaModel(classes, []).apply(hits)
    for after in range(LINES + 1):
        assert judge((after, after)) == judge_plainly(classes, hits, after)
