"""Merges the JSON v2 reports of several packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec import Raw
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Problem, Severity
from duvet.reports import json_v2
from duvet.text import quote_text
from duvet.tree.files import Tree


class MergeConflict(NamedTuple):
    """A field that differs; `broken` means that ids are equal although the hashed content differs."""

    words: str
    broken: bool


class _Rule(NamedTuple):
    """The message for a field that differs; an empty `field` stands for the whole record."""

    field: str
    words: str
    show: Callable[[Any], str] = str
    broken: bool = False
    may_be_absent: bool = False


def _quote(value: str | None) -> str:
    return "none" if value is None else quote_text(value)


def _make_conflicting_rule(noun: str, field: str, show: Callable[[Any], str] = "'{}'".format, **flags: bool) -> _Rule:
    words = f"{noun} '{{id}}' with {field} {{new}} conflicting with previously seen {{old}}"
    return _Rule(field, words, show, **flags)


def _make_differing_rule(noun: str, field: str = "source") -> _Rule:
    return _Rule(field, f"{noun} '{{id}}' with {field} differing from previously seen", broken=True)


_RULES: dict[type[json_v2.V2Record], tuple[_Rule, ...]] = {
    json_v2.RepositoryRecord: (_make_conflicting_rule("repository", "blob_link", broken=True),),
    json_v2.InlineSource: (
        _Rule("contents", "inline source '{id}' with contents conflicting with previously seen contents", broken=True),
        _make_conflicting_rule("inline source", "file_name"),
    ),
    json_v2.LinkedSource: (
        _Rule("", "linked source '{id}' that differs from previously seen entry under the same id", broken=True),
    ),
    json_v2.SpecificationRecord: (
        _make_conflicting_rule("specification annotation", "title", _quote),
        _make_conflicting_rule("specification annotation", "format"),
        _make_conflicting_rule("specification annotation", "url", _quote, may_be_absent=True),
        _make_differing_rule("specification"),
    ),
    json_v2.SectionRecord: (
        _make_conflicting_rule("section annotation", "short_name"),
        _make_conflicting_rule("section annotation", "long_name", _quote),
        _make_differing_rule("section"),
    ),
    json_v2.RequirementRecord: (
        _make_conflicting_rule("requirement annotation", "level", str.capitalize),
        _make_differing_rule("requirement"),
        _make_differing_rule("requirement", "origin"),
    ),
    json_v2.CiteRecord: (
        _make_conflicting_rule("cite annotation", "type", str.capitalize),
        _make_conflicting_rule("cite annotation", "level", str.capitalize),
        _Rule("target", "cite annotation '{id}' with target conflicting with previously seen"),
        _make_differing_rule("cite"),
    ),
    # Two records with the same id differ only in how much of the specification each package cites.
    json_v2.NotApplicableRecord: (),
}


def find_conflicts(id: str, earlier: json_v2.V2Record, later: json_v2.V2Record) -> Iterator[MergeConflict]:
    ##= man/spec/trace.md#reports
    ##% `duvet merge` MUST refuse reports that contradict each other and list the contradictions, and its result MUST
    ##% NOT depend on the order of its inputs.
    for rule in _RULES[type(earlier)]:
        old, new = (getattr(record, rule.field) if rule.field else record for record in (earlier, later))
        if old == new or (rule.may_be_absent and None in (old, new)):
            continue
        yield MergeConflict(rule.words.format(id=id, old=rule.show(old), new=rule.show(new)), rule.broken)


_TEXTS = ("comment", "feature", "tracking_issue")
T = TypeVar("T", bound=json_v2.V2Record)


def find_drift(earlier: json_v2.V2Record, later: json_v2.V2Record) -> Iterator[str]:
    """Yield the fields of a citation that differ but can be merged."""
    if isinstance(earlier, json_v2.CiteRecord):
        yield from (name for name in (*_TEXTS, "tags") if getattr(earlier, name) != getattr(later, name))


def join_records(earlier: T, later: T) -> T:
    """Merge two records; where they conflict, the earlier one counts."""
    match earlier, later:
        case json_v2.SpecificationRecord(), json_v2.SpecificationRecord():
            return replace(earlier, url=earlier.url or later.url)
        case json_v2.RequirementRecord(), json_v2.RequirementRecord():
            both = {**earlier.coverage, **later.coverage}
            coverage = {cite: earlier.coverage.get(cite, ()) + later.coverage.get(cite, ()) for cite in both}
            return replace(earlier, coverage=coverage)
        case json_v2.CiteRecord(), json_v2.CiteRecord():
            # Keep the text that sorts first.
            pairs = {name: (getattr(earlier, name), getattr(later, name)) for name in _TEXTS}
            texts = {name: min((one for one in pair if one is not None), default=None) for name, pair in pairs.items()}
            return replace(earlier, tags=tuple(sorted({*earlier.tags, *later.tags})), **texts)
        case json_v2.NotApplicableRecord(), json_v2.NotApplicableRecord():
            return replace(earlier, requirements=max(earlier.requirements, later.requirements))
    return earlier


NamedReports = Sequence[tuple[str, json_v2.V2Report]]  # Reports with their file names.


class _Reporter(NamedTuple):
    number: int
    name: str
    problems: list[Problem]

    def report(self, rule: rules.Rule, words: str, *, broken: bool = False, hint: str = "") -> None:
        message = f"input #{self.number} has {words}"
        if broken:
            message = f"internal invariant violation: {message}"
            hint = "ids are content hashes; use unedited reports from duvet"
        self.problems.append(rule.problem(message, self.name, hint=hint))


def merge_report_files(paths: Sequence[str], tree: Tree) -> tuple[bytes, tuple[Problem, ...]]:
    """Read reports, and return the merged report in JSON and the warnings."""
    merged, warnings = merge_reports(json_v2.read_reports(paths, tree))
    return json_v2.encode_v2_report(merged), warnings


def merge_reports(inputs: NamedReports) -> tuple[json_v2.V2Report, tuple[Problem, ...]]:
    """Return the merged report and warnings; raise ProblemsError with all conflicts."""
    if not inputs:
        raise DuvetError("merge requires at least one input report")
    _raise(list(_find_shared_files(inputs)))
    merged = inputs[0][1]
    problems: list[Problem] = []
    for number, (name, report) in enumerate(inputs[1:], 1):
        reporter = _Reporter(number, name, problems)
        old, new = merged.annotations, report.annotations
        merged = json_v2.V2Report(
            tuple(sorted({*merged.issue_links, *report.issue_links})),
            _merge_sets(merged.repositories, report.repositories, reporter),
            json_v2.V2Sources(
                _merge_sets(merged.sources.inline, report.sources.inline, reporter),
                _merge_sets(merged.sources.linked, report.sources.linked, reporter),
                _merge_extensions("sources", merged.sources.extensions, report.sources.extensions, reporter),
            ),
            json_v2.V2Annotations(
                _merge_sets(old.specification, new.specification, reporter),
                _merge_sets(old.section, new.section, reporter),
                _merge_sets(old.requirement, new.requirement, reporter),
                _merge_sets(old.cite, new.cite, reporter),
                _merge_sets(old.not_applicable, new.not_applicable, reporter),
                _merge_extensions("annotations", old.extensions, new.extensions, reporter),
            ),
        )
    _raise([problem for problem in problems if problem.severity is Severity.ERROR])
    requirements = {
        id: replace(record, coverage={cite: tuple(sorted(set(all))) for cite, all in sorted(record.coverage.items())})
        for id, record in merged.annotations.requirement.items()
    }
    return replace(merged, annotations=replace(merged.annotations, requirement=requirements)), tuple(problems)


def _raise(problems: list[Problem]) -> None:
    if problems:
        raise ProblemsError(tuple(problems))


def _find_shared_files(inputs: NamedReports) -> Iterator[Problem]:
    """Yield a problem for each file name that several inputs use without a repository."""
    first: dict[str, int] = {}
    for number, (name, report) in enumerate(inputs):
        for id, source in sorted(report.sources.linked.items()):
            if source.repository is None and first.setdefault(id, number) != number:
                yield rules.MERGE_CONFLICT.problem(
                    f"linked source '{id}' (file '{source.file_name}') without a repository "
                    f"appears in inputs #{first[id]} and #{number}",
                    name,
                    hint="add a blob-link to disambiguate: `blob-link` in each [[source]], or --blob-link",
                )


def _merge_sets(earlier: dict[str, T], later: dict[str, T], reporter: _Reporter) -> dict[str, T]:
    kept = dict(earlier)
    for id, new in later.items():
        old = kept.setdefault(id, new)
        if old == new:
            continue
        for words, broken in find_conflicts(id, old, new):
            reporter.report(rules.MERGE_CONFLICT, words, broken=broken)
        if drifted := ", ".join(find_drift(old, new)):
            reporter.report(
                rules.MERGE_DRIFT,
                f"cite annotation '{id}' with metadata drift from previously seen ({drifted})",
                hint="the merged report keeps all tags and, of two different texts, the first in alphabetical order",
            )
        kept[id] = join_records(old, new)
    return kept


def _merge_extensions(
    bucket: str, earlier: dict[str, Raw], later: dict[str, Raw], reporter: _Reporter
) -> dict[str, Raw]:
    """Merge extensions; different values are a conflict, because only the tool that wrote them knows what they mean."""
    for key in sorted(earlier.keys() & later.keys()):
        if earlier[key] != later[key]:
            words = f"extension '{key}' under {bucket} conflicting with previously seen value"
            reporter.report(rules.MERGE_CONFLICT, words)
    return {**later, **earlier}
