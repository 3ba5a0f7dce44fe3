"""Records of the index: files, chunks, symbols, nodes, edges, runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

SymbolKind = Literal["class", "function", "method", "interface", "type", "module"]
"""What a symbol is."""
SymbolLanguage = Literal["python", "typescript", "tsx", "javascript", "go"]
"""What it is written in."""
SPACE_KEY = "space"
"""What the space of all vectors is kept under."""


class FileKind(StrEnum):
    """What a file is."""

    CODE = "code"
    DOC = "doc"
    TEST = "test"
    PROTO = "proto"
    CONFIG = "config"
    OTHER = "other"


class NodeLabel(StrEnum):
    """What a node of the graph stands for; its id is `Label:key`."""

    SUBSYSTEM = "Subsystem"
    SOURCE_FILE = "SourceFile"
    TEST_CASE = "TestCase"
    DESIGN_DOC = "DesignDoc"
    CONFIG_FILE = "ConfigFile"
    ARTIFACT = "Artifact"
    """Any other file."""
    CHUNK = "Chunk"
    """Never stored as a node: it is the piece of that id."""
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
"""The label of the node of each kind of file: said here, and nowhere else."""


class Relation(StrEnum):
    """How two nodes hang together."""

    BELONGS_TO = "BELONGS_TO"
    """Code to its subsystem."""
    DESCRIBES = "DESCRIBES"
    """A document its subsystem."""
    VALIDATES = "VALIDATES"
    """A test its subsystem."""
    DEPENDS_ON = "DEPENDS_ON"
    """A subsystem on another."""
    HAS_CHUNK = "HAS_CHUNK"
    """A file its pieces; never stored."""
    LINKS_TO = "LINKS_TO"
    """A document to a file or a requirement."""
    CITES = "CITES"
    """A file a requirement, with `kinds` and `lines`."""
    PART_OF = "PART_OF"
    """A requirement of a section, a section of a specification."""
    WRITTEN_IN = "WRITTEN_IN"
    """A specification in a file of the project."""


class Artifact(Struct, frozen=True, kw_only=True):
    """A file that was taken in."""

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
    """When it was changed last, in seconds; None where neither git nor its file tells."""
    chunk_count: int = 0
    skipped: str = ""
    """Why it has no pieces: `empty`, `binary`, `too large`, `unreadable`."""

    @property
    def coverage_ratio(self) -> float:
        """How much of it can be found: pieces leave nothing out."""
        return 1.0 if self.chunk_count else 0.0

    @property
    def label(self) -> NodeLabel:
        return KIND_LABELS[self.kind]


class Symbol(Struct, frozen=True, kw_only=True):
    """Something that code declares."""

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
    """Where a part of a file stands, to be found on its own."""

    start: int
    """Its first character."""
    end: int
    """The one after its last."""
    line_start: int
    """The first line is 1."""
    line_end: int
    title: str = ""
    """The headings, or the symbols, that it stands below."""


class Chunk(Struct, frozen=True, kw_only=True):
    """A piece that was found."""

    number: int
    """What the store knows it by, until the next run."""
    ordinal: int
    piece: TextPiece
    artifact: Artifact
    text: str
    symbols: tuple[Symbol, ...] = ()
    """Those whose lines are among its lines."""

    @property
    def id(self) -> str:
        return f"{self.artifact.path}::{self.ordinal}"


class IngestedFile(Struct, frozen=True, kw_only=True):
    """A file with all that is to be stored of it."""

    artifact: Artifact
    text: str = ""
    pieces: tuple[TextPiece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    vectors: bytes = b""
    """One row of a segment for each piece (see duvet.search.vectors.rows), or nothing."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """What the graph knows of something."""

    label: NodeLabel
    key: str
    name: str = ""
    """What people call it, where that isn't its key."""
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.label}:{self.key}"


class GraphEdge(Struct, frozen=True, kw_only=True):
    """How one node hangs together with another, by their ids."""

    source: str
    relation: Relation
    target: str
    properties: dict[str, Any] = field(default_factory=dict)


class RemovedFile(Struct, frozen=True, kw_only=True):
    """A file that was there in the run before."""

    path: str
    kind: FileKind
    subsystem: str = ""
    digest: str = ""
    status: str = "deleted"
    """`deleted`, or `renamed`."""
    renamed_to: str = ""


class IngestRun(Struct, frozen=True, kw_only=True):
    """One taking in."""

    run_id: str
    profile: str
    started_at: float
    duration_seconds: float = 0.0
    success: bool = True
    artifact_counts: dict[str, int] = field(default_factory=dict)
    """How many files of each kind there are."""
    chunk_count: int = 0
    repo_head: str = ""
    changed: int = 0
    """How many files were read anew."""
    removed: tuple[RemovedFile, ...] = ()
    error: str = ""
    """Why it has failed."""
    warnings: tuple[str, ...] = ()
    """What could not be taken in, and why."""
    dry_run: bool = False
    """Whether it has only told what it would do."""


class ChunkFilters(Struct, frozen=True, kw_only=True):
    """Which pieces may be found at all. What stands in one list is an alternative; upper and lower case are the same."""

    subsystems: tuple[str, ...] = ()
    """Of the file itself, or of what it is linked with."""
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    """Qualified names."""
    symbol_kinds: tuple[str, ...] = ()
    symbol_languages: tuple[str, ...] = ()
    since: float | None = None
    """Changed then or later; what has no time is left out."""


class VectorSegment(Struct, frozen=True):
    """Rows of vectors."""

    numbers: tuple[int, ...]
    """The pieces that they belong to, in their order."""
    rows: bytes
