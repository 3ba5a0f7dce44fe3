"""One report made of the second JSON reports of several packages; their order makes no difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Raw

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Problem, ProblemsError, Severity
from duvet.reports.merge_conflicts import conflicts
from duvet.reports.merge_joins import drift, joined, tidy
from duvet.reports.v2_records import Annotations, Record, Report, Sources

Inputs = Sequence[tuple[str, Report]]
"""Reports with the names of their files."""

T = TypeVar("T", bound=Record)


class _Listener(NamedTuple):
    """Hears what is wrong with one input."""

    number: int
    name: str
    problems: list[Problem]

    def has(self, rule: rules.Rule, words: str, *, broken: bool = False, hint: str = "") -> None:
        message = f"input #{self.number} has {words}"
        if broken:
            message = f"internal invariant violation: {message}"
            hint = "ids are hashes of what they stand for: a report was changed, or is not from duvet"
        self.problems.append(rule.problem(message, self.name, hint=hint))


def merge(inputs: Inputs) -> tuple[Report, tuple[Problem, ...]]:
    """The report of all, and warnings; ProblemsError with every conflict where they don't agree."""
    if not inputs:
        raise DuvetError("merge requires at least one input report")
    _raise(list(_files_of_several(inputs)))
    merged = inputs[0][1]
    problems: list[Problem] = []
    for number, (name, report) in enumerate(inputs[1:], 1):
        merged = _merged(merged, report, _Listener(number, name, problems))
    _raise([problem for problem in problems if problem.severity is Severity.ERROR])
    return tidy(merged), tuple(problems)


def _raise(problems: list[Problem]) -> None:
    if problems:
        raise ProblemsError(tuple(problems))


def _files_of_several(inputs: Inputs) -> Iterator[Problem]:
    """Without a repository nobody can tell two files of one name apart."""
    first: dict[str, int] = {}
    for number, (name, report) in enumerate(inputs):
        for id, source in sorted(report.sources.linked.items()):
            if source.repository is None and first.setdefault(id, number) != number:
                yield rules.MERGE_CONFLICT.problem(
                    f"linked source '{id}' (file '{source.file_name}') without a repository "
                    f"appears in inputs #{first[id]} and #{number}",
                    name,
                    hint="add a blob-link to disambiguate: to each [[source]] of the configurations, or as --blob-link",
                )


def _merged(earlier: Report, later: Report, listener: _Listener) -> Report:
    old, new = earlier.annotations, later.annotations
    return Report(
        tuple(sorted({*earlier.issue_links, *later.issue_links})),
        _union(earlier.repositories, later.repositories, listener),
        Sources(
            _union(earlier.sources.inline, later.sources.inline, listener),
            _union(earlier.sources.linked, later.sources.linked, listener),
            _extensions("sources", earlier.sources.extensions, later.sources.extensions, listener),
        ),
        Annotations(
            _union(old.specification, new.specification, listener),
            _union(old.section, new.section, listener),
            _union(old.requirement, new.requirement, listener),
            _union(old.cite, new.cite, listener),
            _union(old.not_applicable, new.not_applicable, listener),
            _extensions("annotations", old.extensions, new.extensions, listener),
        ),
    )


def _union(earlier: dict[str, T], later: dict[str, T], listener: _Listener) -> dict[str, T]:
    kept = dict(earlier)
    for id, new in later.items():
        old = kept.setdefault(id, new)
        if old == new:
            continue
        ##= man/spec/trace.md#reports
        ##% `duvet merge` MUST refuse reports that contradict one another, and name what does.
        for words, broken in conflicts(id, old, new):
            listener.has(rules.MERGE_CONFLICT, words, broken=broken)
        if drifted := ", ".join(drift(old, new)):
            listener.has(
                rules.MERGE_DRIFT,
                f"cite annotation '{id}' with metadata drift from previously seen ({drifted})",
                hint="all tags are kept, and of two texts the one that sorts first",
            )
        kept[id] = joined(old, new)
    return kept


def _extensions(bucket: str, earlier: dict[str, Raw], later: dict[str, Raw], listener: _Listener) -> dict[str, Raw]:
    """Only their writer knows what these mean: where they differ, they can't be merged."""
    for key in sorted(earlier.keys() & later.keys()):
        if earlier[key] != later[key]:
            words = f"extension '{key}' under {bucket} conflicting with previously seen value"
            listener.has(rules.MERGE_CONFLICT, words)
    return {**later, **earlier}
