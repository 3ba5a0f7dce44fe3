"""The protocol of an index store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from duvet.store.records import (
    Artifact,
    Chunk,
    ChunkFilters,
    GraphEdge,
    GraphHop,
    GraphNode,
    IngestedFile,
    IngestRun,
    NodeLabel,
    Relation,
    VectorSegment,
)

ScoredChunks = Sequence[tuple[int, float]]
"""Numbers of chunks with their scores, best first; a higher score is better."""
EdgeEnds = Sequence[tuple[GraphEdge, GraphNode]]
"""Edges, each with the node at its other end."""


class Store(Protocol):
    """The index of a project after the last completed run; every method can raise a StoreError."""

    @property
    def revision(self) -> str:
        """A token that differs after each run that has changed anything."""

    @property
    def is_current(self) -> bool:
        """False when the store can't follow what others write and has to be opened again."""

    def reading(self) -> AbstractContextManager[None]:
        """Answer everything inside as of one moment, or raise a StoreBusyError; nests, and does nothing in a change."""

    def kept(self, name: str) -> bytes | None:
        """Return what StoreWriter.keep has stored."""

    def close(self) -> None: ...

    def copy_to(self, path: str) -> None:
        """Write the whole store, as of one moment, to a new file."""

    # Files and their chunks

    def artifacts(self) -> Mapping[str, Artifact]:
        """Return all files by path, sorted by path."""

    def chunk_total(self) -> int: ...

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        """Return these chunks with their texts, in this order, without those that are gone."""

    def chunk_numbers(self, path: str) -> Sequence[int]:
        """Return the chunks of a file, in their order."""

    def lacks_times(self) -> bool:
        """Return True if any file with chunks has no time."""

    def has_symbols(self) -> bool: ...

    # Search

    def lexical(self, terms: Sequence[str], filters: ChunkFilters, limit: int, *, every: bool) -> ScoredChunks:
        """Find chunks with every or with any term by BM25; a term is one word of letters and digits."""

    def declaring(self, name: str, filters: ChunkFilters) -> Sequence[int]:
        """Return the chunks that declare a symbol, however the parts of the name are joined."""

    def called(self, path: str, filters: ChunkFilters) -> Sequence[int]:
        """Return the first chunks of the files with this path, end of a path, or name, with or without the ending."""

    def allowed(self, filters: ChunkFilters) -> Sequence[int] | None:
        """Return the chunks that pass the filters, ascending; None is all."""

    def segments(self) -> Iterator[VectorSegment]:
        """Return all vectors."""

    # Graph

    def node(self, label: NodeLabel, key: str) -> GraphNode | None:
        """Return a node; the case of a subsystem's name doesn't matter."""

    def nodes(self, label: NodeLabel) -> Iterator[GraphNode]:
        """Return all nodes of a kind, sorted by key."""

    def edges(self, id: str, *, out: bool, limit: int, relations: Sequence[Relation] = ()) -> EdgeEnds:
        """Return the edges that begin or end at a node, in a fixed order; without relations, all kinds."""

    def neighbours(self, ids: Sequence[str]) -> Mapping[str, EdgeEnds]:
        """Return the edges of several nodes in both directions, without those to chunks."""

    def around(self, id: str, depth: int) -> Sequence[GraphHop]:
        """Return each node within so many steps once, along edges in both directions, without chunks."""

    def found_nodes(self, term: str, labels: Sequence[NodeLabel], limit: int) -> Sequence[GraphNode]:
        """Find nodes by a part of their key or name in any case, exact matches first; the limit is per label."""

    def isolated(self, labels: Sequence[NodeLabel], relations: Sequence[Relation]) -> Iterator[GraphNode]:
        """Return the nodes, except chunks, from which no edge of these kinds begins."""

    # Runs and reports

    def runs(self, profile: str | None = None, limit: int = 20) -> Sequence[IngestRun]:
        """Return the last runs, newest first."""

    def reports(self, name: str, limit: int = 1) -> Sequence[bytes]:
        """Return the last reports of this name, newest first."""

    def writing(self, patience: float = 0.0) -> AbstractContextManager[StoreWriter]:
        """Change the store completely or not at all; a StoreBusyError after waiting `patience` seconds for another writer.

        Until then only this store object answers as if it were done."""


class StoreWriter(Protocol):
    """A change in progress, which others see when it is complete."""

    def put(self, file: IngestedFile) -> None:
        """Add or replace a file; its `chunk_count` is ignored in favour of its pieces."""

    def touch(self, artifact: Artifact) -> None:
        """Update a file whose text is unchanged, and keep its chunks; a StoreError for an unknown file."""

    def remove(self, path: str) -> None:
        """Remove a file and its chunks."""

    def replace_vectors(self, path: str, vectors: bytes) -> None:
        """Replace the vectors of a file's chunks."""

    def replace_graph(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Replace the whole graph; drop edges to missing nodes, and keep the last of equal edges.

        An equal graph changes nothing."""

    def put_run(self, run: IngestRun) -> None: ...

    def put_report(self, name: str, run_id: str, data: bytes, keep: int) -> None:
        """Add a report and keep only the last so many of its name."""

    def keep(self, name: str, data: bytes) -> None:
        """Store a value that `Store.kept` returns."""
