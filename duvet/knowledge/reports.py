"""Reports on the index: coverage, lifecycle, and their history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, DecodeError, Struct, UnsetType, convert, json

from duvet.config.service_tables import IngestRule
from duvet.store import records

if TYPE_CHECKING:
    from duvet.store.sqlite import Store, StoreWriter

COVERAGE_NAME, LIFECYCLE_NAME = "coverage", "lifecycle"
_KEPT_REPORTS = {COVERAGE_NAME: 5, LIFECYCLE_NAME: 10}
_CONNECTED_LABELS = (records.NodeLabel.DESIGN_DOC, records.NodeLabel.SOURCE_FILE, records.NodeLabel.TEST_CASE)
"""Kinds of files that should have connections."""
_CONNECTING = tuple(relation for relation in records.Relation if relation is not records.Relation.HAS_CHUNK)
_BATCH = 500  # Number of nodes for which edges are read together.
_MAX_RUNS = 100  # Number of runs to search for the last successful one.
_DAY_SECONDS = 86_400


class ProjectFacts(Struct, frozen=True, kw_only=True):
    run: records.IngestRun | None  # The last successful run.
    artifacts: Mapping[str, records.Artifact]
    isolated: Sequence[records.GraphNode] = ()  # Searchable files without connections.
    cited: Sequence[tuple[records.GraphNode, Sequence[str]]] = ()  # Requirements with the files that cite them.
    rule: IngestRule = IngestRule()


def load_facts(store: Store, rule: IngestRule, *, graph: bool = True) -> ProjectFacts:
    artifacts = store.artifacts()
    isolated: list[records.GraphNode] = []
    cited: list[tuple[records.GraphNode, Sequence[str]]] = []
    if graph:
        # Few nodes have no outgoing edges, so incoming edges are read only for those.
        alone = list(store.find_isolated(_CONNECTED_LABELS, _CONNECTING))
        # The connections of a file without chunks are unknown, because its text was not read.
        alone = [node for node in alone if node.key in artifacts and artifacts[node.key].chunk_count]
        isolated = [node for node, edges in _load_edges(store, alone) if not edges]
        for node, edges in _load_edges(store, list(store.nodes(records.NodeLabel.REQUIREMENT))):
            incoming = (end for end in edges if end[0].target == node.id)
            files = {other.key for edge, other in incoming if edge.relation is records.Relation.CITES}
            if files:
                cited.append((node, sorted(files)))
    return ProjectFacts(
        run=next((run for run in store.runs(limit=_MAX_RUNS) if run.success), None),
        artifacts=artifacts,
        isolated=sorted(isolated, key=lambda node: (node.label, node.key)),
        cited=sorted(cited, key=lambda found: found[0].key),
        rule=rule,
    )


def _load_edges(
    store: Store, nodes: Sequence[records.GraphNode]
) -> Iterator[tuple[records.GraphNode, Sequence[tuple[records.GraphEdge, records.GraphNode]]]]:
    for start in range(0, len(nodes), _BATCH):
        some = nodes[start : start + _BATCH]
        around = store.neighbours([node.id for node in some])
        yield from ((node, around.get(node.id, ())) for node in some)


class RunReference(Struct, frozen=True):
    run_id: str
    profile: str
    repo_head: str


class RemovedArtifact(Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"kind": "artifact_type"}):
    path: str
    kind: records.FileKind
    subsystem: str
    digest: str
    status: str
    renamed_to: str = ""


class PastReport(Struct, frozen=True, kw_only=True):
    generated_at: float
    generated_at_iso: str
    run: RunReference


def _make_common_fields(facts: ProjectFacts, now: float) -> dict[str, Any]:
    run = facts.run
    return {
        "generated_at": now,
        "generated_at_iso": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        "run": convert(run, RunReference, from_attributes=True) if run else RunReference("", "", ""),
        "removed_artifacts": convert(run.removed if run else (), tuple[RemovedArtifact, ...], from_attributes=True),
    }


class ArtifactRow(
    Struct,
    frozen=True,
    kw_only=True,
    rename={"kind": "artifact_type", "criticality": "subsystem_criticality", "digest": "content_digest"},
):
    path: str
    kind: records.FileKind
    subsystem: str
    criticality: str
    chunk_count: int
    coverage_ratio: float
    git_commit: str
    git_timestamp: float | None
    digest: str
    skipped: str


class Freshness(Struct, frozen=True, kw_only=True):
    ingested_at: float | None  # The start of the run.
    newest_change: float | None
    oldest_change: float | None
    without_timestamp: int


class CoverageSummary(Struct, frozen=True, kw_only=True):
    artifact_total: int
    artifact_breakdown: dict[str, int]
    chunk_count: int
    missing_artifacts: int
    removed_artifacts: int
    freshness: Freshness


class PastCoverage(PastReport, frozen=True, kw_only=True):
    summary: CoverageSummary


class CoverageReport(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    generated_at: float
    generated_at_iso: str
    run: RunReference
    include_patterns: tuple[str, ...]
    summary: CoverageSummary
    artifacts: tuple[ArtifactRow, ...]
    missing_artifacts: tuple[ArtifactRow, ...]  # Files without chunks.
    removed_artifacts: tuple[RemovedArtifact, ...]
    history: tuple[PastCoverage, ...] | UnsetType = UNSET


def make_coverage_report(facts: ProjectFacts, now: float) -> CoverageReport:
    ##= man/spec/knowledge.md#reports
    ##% `km-coverage-summary` MUST list every indexed file, and give the reason if a file has no chunks.
    artifacts = tuple(artifact for _, artifact in sorted(facts.artifacts.items()))
    rows = convert(artifacts, tuple[ArtifactRow, ...], from_attributes=True)
    times = [row.git_timestamp for row in rows if row.git_timestamp is not None]
    missing = tuple(row for row in rows if not row.chunk_count)
    common = _make_common_fields(facts, now)
    return CoverageReport(
        **common,
        include_patterns=facts.rule.include,
        summary=CoverageSummary(
            artifact_total=len(rows),
            artifact_breakdown=dict(sorted(Counter(row.kind.value for row in rows).items())),
            chunk_count=sum(row.chunk_count for row in rows),
            missing_artifacts=len(missing),
            removed_artifacts=len(common["removed_artifacts"]),
            freshness=Freshness(
                ingested_at=facts.run.started_at if facts.run else None,
                newest_change=max(times, default=None),
                oldest_change=min(times, default=None),
                without_timestamp=len(rows) - len(times),
            ),
        ),
        artifacts=rows,
        missing_artifacts=missing,
    )


class Thresholds(Struct, frozen=True):
    stale_days: int


class IsolatedNode(Struct, frozen=True):
    id: str
    path: str
    name: str


class StaleDoc(Struct, frozen=True):
    path: str
    subsystem: str
    git_timestamp: float


class UntestedSubsystem(Struct, frozen=True):
    subsystem: str
    source_files: int
    test_cases: int


class CitingFile(Struct, frozen=True):
    path: str
    git_timestamp: float


class StaleRequirement(Struct, frozen=True, kw_only=True):
    id: str
    full_path: str
    level: str
    status: str
    text: str
    files: tuple[CitingFile, ...]


class LifecycleSummary(Struct, frozen=True, kw_only=True):
    stale_docs: int
    isolated_nodes: int
    subsystems_missing_tests: int
    removed_artifacts: int
    stale_requirements: int


class PastLifecycle(PastReport, frozen=True, kw_only=True):
    summary: LifecycleSummary


class LifecycleReport(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    generated_at: float
    generated_at_iso: str
    run: RunReference
    thresholds: Thresholds
    summary: LifecycleSummary
    isolated: dict[str, tuple[IsolatedNode, ...]]  # By label.
    stale_docs: tuple[StaleDoc, ...]
    missing_tests: tuple[UntestedSubsystem, ...]
    removed_artifacts: tuple[RemovedArtifact, ...]
    stale_requirements: tuple[StaleRequirement, ...]
    history: tuple[PastLifecycle, ...] | UnsetType = UNSET


def make_lifecycle_report(facts: ProjectFacts, now: float) -> LifecycleReport:
    before = now - facts.rule.stale_days * _DAY_SECONDS
    ##= man/spec/knowledge.md#reports
    ##% `km-lifecycle-report` MUST list stale documents, requirements that only stale files cite, files without links,
    ##% and subsystems without tests.
    old = (
        StaleDoc(one.path, one.subsystem, one.git_timestamp)
        for one in facts.artifacts.values()
        if one.label is records.NodeLabel.DESIGN_DOC and one.git_timestamp is not None and one.git_timestamp < before
    )
    docs = tuple(sorted(old, key=lambda doc: (doc.git_timestamp, doc.path)))
    untested, common = tuple(_find_untested(facts)), _make_common_fields(facts, now)
    requirements: list[StaleRequirement] = []
    for node, paths in facts.cited:
        times = [(path, facts.artifacts[path].git_timestamp) for path in paths if path in facts.artifacts]
        files = tuple(CitingFile(path, time) for path, time in times if time is not None and time < before)
        if files and len(files) == len(paths):
            requirement = StaleRequirement(
                id=node.id,
                full_path=str(node.properties.get("full_path", node.key)),
                level=str(node.properties.get("level", "")),
                status=str(node.properties.get("status", "")),
                text=str(node.properties.get("text", node.name)),
                files=files,
            )
            requirements.append(requirement)
    isolated: dict[str, list[IsolatedNode]] = {}
    for node in facts.isolated:
        isolated.setdefault(node.label.value, []).append(IsolatedNode(node.id, node.key, node.name or node.key))
    return LifecycleReport(
        **common,
        thresholds=Thresholds(facts.rule.stale_days),
        summary=LifecycleSummary(
            stale_docs=len(docs),
            isolated_nodes=len(facts.isolated),
            subsystems_missing_tests=len(untested),
            removed_artifacts=len(common["removed_artifacts"]),
            stale_requirements=len(requirements),
        ),
        isolated={label: tuple(rows) for label, rows in isolated.items()},
        stale_docs=docs,
        missing_tests=untested,
        stale_requirements=tuple(requirements),
    )


def _find_untested(facts: ProjectFacts) -> Iterator[UntestedSubsystem]:
    code, tests, names = Counter[str](), Counter[str](), dict[str, str]()
    for artifact in facts.artifacts.values():
        # A short `__init__.py` only turns its folder into a package.
        if artifact.chunk_count < (2 if artifact.path.rpartition("/")[2] == "__init__.py" else 1):
            continue
        name = artifact.subsystem.casefold()
        names.setdefault(name, artifact.subsystem)
        code[name] += artifact.label is records.NodeLabel.SOURCE_FILE
        tests[name] += artifact.label is records.NodeLabel.TEST_CASE
    for name in sorted(names):
        if name and code[name] and not tests[name]:
            yield UntestedSubsystem(names[name], code[name], 0)


PastReportType = TypeVar("PastReportType", PastCoverage, PastLifecycle)


def save_reports(writing: StoreWriter, facts: ProjectFacts, now: float) -> None:
    past: dict[str, PastReport] = {
        COVERAGE_NAME: convert(make_coverage_report(facts, now), PastCoverage, from_attributes=True),
        LIFECYCLE_NAME: convert(make_lifecycle_report(facts, now), PastLifecycle, from_attributes=True),
    }
    for name, report in past.items():
        writing.put_report(name, report.run.run_id, json.encode(report), keep=_KEPT_REPORTS[name])


def read_report_history(store: Store, name: str, kind: type[PastReportType], limit: int) -> Sequence[PastReportType]:
    found = []
    for data in store.reports(name, limit) if limit else ():
        with suppress(DecodeError):
            found.append(json.decode(data, type=kind))
    return found


class RunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    run_id: str
    profile: str
    started_at: float
    duration_seconds: float
    success: bool
    artifact_counts: dict[str, int]
    chunk_count: int
    changed: int
    removed: int
    repo_head: str = ""
    error: str = ""


def make_run_row(run: records.IngestRun) -> RunRow:
    row = {name: getattr(run, name) for name in RunRow.__struct_fields__}
    return RunRow(**{**row, "removed": len(run.removed)})
