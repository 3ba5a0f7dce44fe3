"""The fast model of executed lines, compared with a simple one that follows the definitions."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from duvet.queries.execution import Execution, JavaModel, Outcome
from duvet.sources import java
from duvet.sources.java import LineClasses, LineScope

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
    """Return the lines that ran together with those in a report."""
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
