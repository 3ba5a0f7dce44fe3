"""The checks of `duvet query`: are annotations covered by other annotations, and did tests run the code below them?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from duvet.model import Kind
from duvet.project.project import Project
from duvet.queries.execution import Execution, FileModels, Outcome, ReportLines, apply_report, judge_annotation
from duvet.queries.overlap import AnnotationPool, Covering, QuotedSections, TracedPool, WrittenPool
from duvet.sources.coverage_report import LineHits
from duvet.trace.records import Trace


class CheckName(StrEnum):
    IMPLEMENTATION = "implementation"
    TEST = "test"
    COVERAGE = "coverage"
    EXECUTED_COVERAGE = "executed-coverage"
    DUPLICATES = "duplicates"


_IMPLEMENTING = frozenset({Kind.CITATION, Kind.IMPLICATION, Kind.EXCEPTION})


class QueryFilter(Struct, frozen=True):
    sections: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()

    def select(self, trace: Trace, kinds: Iterable[Kind]) -> list[int]:
        ##= man/spec/query.md#checks
        ##% `--section PATH#SECTION` MUST select the annotations with exactly this target, and `--section PATH` those
        ##% with any target in this specification. `--quote TEXT` MUST select the annotations whose quote contains
        ##% TEXT, ignoring case.
        quotes = tuple(quote.lower() for quote in self.quotes)
        sections = [section.partition("#") for section in self.sections]
        whole = {path for path, hash_sign, _ in sections if not hash_sign}
        parts = {(path, id) for path, hash_sign, id in sections if hash_sign}
        found = []
        for id, annotation in enumerate(trace.annotations):
            if annotation.kind not in kinds:
                continue
            path, hash_sign, section = annotation.target.partition("#")
            if sections and path not in whole and (not hash_sign or (path, section) not in parts):
                continue
            if quotes:
                text = annotation.quote.lower()
                if not any(quote in text for quote in quotes):
                    continue
            found.append(id)
        return found


class Completeness(StrEnum):
    COMPLETE = "complete"
    MIXED = "mixed"
    INCOMPLETE = "incomplete"
    PENDING = "pending"
    NONE = "none"


class Verdict(Struct, frozen=True):
    id: int
    primary: Covering
    secondary: Covering

    @property
    def completeness(self) -> Completeness:
        if self.secondary.groups:
            return Completeness.MIXED if self.primary.is_full or self.primary.groups else Completeness.PENDING
        if self.primary.is_full:
            return Completeness.COMPLETE
        return Completeness.INCOMPLETE if self.primary.groups else Completeness.NONE


Verdicts = defaultdict[Completeness, list[Verdict]]


class AnnotationCheck(Struct, frozen=True):
    name: CheckName
    verdicts: Verdicts

    @property
    def has_passed(self) -> bool:
        return not any(found for name, found in self.verdicts.items() if name is not Completeness.COMPLETE)


class DuplicatesCheck(Struct, frozen=True):
    by_kind: Mapping[Kind, Verdicts]

    @property
    def has_passed(self) -> bool:
        return not any(verdicts[Completeness.COMPLETE] for verdicts in self.by_kind.values())


class Correlation(Struct, frozen=True):
    test: int
    execution: Execution
    implementations: tuple[tuple[int, Execution], ...] = ()  # Empty if the test did not run.

    @property
    def has_passed(self) -> bool:
        return self.execution.is_executed and all(execution.is_executed for _, execution in self.implementations)


class CoverageCheck(Struct, frozen=True):
    reports: int
    correlations: tuple[Correlation, ...]
    unimplemented: tuple[int, ...]  # The tests whose text no implementation quotes.
    executed: tuple[int, ...]  # The implementations that ran.

    @property
    def has_passed(self) -> bool:
        return not self.unimplemented and all(one.has_passed for one in self.correlations)

    @property
    def executed_tests(self) -> tuple[int, ...]:
        return tuple(one.test for one in self.correlations if one.execution.is_executed)


CheckResult = AnnotationCheck | DuplicatesCheck | CoverageCheck

DUPLICATE_KINDS = (Kind.SPEC, Kind.CITATION, Kind.TEST, Kind.EXCEPTION, Kind.TODO, Kind.IMPLICATION)
"""The types in the order in which duplicates are listed."""


class AnnotationQuery:
    def __init__(self, project: Project, filter: QueryFilter) -> None:
        self.project = project
        self.trace = project.trace
        self.filter = filter
        self.sections = QuotedSections(self.trace)

    def check_implementations(self) -> AnnotationCheck:
        ##= man/spec/query.md#checks
        ##% The check `implementation` MUST fail unless citations, implications and exceptions together quote each
        ##% whole requirement, and no todo quotes any part of it.
        done = self._make_pool(self._list(_IMPLEMENTING))
        planned = self._make_pool(self._list((Kind.TODO,)))
        targets = self.filter.select(self.trace, (Kind.SPEC,))
        return AnnotationCheck(CheckName.IMPLEMENTATION, self._classify(targets, done, planned))

    def check_tests(self) -> AnnotationCheck:
        ##= man/spec/query.md#checks
        ##% The check `test` MUST fail unless tests together quote all the text that citations quote.
        tests = self._make_pool(self._list((Kind.TEST,)))
        targets = self.filter.select(self.trace, (Kind.CITATION,))
        return AnnotationCheck(CheckName.TEST, self._classify(targets, tests))

    def check_duplicates(self) -> DuplicatesCheck:
        ##= man/spec/query.md#checks
        ##% The check `duplicates` MUST fail for an annotation if other annotations of its type together quote all the
        ##% text that it quotes.
        found = {}
        for kind in DUPLICATE_KINDS:
            ids = self.filter.select(self.trace, (kind,))
            found[kind] = self._classify(ids, self._make_pool(ids), is_final=False)
        self.sections.check()
        return DuplicatesCheck(found)

    def check_coverage(
        self, reports: Sequence[ReportLines], models: FileModels, *, only_executed: bool
    ) -> CoverageCheck:
        annotations = self.trace.annotations
        executions = {
            id: judge_annotation(annotations[id], reports, models) for id in self._list({Kind.TEST, *_IMPLEMENTING})
        }
        pool = self._make_pool(self._list(_IMPLEMENTING))
        correlations: list[Correlation] = []
        unimplemented: list[int] = []
        for test in self.filter.select(self.trace, (Kind.TEST,)):
            covering = pool.cover(test)
            execution = executions[test]
            ##= man/spec/query.md#checks
            ##% The check `executed-coverage` MUST equal the check `coverage`, except that it ignores tests that did not
            ##% run.
            if covering is None or (only_executed and execution.outcome is Outcome.NOT_EXECUTED):
                continue
            ##= man/spec/query.md#checks
            ##% For each test, the check `coverage` MUST require that code quotes some of the text that the test
            ##% quotes, and that the test and all of this code ran.
            if not covering.groups:
                unimplemented.append(test)
            else:
                found = [(id, executions[id]) for id in covering.ids] if execution.is_executed else ()
                correlations.append(Correlation(test, execution, tuple(found)))
        self.sections.check()
        executed = tuple(id for id in self._list(_IMPLEMENTING) if executions[id].is_executed)
        return CoverageCheck(len(reports), tuple(correlations), tuple(unimplemented), executed)

    def apply_reports(self, reports: Iterable[Mapping[str, LineHits]], models: FileModels) -> Iterator[ReportLines]:
        # A file that is read in two styles occurs twice.
        sources = [path for styles, paths in self.project.inputs.sources for path in paths for _ in styles]
        for report in reports:
            yield apply_report(report, sources, self.project.root, models)

    def _make_pool(self, ids: Iterable[int]) -> AnnotationPool:
        return (WrittenPool if self.project.is_like_upstream else TracedPool)(self.sections, ids)

    def _list(self, kinds: Iterable[Kind]) -> list[int]:
        return QueryFilter().select(self.trace, kinds)

    def _classify(
        self,
        targets: Iterable[int],
        primary: AnnotationPool,
        secondary: AnnotationPool | None = None,
        *,
        is_final: bool = True,
    ) -> Verdicts:
        found = Verdicts(list)
        for id in targets:
            first = primary.cover(id)
            if first is not None:
                second = secondary.cover(id) if secondary else None
                verdict = Verdict(id, first, second or Covering(id))
                found[verdict.completeness].append(verdict)
        if is_final:
            self.sections.check()
        return found
