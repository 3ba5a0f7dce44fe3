"""Facts about indexed files that reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from duvet.config.settings import IngestRule
from duvet.store.protocol import Store
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
