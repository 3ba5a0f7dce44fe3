"""The lifecycle report: stale, isolated, untested and removed files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET, Struct, UnsetType

from duvet.knowledge.reports.facts import (
    KnowledgeAnswer,
    PastReport,
    ProjectFacts,
    RemovedArtifact,
    RequirementFiles,
    RunReference,
    format_iso_time,
    list_removed_artifacts,
    make_run_reference,
)
from duvet.store.records import NodeLabel

_DAY_SECONDS = 86_400
_PACKAGE = "__init__.py"
"""Most say nothing but what their folder is."""


class Thresholds(Struct, frozen=True):
    """From when on something is old."""

    stale_days: int


class IsolatedNode(Struct, frozen=True):
    """A file that leads to nothing else."""

    id: str
    path: str
    name: str


class StaleDoc(Struct, frozen=True):
    """A document that nobody has changed for long."""

    path: str
    subsystem: str
    git_timestamp: float


class UntestedSubsystem(Struct, frozen=True):
    """A subsystem with code and without tests."""

    subsystem: str
    source_files: int
    test_cases: int


class CitingFile(Struct, frozen=True):
    """A file that cites a requirement."""

    path: str
    git_timestamp: float


class StaleRequirement(Struct, frozen=True, kw_only=True):
    """A requirement none of whose citing files was changed for long."""

    id: str
    full_path: str
    level: str
    status: str
    text: str
    files: tuple[CitingFile, ...]


class LifecycleSummary(Struct, frozen=True, kw_only=True):
    """How many of each there are."""

    stale_docs: int
    isolated_nodes: int
    subsystems_missing_tests: int
    removed_artifacts: int
    stale_requirements: int


class PastLifecycle(PastReport, frozen=True, kw_only=True):
    """What an earlier report has come to."""

    summary: LifecycleSummary


class LifecycleReport(KnowledgeAnswer, frozen=True, kw_only=True):
    """The whole report."""

    generated_at: float
    generated_at_iso: str
    run: RunReference
    thresholds: Thresholds
    summary: LifecycleSummary
    isolated: dict[str, tuple[IsolatedNode, ...]]
    """By their labels."""
    stale_docs: tuple[StaleDoc, ...]
    missing_tests: tuple[UntestedSubsystem, ...]
    removed_artifacts: tuple[RemovedArtifact, ...]
    stale_requirements: tuple[StaleRequirement, ...]
    history: tuple[PastLifecycle, ...] | UnsetType = UNSET


def make_lifecycle_report(facts: ProjectFacts, now: float) -> LifecycleReport:
    """What these facts come to at that time."""
    before = now - facts.rule.stale_days * _DAY_SECONDS
    docs, untested, removed = tuple(_stale_docs(facts, before)), tuple(_untested(facts)), list_removed_artifacts(facts)
    requirements = tuple(found for one in facts.cited if (found := _stale(one, facts, before)))
    return LifecycleReport(
        generated_at=now,
        generated_at_iso=format_iso_time(now),
        run=make_run_reference(facts.run),
        thresholds=Thresholds(facts.rule.stale_days),
        summary=LifecycleSummary(
            stale_docs=len(docs),
            isolated_nodes=len(facts.isolated),
            subsystems_missing_tests=len(untested),
            removed_artifacts=len(removed),
            stale_requirements=len(requirements),
        ),
        isolated=_isolated(facts),
        stale_docs=docs,
        missing_tests=untested,
        removed_artifacts=removed,
        stale_requirements=requirements,
    )


def _isolated(facts: ProjectFacts) -> dict[str, tuple[IsolatedNode, ...]]:
    ##= man/spec/knowledge.md#reports
    ##% `km-lifecycle-report` MUST list documents, code and tests without connections, and subsystems with code but no
    ##% tests.
    found: dict[str, list[IsolatedNode]] = {}
    for node in facts.isolated:
        found.setdefault(node.label.value, []).append(IsolatedNode(node.id, node.key, node.name or node.key))
    return {label: tuple(rows) for label, rows in found.items()}


def _stale_docs(facts: ProjectFacts, before: float) -> Iterator[StaleDoc]:
    ##= man/spec/knowledge.md#reports
    ##% `km-lifecycle-report` MUST list documents older than `ingest.staleDays`, 30 by default, and requirements whose
    ##% citing files are all older.
    docs = [
        StaleDoc(one.path, one.subsystem, one.git_timestamp)
        for one in facts.artifacts.values()
        if one.label is NodeLabel.DESIGN_DOC and one.git_timestamp is not None and one.git_timestamp < before
    ]
    return iter(sorted(docs, key=lambda doc: (doc.git_timestamp, doc.path)))


def _untested(facts: ProjectFacts) -> Iterator[UntestedSubsystem]:
    code, tests, names = Counter[str](), Counter[str](), dict[str, str]()
    for one in facts.artifacts.values():
        if one.chunk_count < (2 if one.path.rpartition("/")[2] == _PACKAGE else 1):
            continue
        name = one.subsystem.casefold()
        names.setdefault(name, one.subsystem)
        code[name] += one.label is NodeLabel.SOURCE_FILE
        tests[name] += one.label is NodeLabel.TEST_CASE
    for name in sorted(names):
        if name and code[name] and not tests[name]:
            yield UntestedSubsystem(names[name], code[name], 0)


def _stale(one: RequirementFiles, facts: ProjectFacts, before: float) -> StaleRequirement | None:
    times = [(path, facts.artifacts[path].git_timestamp) for path in one.files if path in facts.artifacts]
    files = tuple(CitingFile(path, time) for path, time in times if time is not None and time < before)
    if not files or len(files) < len(one.files):
        return None
    node, said = one.requirement, one.requirement.properties
    return StaleRequirement(
        id=node.id,
        full_path=str(said.get("full_path", node.key)),
        level=str(said.get("level", "")),
        status=str(said.get("status", "")),
        text=str(said.get("text", node.name)),
        files=files,
    )
