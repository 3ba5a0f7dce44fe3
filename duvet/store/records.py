"""Records of the index: files, chunks, symbols, nodes, edges, runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

SymbolKind = Literal["class", "function", "method", "interface", "type", "module"]
SymbolLanguage = Literal["python", "typescript", "tsx", "javascript", "go"]
SPACE_KEY = "space"
"""The name under which the space of all vectors is kept."""


class FileKind(StrEnum):
    """The kind of a file."""

    CODE = "code"
    DOC = "doc"
    TEST = "test"
    PROTO = "proto"
    CONFIG = "config"
    OTHER = "other"


class NodeLabel(StrEnum):
    """The kind of a node in the graph; the id of a node is `Label:key`."""

    SUBSYSTEM = "Subsystem"
    SOURCE_FILE = "SourceFile"
    TEST_CASE = "TestCase"
    DESIGN_DOC = "DesignDoc"
    CONFIG_FILE = "ConfigFile"
    ARTIFACT = "Artifact"
    """Any other file."""
    CHUNK = "Chunk"
    """Never stored as a node: its key is the id of a chunk."""
    SPECIFICATION = "Specification"
    SECTION = "Section"
    REQUIREMENT = "Requirement"


KIND_LABELS = {
    FileKind.CODE: NodeLabel.SOURCE_FILE,
    FileKind.DOC: NodeLabel.DESIGN_DOC,
    FileKind.TEST: NodeLabel.TEST_CASE,
    FileKind.CONFIG: NodeLabel.CONFIG_FILE,
    FileKind.PROTO: NodeLabel.SOURCE_FILE,
    FileKind.OTHER: NodeLabel.ARTIFACT,
}
"""The label of the node for each kind of file."""


class Relation(StrEnum):
    """The kind of an edge."""

    BELONGS_TO = "BELONGS_TO"
    """Code to its subsystem."""
    DESCRIBES = "DESCRIBES"
    """A document its subsystem."""
    VALIDATES = "VALIDATES"
    """A test its subsystem."""
    DEPENDS_ON = "DEPENDS_ON"
    """A subsystem on another."""
    HAS_CHUNK = "HAS_CHUNK"
    """A file its chunks; never stored."""
    LINKS_TO = "LINKS_TO"
    """A document to a file or a requirement."""
    CITES = "CITES"
    """A file a requirement, with `kinds` and `lines`."""
    PART_OF = "PART_OF"
    """A requirement of a section, a section of a specification."""
    WRITTEN_IN = "WRITTEN_IN"
    """A specification in a file of the project."""


class Artifact(Struct, frozen=True, kw_only=True):
    """An indexed file."""

    path: str
    """Relative to the project, with forward slashes."""
    kind: FileKind
    subsystem: str = ""
    criticality: str = ""
    """Of its subsystem."""
    namespace: str = ""
    tags: tuple[str, ...] = ()
    digest: str = ""
    """BLAKE3 of its bytes, in hex."""
    git_commit: str = ""
    git_timestamp: float | None = None
    """The time of the last change, in seconds since 1970; None if neither git nor the file system knows it."""
    chunk_count: int = 0
    skipped: str = ""
    """The reason if it has no chunks: `empty`, `binary`, `too large`, `unreadable`."""

    @property
    def coverage_ratio(self) -> float:
        """The part of the file that search can find: all of it or, without chunks, nothing."""
        return 1.0 if self.chunk_count else 0.0

    @property
    def label(self) -> NodeLabel:
        return KIND_LABELS[self.kind]


class Symbol(Struct, frozen=True, kw_only=True):
    """A declaration in code."""

    name: str
    qualified_name: str
    kind: str
    """One of SymbolKind."""
    language: str
    """One of SymbolLanguage."""
    line_start: int
    """The first line is 1."""
    line_end: int


class TextPiece(Struct, frozen=True, kw_only=True):
    """The place of a chunk in its file."""

    start: int
    """The offset of the first character."""
    end: int
    """The offset after the last character."""
    line_start: int
    """The first line is 1."""
    line_end: int
    title: str = ""
    """The headings or symbols that enclose it."""


class Chunk(Struct, frozen=True, kw_only=True):
    """A part of a file, as search returns it."""

    number: int
    """The key in the store, valid until the next run."""
    ordinal: int
    piece: TextPiece
    artifact: Artifact
    text: str
    symbols: tuple[Symbol, ...] = ()
    """The symbols that share a line with it."""

    @property
    def id(self) -> str:
        return f"{self.artifact.path}::{self.ordinal}"


class IngestedFile(Struct, frozen=True, kw_only=True):
    """A file with everything that is stored of it."""

    artifact: Artifact
    text: str = ""
    pieces: tuple[TextPiece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    vectors: bytes = b""
    """One row for each piece (see duvet.queries.embeddings), or empty."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """A node of the graph."""

    label: NodeLabel
    key: str
    name: str = ""
    """The name for people, if it isn't the key."""
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.label}:{self.key}"


class GraphEdge(Struct, frozen=True, kw_only=True):
    """A directed relation between the nodes with these ids."""

    source: str
    relation: Relation
    target: str
    properties: dict[str, Any] = field(default_factory=dict)


class GraphHop(Struct, frozen=True):
    """A node that a walk has reached; the node where the walk starts has no edge."""

    node: GraphNode
    edge: GraphEdge | None = None
    before: GraphHop | None = None

    @property
    def path(self) -> Sequence[GraphEdge]:
        """A shortest path from the start, in order."""
        edges: list[GraphEdge] = []
        hop: GraphHop | None = self
        while hop is not None and hop.edge is not None:
            edges.append(hop.edge)
            hop = hop.before
        return edges[::-1]


class RemovedFile(Struct, frozen=True, kw_only=True):
    """A file of the previous run that is gone."""

    path: str
    kind: FileKind
    subsystem: str = ""
    digest: str = ""
    status: str = "deleted"
    """`deleted`, or `renamed`."""
    renamed_to: str = ""


class IngestRun(Struct, frozen=True, kw_only=True):
    """The record of an ingest run."""

    run_id: str
    profile: str
    started_at: float
    duration_seconds: float = 0.0
    success: bool = True
    artifact_counts: dict[str, int] = field(default_factory=dict)
    """The number of files of each kind."""
    chunk_count: int = 0
    repo_head: str = ""
    changed: int = 0
    """The number of files that were read again."""
    removed: tuple[RemovedFile, ...] = ()
    error: str = ""
    """The reason if it failed."""
    warnings: tuple[str, ...] = ()
    """Files that could not be indexed, with reasons."""
    dry_run: bool = False


class ChunkFilters(Struct, frozen=True, kw_only=True):
    """Filters for chunks: the values of one list are alternatives, and case doesn't matter."""

    subsystems: tuple[str, ...] = ()
    """Of the file itself, or of a node that it is linked with."""
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    """Qualified names."""
    symbol_kinds: tuple[str, ...] = ()
    symbol_languages: tuple[str, ...] = ()
    since: float | None = None
    """The earliest time of the last change; files without a time are left out."""


class VectorSegment(Struct, frozen=True):
    """Rows of vectors for chunks."""

    numbers: tuple[int, ...]
    """The chunks that the rows belong to, in their order."""
    rows: bytes
