"""The protocol of every index store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from duvet.store.records import (
    Artifact,
    Chunk,
    ChunkFilters,
    GraphEdge,
    GraphNode,
    IngestedFile,
    IngestRun,
    NodeLabel,
    Relation,
    VectorSegment,
)

ScoredChunks = Sequence[tuple[int, float]]
"""Numbers of pieces, each with its score, the best (and highest) first."""


class GraphHop(Protocol):
    """A node that was reached, and the edges that led to it, the first one first."""

    @property
    def node(self) -> GraphNode:
        """Where it ends."""

    @property
    def path(self) -> Sequence[GraphEdge]:
        """A shortest way there."""


class Store(Protocol):
    """What is known about a project, as it was after the last run; a StoreError where that can't be told."""

    # About the store itself

    @property
    def revision(self) -> str:
        """Another one after each run that has changed anything."""

    @property
    def is_current(self) -> bool:
        """Whether it goes on to tell what others write; one that can't has to be opened again."""

    def reading(self) -> AbstractContextManager[None]:
        """All that is asked inside is answered as of one moment, whatever is written meanwhile; a BusyError where it
        can't be. Inside of another one, and of a change, it is part of that."""

    def kept(self, name: str) -> bytes | None:
        """What was kept under that name."""

    def close(self) -> None:
        """Let go of it."""

    def copy_to(self, path: str) -> None:
        """Write all of it, as it is at one moment, to a new file, which can be put in the place of a store."""

    # Files and their pieces

    def artifacts(self) -> Mapping[str, Artifact]:
        """All files by their paths, in the order of these."""

    def chunk_total(self) -> int:
        """How many pieces there are."""

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        """These pieces with their texts, in the order that they are asked for; what is gone is left out."""

    def chunk_numbers(self, path: str) -> Sequence[int]:
        """The pieces of a file, in their order."""

    def lacks_times(self) -> bool:
        """Whether there are pieces of files that have no time."""

    def has_symbols(self) -> bool:
        """Whether any symbols were made out."""

    # Search

    def lexical(self, terms: Sequence[str], filters: ChunkFilters, limit: int, *, every: bool) -> ScoredChunks:
        """What holds every one of the words, or any of them, by BM25; each term is one word of letters and digits."""

    def declaring(self, name: str, filters: ChunkFilters) -> Sequence[int]:
        """The pieces that declare a symbol of that name, however the parts of it are joined."""

    def called(self, path: str, filters: ChunkFilters) -> Sequence[int]:
        """The first pieces of the files with that path, with the end of one that is given, or with that name, be it without
        its ending."""

    def allowed(self, filters: ChunkFilters) -> Sequence[int] | None:
        """The pieces that may be found, in ascending order; None is all."""

    def segments(self) -> Iterator[VectorSegment]:
        """All vectors."""

    # Graph

    def node(self, label: NodeLabel, key: str) -> GraphNode | None:
        """One node, in whatever case a subsystem is written."""

    def nodes(self, label: NodeLabel) -> Iterator[GraphNode]:
        """All of a kind, in the order of their keys."""

    def edges(
        self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()
    ) -> Sequence[tuple[GraphEdge, GraphNode]]:
        """The edges that begin, or end, at a node, each with the node at the other end, in a fixed order; of these kinds,
        where any are named."""

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, Sequence[tuple[GraphEdge, GraphNode]]]:
        """The edges of several nodes in both directions, without those to pieces."""

    def around(self, id: str, depth: int) -> Sequence[GraphHop]:
        """What is reached from a node in so many steps, whichever way the edges point, each once; pieces are left out."""

    def found_nodes(self, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
        """Nodes whose key or name holds the term, in whatever case, first those that are called just so; of each label so
        many at most, and no pieces."""

    def isolated(self, labels: Sequence[NodeLabel], relations: Sequence[Relation]) -> Iterator[GraphNode]:
        """The nodes of these kinds from which no edge of these kinds begins; pieces are left out."""

    # Runs and reports

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[IngestRun]:
        """The last ones, the newest first."""

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        """The last reports of that name, the newest first."""

    # Writing

    def writing(self, patience: float = 0.0) -> AbstractContextManager[StoreWriter]:
        """Change it, all or nothing; a BusyError where another does so for longer than that many seconds.

        This very store answers as if it were done already."""


class StoreWriter(Protocol):
    """A change that nobody else sees before it is done; whoever makes it is answered by the store as if it were."""

    def put(self, taken: IngestedFile) -> None:
        """A file, in the place of what was known of it; it has as many pieces as are given, whatever it says."""

    def touch(self, artifact: Artifact) -> None:
        """What is known of a file whose text is the same; its pieces stay. A StoreError where it was not taken in."""

    def remove(self, path: str) -> None:
        """Forget a file and all its pieces."""

    def replace_vectors(self, path: str, vectors: bytes) -> None:
        """Other vectors for the pieces of a file."""

    def replace_graph(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """The whole graph; an edge to a node that isn't there is left out, and of two between the same nodes, of the same
        relation, the last one counts. The same graph again changes nothing."""

    def put_run(self, run: IngestRun) -> None:
        """One more run."""

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        """One more report of that name, of which so many are kept."""

    def keep(self, name: str, data: bytes) -> None:
        """Something under a name."""
