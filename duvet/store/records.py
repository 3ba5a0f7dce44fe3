"""The records of a store, and their encoding in tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite
from typing import Any, Literal, TypeVar, get_args
from zlib import crc32

import msgspec

SymbolKind = Literal["class", "function", "method", "interface", "type", "module"]
SymbolLanguage = Literal["python", "typescript", "tsx", "javascript", "go"]
SPACE_KEY = "space"
Value = TypeVar("Value")

_WORDS: tuple[str, ...] = (*get_args(SymbolKind), *get_args(SymbolLanguage))
"""Frequent strings, which are stored as numbers; their order is part of the schema."""
_CODES = {word: number for number, word in enumerate(_WORDS, 1)}
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
MAX_PIECES = 1 << 20  # More than any file contains.


class FileKind(StrEnum):
    CODE = "code"
    DOC = "doc"
    TEST = "test"
    PROTO = "proto"
    CONFIG = "config"
    OTHER = "other"


class NodeLabel(StrEnum):
    """A node's id is `LABEL:KEY`."""

    SUBSYSTEM = "Subsystem"
    SOURCE_FILE = "SourceFile"
    TEST_CASE = "TestCase"
    DESIGN_DOC = "DesignDoc"
    CONFIG_FILE = "ConfigFile"
    ARTIFACT = "Artifact"  # Any other file.
    CHUNK = "Chunk"  # Never stored as a node; its key is a chunk id.
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


class Relation(StrEnum):
    BELONGS_TO = "BELONGS_TO"  # From code to its subsystem.
    DESCRIBES = "DESCRIBES"  # From a document to its subsystem.
    VALIDATES = "VALIDATES"  # From a test to its subsystem.
    DEPENDS_ON = "DEPENDS_ON"  # From a subsystem to another one.
    HAS_CHUNK = "HAS_CHUNK"  # From a file to its chunks; never stored.
    LINKS_TO = "LINKS_TO"  # From a document to a file or a requirement.
    CITES = "CITES"  # From a file to a requirement, with `kinds` and `lines`.
    PART_OF = "PART_OF"  # From a requirement to its section, and from a section to its specification.
    WRITTEN_IN = "WRITTEN_IN"  # From a specification to its file in the project.


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    path: str  # Relative to the project, with forward slashes.
    kind: FileKind
    subsystem: str = ""
    criticality: str = ""  # The criticality of its subsystem.
    namespace: str = ""
    tags: tuple[str, ...] = ()
    digest: str = ""  # BLAKE3 of its bytes, in hex.
    git_commit: str = ""
    git_timestamp: float | None = None
    """The time of the last change, in seconds since 1970; None if neither git nor the file system knows it."""
    chunk_count: int = 0
    skipped: str = ""  # The reason why it has no chunks: `empty`, `binary`, `too large`, `unreadable`.

    @property
    def coverage_ratio(self) -> float:
        return 1.0 if self.chunk_count else 0.0

    @property
    def label(self) -> NodeLabel:
        return KIND_LABELS[self.kind]


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    qualified_name: str
    kind: str  # One of SymbolKind.
    language: str  # One of SymbolLanguage.
    line_start: int  # The first line is 1.
    line_end: int


class TextPiece(msgspec.Struct, frozen=True, kw_only=True):
    start: int  # The offset of the first character.
    end: int  # The offset after the last character.
    line_start: int  # The first line is 1.
    line_end: int
    title: str = ""  # The headings or symbols around it.


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    number: int  # Its key in the store, valid until the next run.
    ordinal: int
    piece: TextPiece
    artifact: Artifact
    text: str
    symbols: tuple[Symbol, ...] = ()  # The symbols that share a line with it.

    @property
    def id(self) -> str:
        return f"{self.artifact.path}::{self.ordinal}"


class IngestedFile(msgspec.Struct, frozen=True, kw_only=True):
    artifact: Artifact
    text: str = ""
    pieces: tuple[TextPiece, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    vectors: bytes = b""  # One row for each chunk (see duvet.queries.embeddings), or empty.


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    label: NodeLabel
    key: str
    name: str = ""  # The name for people, if it differs from the key.
    properties: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.label}:{self.key}"


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    relation: Relation
    target: str
    properties: dict[str, Any] = msgspec.field(default_factory=dict)


class GraphHop(msgspec.Struct, frozen=True):
    node: GraphNode
    edge: GraphEdge | None = None  # None for the first node.
    before: GraphHop | None = None

    @property
    def path(self) -> Sequence[GraphEdge]:
        before = self.before.path if self.before else ()
        return [*before, self.edge] if self.edge else before


class RemovedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    kind: FileKind
    subsystem: str = ""
    digest: str = ""
    status: str = "deleted"  # `deleted`, or `renamed`.
    renamed_to: str = ""


class IngestRun(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    profile: str
    started_at: float
    duration_seconds: float = 0.0
    success: bool = True
    artifact_counts: dict[str, int] = msgspec.field(default_factory=dict)  # The number of files of each kind.
    chunk_count: int = 0
    repo_head: str = ""
    changed: int = 0  # The number of files that were read again.
    removed: tuple[RemovedFile, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()  # Files that could not be indexed, with reasons.
    dry_run: bool = False


class ChunkFilters(msgspec.Struct, frozen=True, kw_only=True):
    """Filters for chunks; a chunk must match one value of each list that is not empty, ignoring case."""

    subsystems: tuple[str, ...] = ()  # Subsystems of the file itself, or of a node that is linked with it.
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()  # Qualified names.
    symbol_kinds: tuple[str, ...] = ()
    symbol_languages: tuple[str, ...] = ()
    since: float | None = None  # The earliest time of the last change; files without a known time don't match.


class VectorSegment(msgspec.Struct, frozen=True):
    numbers: tuple[int, ...]  # The chunks that the rows belong to, in their order.
    rows: bytes


def encode_text(text: str) -> str | bytes:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Some file names are not valid Unicode.
        return text.encode(errors="surrogatepass")
    return text


def decode_text(value: object) -> str:
    return value if isinstance(value, str) else decode_bytes(value).decode(errors="surrogatepass")


def encode_word(word: str) -> int | str | bytes:
    return _CODES.get(word) or encode_text(word)


def decode_word(value: object) -> str:
    return _WORDS[value - 1] if isinstance(value, int) else decode_text(value)


def encode_hex(text: str) -> str | bytes:
    # Bytes take half the space.
    return bytes.fromhex(text) if _HEX.fullmatch(text) else encode_text(text)


def decode_hex(value: object) -> str:
    return value if isinstance(value, str) else decode_bytes(value).hex()


def decode_count(value: object, most: int = 1 << 62) -> int:
    # A damaged column may contain anything.
    if isinstance(value, int) and 0 <= value <= most:
        return value
    raise ValueError(f"{value!r:.40} is not a valid count")


def decode_numbers(values: Sequence[object]) -> list[int]:
    return [decode_count(value) for value in values]


def decode_piece_range(first: object, count: object) -> range:
    start = decode_count(first, 1 << 60)
    return range(start, start + decode_count(count, MAX_PIECES))


def decode_time(value: object) -> float | None:
    if value is None or (isinstance(value, (int, float)) and isfinite(value)):
        return value
    raise ValueError(f"{value!r:.40} is not a valid time")


def decode_bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    raise ValueError(f"{value!r:.40} is not bytes")


def seal_bytes(data: bytes) -> bytes:
    # Damage in arbitrary bytes would go unnoticed.
    return crc32(data).to_bytes(4) + data


def unseal_bytes(value: object) -> bytes:
    data = decode_bytes(value)[4:]
    if seal_bytes(data) != value:
        raise ValueError("checksum mismatch")
    return data


def pack_record(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def unpack_record(data: bytes, kind: type[Value]) -> Value:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), kind)


def decode_properties(data: bytes | None) -> dict[str, Any]:
    return unpack_record(data, dict[str, Any]) if data else {}


ScoredChunks = Sequence[tuple[int, float]]  # Chunk numbers with scores, best first; a higher score is better.
EdgeEnds = Sequence[tuple[GraphEdge, GraphNode]]  # Edges, each with the node at the other end.
