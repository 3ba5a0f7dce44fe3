"""The results of `duvet query` as text: counts, and a diagnostic for each annotation that fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from duvet.model import Annotation, Kind
from duvet.queries import checks
from duvet.queries.execution import Execution, Outcome
from duvet.reports.graphics import Canvas, Diagnostic, Slice

_UNKNOWN = "Not executed because of an unknown not executable line."
_TEST_LABELS = {
    Outcome.EXECUTED: "Executed test",
    Outcome.NOT_EXECUTED: "Not executed test",
    Outcome.STRUCTURAL: "Test target is purely declarative; no executable code to verify",
    Outcome.UNKNOWN: _UNKNOWN,
}
_IMPLEMENTATION_LABELS = {
    Outcome.EXECUTED: "Executed implementation",
    Outcome.NOT_EXECUTED: "Not executed implementation",
    Outcome.STRUCTURAL: "Structural implementation target \u2014 no executable code to verify",
    Outcome.UNKNOWN: _UNKNOWN,
}
_NO_IMPLEMENTATION_HELP = (
    "This test cites a specification section that no implementation/citation annotation references. "
    "Add an implementation annotation for the same section, or fix the test's target."
)
_UNFOUND_HELP = "This is likely a multiline comment and the second line is missing `-` or other list operator."

# The order in which annotations are described; the last ones only with `--verbose`.
_ORDER = (
    *(checks.Completeness.NONE, checks.Completeness.INCOMPLETE, checks.Completeness.MIXED, checks.Completeness.PENDING),
    checks.Completeness.COMPLETE,
)
_TITLES = {
    checks.CheckName.IMPLEMENTATION: (
        "Implementation",
        {
            checks.Completeness.COMPLETE: "Fully implemented",
            checks.Completeness.INCOMPLETE: "Incomplete implementation",
            checks.Completeness.MIXED: "Mixed implementation",
            checks.Completeness.PENDING: "TODO",
            checks.Completeness.NONE: "Not implemented",
        },
    ),
    checks.CheckName.TEST: (
        "Tests",
        {
            checks.Completeness.COMPLETE: "Fully tested",
            checks.Completeness.INCOMPLETE: "Incomplete tests",
            checks.Completeness.NONE: "Not tested",
        },
    ),
}


class CheckRenderer:
    """Renders results exactly as awslabs duvet does, so that scripts can read both."""

    def __init__(self, annotations: Sequence[Annotation], canvas: Canvas, *, verbose: bool = False) -> None:
        self.annotations = annotations
        self.canvas = canvas
        self.verbose = verbose

    def render(self, results: Sequence[checks.CheckResult]) -> Iterator[str]:
        for result in results:
            if isinstance(result, checks.DuplicatesCheck):
                yield from self._render_duplicates(result)
            elif isinstance(result, checks.CoverageCheck):
                yield from self._render_coverage(result)
            else:
                yield from self._render_annotations(result)
                yield from ("\n",) if result.name is checks.CheckName.TEST else ()
        yield f"\nOverall: {_judge(all(result.has_passed for result in results))}\n"

    def render_unfound(self, ids: Iterable[int]) -> Iterator[str]:
        errors = (
            Diagnostic(
                "Exactly matchable quote not found in section", self._make_slice(id, "Quote"), help=_UNFOUND_HELP
            )
            for id in ids
        )
        yield from (f"{line}\n" for line in self.canvas.draw_errors(errors))
        yield "\n"

    def _render_annotations(self, check: checks.AnnotationCheck) -> Iterator[str]:
        title, rows = _TITLES[check.name]
        verdicts = check.verdicts
        count = sum(map(len, verdicts.values()))
        yield f"\n{title}: {_judge(check.has_passed)}\n\n  Total requirements: {count}\n"
        yield from (f"  {label}: {len(verdicts[completeness])}\n" for completeness, label in rows.items())
        is_test = check.name is checks.CheckName.TEST
        for completeness in _ORDER if self.verbose else _ORDER[:-1]:
            if found := verdicts[completeness]:
                yield "\n"
                yield from self._draw(self._describe_verdict(verdict, completeness, is_test) for verdict in found)

    def _render_coverage(self, check: checks.CoverageCheck) -> Iterator[str]:
        passed = [one for one in check.correlations if one.has_passed]
        failed = [one for one in check.correlations if not one.has_passed]
        yield f"\nCoverage: {_judge(check.has_passed)}\n\n"
        yield f"  Coverage reports checked: {check.reports}\n"
        yield f"  Executed tests: {len(check.executed_tests)}\n"
        yield f"  Executed implementations: {len(check.executed)}\n"
        yield f"  Successful correlations: {len(passed)}\n"
        yield f"  Failed correlations: {len(failed)}\n"
        yield f"  Tests with no implementation: {len(check.unimplemented)}\n\n"
        if check.unimplemented:
            message = "Test has no correlated implementation"
            yield from self._draw(
                Diagnostic(message, self._make_slice(test, "Test annotation"), help=_NO_IMPLEMENTATION_HELP)
                for test in check.unimplemented
            )
            yield "\n"
        if failed:
            yield from self._draw(map(self._describe_failure, failed))
            yield "\n"
        if self.verbose:
            for one in passed:
                related = self._make_slices((id for id, _ in one.implementations), "Executed implementation")
                test = self._make_slice(one.test, "Test annotation")
                yield from self._draw((Diagnostic("Successful correlation", test, related, is_advice=True),))
            places = [
                *(self._make_slice(id, "Executed test") for id in check.executed_tests),
                *(self._make_slice(id, "Executed implementation") for id in check.executed),
            ]
            yield from self._draw((Diagnostic("Executed annotations", related=places, is_advice=True),))
            yield "\n"

    def _render_duplicates(self, check: checks.DuplicatesCheck) -> Iterator[str]:
        yield f"\nDuplicates: {_judge(check.has_passed)}\n\n"
        for kind, verdicts in check.by_kind.items():
            name = _name_kind(kind)
            for one in verdicts[checks.Completeness.COMPLETE]:
                first, *more = self._make_slices((one.id, *one.primary.ids), "Duplicate")
                yield from self._draw((Diagnostic(f"Duplicate {name} annotations", first, more),))
        if self.verbose:
            for kind, verdicts in check.by_kind.items():
                yield from self._draw(self._list_overlaps(_name_kind(kind), verdicts))

    def _list_overlaps(self, name: str, verdicts: checks.Verdicts) -> Iterator[Diagnostic]:
        for one in verdicts[checks.Completeness.INCOMPLETE]:
            message = f"{name.capitalize()} annotations with some overlap"
            first, *more = self._make_slices(one.primary.ids, "Some overlap")
            yield Diagnostic(message, first, more, is_advice=True)
        unique = [self._make_slice(one.id, "Unique") for one in verdicts[checks.Completeness.NONE]]
        if unique:
            yield Diagnostic(f"Unique {name} annotations", related=unique, is_advice=True)

    def _describe_verdict(
        self, verdict: checks.Verdict, completeness: checks.Completeness, is_test: bool
    ) -> Diagnostic:
        quote, found = self.annotations[verdict.id].quote, verdict.primary
        match completeness:
            case checks.Completeness.COMPLETE:
                message, label = ("Fully tested", "Test") if is_test else ("Fully Implemented", "Implemented")
                first, *more = self._make_slices(found.ids if found.groups else (verdict.id,), label)
                return Diagnostic(message, first, more, is_advice=True)
            case checks.Completeness.INCOMPLETE if is_test:
                tests = self._make_slices(found.ids, "Incomplete test")
                return Diagnostic(f"Incomplete test:\n {quote}", self._make_slice(verdict.id, "Implementation"), tests)
            case checks.Completeness.INCOMPLETE:
                first, *more = self._make_slices(found.ids, "Incomplete")
                return Diagnostic(f"Incomplete annotation:\n {quote}", first, more)
            case checks.Completeness.MIXED:
                first, *more = self._make_slices(found.ids, "Implemented" if found.is_full else "Incomplete")
                label = "Duplicate todo?" if found.is_full else "Implement this"
                todos = self._make_slices(verdict.secondary.ids, label)
                return Diagnostic(f"Mixed implementation and TODO:\n {quote}", first, (*more, *todos))
            case checks.Completeness.PENDING:
                first, *more = self._make_slices(verdict.secondary.ids, "Implement this")
                return Diagnostic("Todo annotations", first, more)
            case _:
                type = "test" if is_test else "implementation"
                advice = f"\n//= {self.annotations[verdict.id].target}\n//= type={type}\n//# {quote}\n"
                if not is_test:
                    return Diagnostic("Missing annotation", help=advice)
                return Diagnostic("Missing test", self._make_slice(verdict.id, "Implementation"), help=advice)

    def _describe_failure(self, correlation: checks.Correlation) -> Diagnostic:
        related = self._list_problems(correlation.test, correlation.execution)
        ordered = sorted(correlation.implementations, key=lambda one: not one[1].is_executed)
        for id, execution in ordered:
            related.append(self._make_slice(id, _IMPLEMENTATION_LABELS[execution.outcome]))
            related += self._list_problems(id, execution)
        label = _TEST_LABELS[correlation.execution.outcome]
        return Diagnostic("Failed correlation", self._make_slice(correlation.test, label), related)

    def _list_problems(self, id: int, execution: Execution) -> list[Slice]:
        path, line = self.annotations[id].path, execution.line
        if execution.outcome is not Outcome.UNKNOWN or not line:
            return []
        source = self.canvas.read(path)
        start = source.starts[line - 1]
        return [Slice(path, start, start + len(source.line(line - 1)), "Problematic line")]

    def _make_slices(self, ids: Iterable[int], label: str) -> Iterator[Slice]:
        return (self._make_slice(id, label) for id in ids)

    def _make_slice(self, id: int, label: str) -> Slice:
        annotation = self.annotations[id]
        start, end = annotation.source.text
        return Slice(annotation.path, start, end, label)

    def _draw(self, diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
        for diagnostic in diagnostics:
            yield "".join(f"{line}\n" for line in (*self.canvas.draw(diagnostic), ""))


def _judge(has_passed: bool) -> str:
    return "\u2713 PASS" if has_passed else "\u2717 FAIL"


def _name_kind(kind: Kind) -> str:
    return "implementation" if kind is Kind.CITATION else kind.words
