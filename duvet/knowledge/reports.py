"""Reports on the index: coverage, lifecycle, and their history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, json

from duvet.config.settings import IngestRule
from duvet.store.protocol import Store, StoreWriter
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, IngestRun, NodeLabel, Relation

_LOOKED_AT = (NodeLabel.DESIGN_DOC, NodeLabel.SOURCE_FILE, NodeLabel.TEST_CASE)
"""What is expected to be connected with anything."""
_CONNECTING = tuple(relation for relation in Relation if relation is not Relation.HAS_CHUNK)
_TOGETHER = 500
"""Nodes whose edges are asked for at once."""
_RUNS = 100
"""Runs that are looked at for one that has succeeded."""


class RequirementFiles(Struct, frozen=True):
    """A requirement, and the files that cite it."""

    requirement: GraphNode
    files: tuple[str, ...]


class ProjectFacts(Struct, frozen=True, kw_only=True):
    """What is known of a project, as far as reports tell of it."""

    run: IngestRun | None
    """The last one that has succeeded: what is known comes from it."""
    artifacts: Mapping[str, Artifact]
    isolated: Sequence[GraphNode] = ()
    """Files with pieces that nothing is connected with."""
    cited: Sequence[RequirementFiles] = ()
    rule: IngestRule = IngestRule()


def gather_facts(
    run: IngestRun,
    artifacts: Mapping[str, Artifact],
    nodes: Iterable[GraphNode],
    edges: Iterable[GraphEdge],
    rule: IngestRule,
) -> ProjectFacts:
    """The same from what is about to be stored."""
    known = {node.id: node for node in nodes}
    connected, citing = set[str](), dict[str, set[str]]()
    for edge in edges:
        if edge.source in known and edge.target in known:
            if edge.relation in _CONNECTING:
                connected |= {edge.source, edge.target}
            if edge.relation is Relation.CITES:
                citing.setdefault(edge.target, set()).add(known[edge.source].key)
    return ProjectFacts(
        run=run,
        artifacts=artifacts,
        isolated=_in_order(
            artifacts, (node for node in known.values() if node.label in _LOOKED_AT and node.id not in connected)
        ),
        cited=_cited((known[id], files) for id, files in citing.items()),
        rule=rule,
    )


def load_facts(store: Store, rule: IngestRule, *, graph: bool = True) -> ProjectFacts:
    """What is stored; without the graph where nobody wants to know about that."""
    artifacts = store.artifacts()
    return ProjectFacts(
        run=next((run for run in store.runs(limit=_RUNS) if run.success), None),
        artifacts=artifacts,
        isolated=_in_order(artifacts, _isolated(store)) if graph else (),
        cited=_cited(_citing(store)) if graph else (),
        rule=rule,
    )


def _isolated(store: Store) -> Iterator[GraphNode]:
    # Most nodes lead to others: only those that don't are looked at from the other side.
    alone = list(store.isolated(_LOOKED_AT, _CONNECTING))
    return (node for node, edges in _with_edges(store, alone) if not edges)


def _citing(store: Store) -> Iterator[tuple[GraphNode, set[str]]]:
    for node, edges in _with_edges(store, list(store.nodes(NodeLabel.REQUIREMENT))):
        files = {other.key for edge, other in edges if edge.relation is Relation.CITES and edge.target == node.id}
        if files:
            yield node, files


def _with_edges(
    store: Store, nodes: Sequence[GraphNode]
) -> Iterator[tuple[GraphNode, Sequence[tuple[GraphEdge, GraphNode]]]]:
    for start in range(0, len(nodes), _TOGETHER):
        some = nodes[start : start + _TOGETHER]
        around = store.neighbours([node.id for node in some])
        yield from ((node, around.get(node.id, ())) for node in some)


def _cited(citing: Iterable[tuple[GraphNode, set[str]]]) -> tuple[RequirementFiles, ...]:
    ordered = sorted(citing, key=lambda one: one[0].key)
    return tuple(RequirementFiles(node, tuple(sorted(files))) for node, files in ordered)


def _in_order(artifacts: Mapping[str, Artifact], nodes: Iterable[GraphNode]) -> tuple[GraphNode, ...]:
    # Of what is in the others nothing is known, and so nothing of what they have to do with anything.
    searched = (node for node in nodes if node.key in artifacts and artifacts[node.key].chunk_count)
    return tuple(sorted(searched, key=lambda node: (node.label, node.key)))


class KnowledgeAnswer(Struct, frozen=True, kw_only=True):
    """An answer about what is known."""

    ##= man/spec/knowledge.md#answers
    ##% Every answer of these tools MUST have a `status`, which is `ok` unless the tool says otherwise.
    status: str = "ok"


class RunReference(Struct, frozen=True):
    """The run that a report tells of."""

    run_id: str
    profile: str
    repo_head: str


class RemovedArtifact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that the last run has not found any more."""

    path: str
    artifact_type: FileKind
    subsystem: str
    digest: str
    status: str
    renamed_to: str = ""


class PastReport(Struct, frozen=True, kw_only=True):
    """What an earlier report was about."""

    generated_at: float
    generated_at_iso: str
    run: RunReference


def make_run_reference(run: IngestRun | None) -> RunReference:
    return RunReference(run.run_id, run.profile, run.repo_head) if run else RunReference("", "", "")


def list_removed_artifacts(facts: ProjectFacts) -> tuple[RemovedArtifact, ...]:
    return tuple(
        RemovedArtifact(
            path=one.path,
            artifact_type=one.kind,
            subsystem=one.subsystem,
            digest=one.digest,
            status=one.status,
            renamed_to=one.renamed_to,
        )
        for one in (facts.run.removed if facts.run else ())
    )


def format_iso_time(seconds: float) -> str:
    """A time as people read it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


class ArtifactRow(Struct, frozen=True, kw_only=True):
    """A file."""

    path: str
    artifact_type: FileKind
    subsystem: str
    subsystem_criticality: str
    chunk_count: int
    coverage_ratio: float
    git_commit: str
    git_timestamp: float | None
    content_digest: str
    skipped: str


class Freshness(Struct, frozen=True, kw_only=True):
    """How old what is known is."""

    ingested_at: float | None
    """When the run began."""
    newest_change: float | None
    oldest_change: float | None
    without_timestamp: int


class CoverageSummary(Struct, frozen=True, kw_only=True):
    """How much there is."""

    artifact_total: int
    artifact_breakdown: dict[str, int]
    chunk_count: int
    missing_artifacts: int
    removed_artifacts: int
    freshness: Freshness


class PastCoverage(PastReport, frozen=True, kw_only=True):
    """What an earlier report has come to."""

    summary: CoverageSummary


class CoverageReport(KnowledgeAnswer, frozen=True, kw_only=True):
    """The whole report."""

    generated_at: float
    generated_at_iso: str
    run: RunReference
    include_patterns: tuple[str, ...]
    summary: CoverageSummary
    artifacts: tuple[ArtifactRow, ...]
    missing_artifacts: tuple[ArtifactRow, ...]
    """Those without a piece that could be found."""
    removed_artifacts: tuple[RemovedArtifact, ...]
    history: tuple[PastCoverage, ...] | UnsetType = UNSET


def make_coverage_report(facts: ProjectFacts, now: float) -> CoverageReport:
    """What these facts come to at that time."""
    ##= man/spec/knowledge.md#reports
    ##% `km-coverage-summary` MUST list every indexed file with the reason why it has no chunks, and its totals MUST
    ##% match its lists.
    rows = tuple(_row(facts.artifacts[path]) for path in sorted(facts.artifacts))
    missing = tuple(row for row in rows if not row.chunk_count)
    removed = list_removed_artifacts(facts)
    return CoverageReport(
        generated_at=now,
        generated_at_iso=format_iso_time(now),
        run=make_run_reference(facts.run),
        include_patterns=facts.rule.include,
        summary=CoverageSummary(
            artifact_total=len(rows),
            artifact_breakdown=dict(sorted(Counter(row.artifact_type.value for row in rows).items())),
            chunk_count=sum(row.chunk_count for row in rows),
            missing_artifacts=len(missing),
            removed_artifacts=len(removed),
            freshness=_freshness(facts, rows),
        ),
        artifacts=rows,
        missing_artifacts=missing,
        removed_artifacts=removed,
    )


def _row(one: Artifact) -> ArtifactRow:
    return ArtifactRow(
        path=one.path,
        artifact_type=one.kind,
        subsystem=one.subsystem,
        subsystem_criticality=one.criticality,
        chunk_count=one.chunk_count,
        coverage_ratio=one.coverage_ratio,
        git_commit=one.git_commit,
        git_timestamp=one.git_timestamp,
        content_digest=one.digest,
        skipped=one.skipped,
    )


def _freshness(facts: ProjectFacts, rows: tuple[ArtifactRow, ...]) -> Freshness:
    times = [row.git_timestamp for row in rows if row.git_timestamp is not None]
    return Freshness(
        ingested_at=facts.run.started_at if facts.run else None,
        newest_change=max(times, default=None),
        oldest_change=min(times, default=None),
        without_timestamp=len(rows) - len(times),
    )


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
        isolated=_lifecycle_isolated(facts),
        stale_docs=docs,
        missing_tests=untested,
        removed_artifacts=removed,
        stale_requirements=requirements,
    )


def _lifecycle_isolated(facts: ProjectFacts) -> dict[str, tuple[IsolatedNode, ...]]:
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


COVERAGE_NAME, LIFECYCLE_NAME = "coverage", "lifecycle"
_KEPT = {COVERAGE_NAME: 5, LIFECYCLE_NAME: 10}
"""How many reports there are of each kind."""


PastReportType = TypeVar("PastReportType", PastCoverage, PastLifecycle)


def save_reports(writing: StoreWriter, facts: ProjectFacts, now: float) -> None:
    """Keep what the reports come to at the end of a run."""
    ##= man/spec/knowledge.md#reports
    ##% Each run MUST record the results of these reports: the last 5 of coverage and the last 10 of the lifecycle.
    covered, living = make_coverage_report(facts, now), make_lifecycle_report(facts, now)
    kept: dict[str, PastReport] = {
        COVERAGE_NAME: PastCoverage(
            generated_at=now, generated_at_iso=covered.generated_at_iso, run=covered.run, summary=covered.summary
        ),
        LIFECYCLE_NAME: PastLifecycle(
            generated_at=now, generated_at_iso=living.generated_at_iso, run=living.run, summary=living.summary
        ),
    }
    for name, then in kept.items():
        writing.put_report(name, then.run.run_id, json.encode(then), keep=_KEPT[name])


def read_report_history(store: Store, name: str, kind: type[PastReportType], limit: int) -> Sequence[PastReportType]:
    """The last ones, the newest first; what another version has kept in another shape is left out."""
    found = (_decoded(data, kind) for data in (store.reports(name, limit) if limit else ()))
    return [one for one in found if one is not None]


def _decoded(data: bytes, kind: type[PastReportType]) -> PastReportType | None:
    try:
        return json.decode(data, type=kind)
    except (DecodeError, ValidationError):
        return None


class RunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run, without the files that it has not found any more."""

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


def make_run_row(run: IngestRun) -> RunRow:
    return RunRow(
        run_id=run.run_id,
        profile=run.profile,
        started_at=run.started_at,
        duration_seconds=run.duration_seconds,
        success=run.success,
        artifact_counts=run.artifact_counts,
        chunk_count=run.chunk_count,
        changed=run.changed,
        removed=len(run.removed),
        repo_head=run.repo_head,
        error=run.error,
    )
