"""Graph context of a search result: related files and requirements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from duvet.knowledge.graph import EdgeDirection, make_node_view, make_relationship
from duvet.knowledge.retrieval.query import CitedRequirement, GraphContext, RelatedArtifact
from duvet.store.protocol import Store
from duvet.store.records import Artifact, Chunk, GraphEdge, GraphNode, NodeLabel, Relation

MAX_RELATED = 10
"""So many relationships, related files and requirements are told."""
_SUPPORTING = (Relation.DESCRIBES, Relation.VALIDATES)
_OTHER = tuple(relation for relation in Relation if relation not in (Relation.CITES, Relation.HAS_CHUNK))
_EACH = MAX_RELATED // 2
"""So many documents of a subsystem are told, and so many tests."""
_MANY = 100
"""So many requirements of a file are looked at, to tell those first that the lines of a piece cite."""
_KEPT = 500
"""So many files are known by heart."""


class _Surroundings(Struct, frozen=True):
    """What hangs together with a subsystem."""

    artifacts: tuple[RelatedArtifact, ...] = ()
    subsystems: tuple[str, ...] = ()


class FileContext(Struct, frozen=True, kw_only=True):
    """All that is known of a file besides its text."""

    node: GraphNode | None
    out: Sequence[tuple[GraphEdge, GraphNode]]
    inward: Sequence[tuple[GraphEdge, GraphNode]]
    cited: Sequence[tuple[GraphEdge, GraphNode]]
    surroundings: Sequence[_Surroundings]

    @property
    def relationships(self) -> int:
        """How many there are, of the first ones of each kind."""
        return len(self.out) + len(self.inward) + len(self.cited)

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is told."""
        return len(self.out) + len(self.inward) > MAX_RELATED or len(self.cited) > MAX_RELATED

    @property
    def related(self) -> tuple[RelatedArtifact, ...]:
        """Documents and tests of the same subsystem."""
        own = self.node.id if self.node else ""
        found = [one for around in self.surroundings for one in around.artifacts if one.id != own]
        return tuple(dict.fromkeys(found))

    def told(self, chunk: Chunk) -> GraphContext:
        """The part that is told of a piece of it."""
        ways = [*_ways(self.out, EdgeDirection.OUT), *_ways(self.inward, EdgeDirection.IN)]
        direct = [node.key for _, node in (*self.out, *self.inward) if node.label is NodeLabel.SUBSYSTEM]
        around = [name for one in self.surroundings for name in one.subsystems]
        return GraphContext(
            primary_node=make_node_view(self.node) if self.node else None,
            relationships=tuple(ways[:MAX_RELATED]),
            neighbor_subsystems=tuple(sorted({*direct, *around})),
            related_artifacts=self.related[:MAX_RELATED],
            requirements=tuple(_cited(*one) for one in self._nearest(chunk)[:MAX_RELATED]),
        )

    def _nearest(self, chunk: Chunk) -> list[tuple[GraphEdge, GraphNode]]:
        """The requirements that the lines of the piece cite come first."""
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST return 10 results by default and at most 25, each with the requirements that its file
        ##% cites, under a unique `request_id`.
        inside = range(chunk.piece.line_start, chunk.piece.line_end + 1)
        return sorted(self.cited, key=lambda one: not any(line in inside for line in _lines(one[0])))


class FileContextFinder:
    """Those of a store as it is after one run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._subsystems: dict[str, _Surroundings] = {}
        self._files: dict[str, FileContext] = {}

    def of(self, artifact: Artifact) -> FileContext:
        if artifact.path not in self._files:
            if len(self._files) >= _KEPT:
                self._files.clear()
            self._files[artifact.path] = self._found(artifact)
        return self._files[artifact.path]

    def _found(self, artifact: Artifact) -> FileContext:
        store, id = self._store, f"{artifact.label}:{artifact.path}"
        out = store.edges(id, out=True, limit=MAX_RELATED + 1, relations=_OTHER)
        inward = store.edges(id, out=False, limit=MAX_RELATED + 1, relations=_OTHER)
        owners = dict.fromkeys(node.id for edge, node in out if node.label is NodeLabel.SUBSYSTEM)
        return FileContext(
            node=store.node(artifact.label, artifact.path),
            out=out,
            inward=inward,
            cited=store.edges(id, out=True, limit=_MANY, relations=(Relation.CITES,)),
            surroundings=[self._around(owner) for owner in owners],
        )

    def _around(self, id: str) -> _Surroundings:
        """Many files are of one subsystem."""
        if id not in self._subsystems:
            self._subsystems[id] = self._looked_up(id)
        return self._subsystems[id]

    def _looked_up(self, id: str) -> _Surroundings:
        artifacts = [
            RelatedArtifact(node.id, relation)
            for relation in _SUPPORTING
            for _, node in self._store.edges(id, out=False, limit=_EACH + 1, relations=(relation,))
        ]
        needed = self._store.edges(id, out=True, limit=MAX_RELATED, relations=(Relation.DEPENDS_ON,))
        return _Surroundings(tuple(artifacts), tuple(node.key for _, node in needed))


def _ways(ends: Iterable[tuple[GraphEdge, GraphNode]], direction: EdgeDirection) -> list[Any]:
    return [make_relationship(edge, node, direction) for edge, node in ends]


def _lines(edge: GraphEdge) -> Sequence[int]:
    lines: Sequence[int] = edge.properties.get("lines") or ()
    return lines


def _cited(edge: GraphEdge, node: GraphNode) -> CitedRequirement:
    known = node.properties
    return CitedRequirement(
        id=node.key.rpartition("/")[2],
        target=str(known.get("target", "")),
        level=str(known.get("level", "")),
        status=str(known.get("status", "")),
        kinds=tuple(edge.properties.get("kinds") or ()),
        text=str(known.get("text", node.name)),
    )
