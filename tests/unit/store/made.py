"""What is put into stores."""

from __future__ import annotations

from typing import Any

from duvet.store.records import (
    Artifact,
    ChunkFilters,
    FileKind,
    GraphEdge,
    GraphNode,
    IngestedFile,
    NodeLabel,
    Relation,
    Store,
    Symbol,
    TextPiece,
)

KETTLE = "def boil(water):\n    return heat(water)\n\n\nclass Spout:\n    def pourSlowly(self):\n        pass\n"
GUIDE = "# Kettles\n\nA kettle boils water. Boiling water is hot.\n"


def taken(
    path: str, text: str, *, symbols: tuple[Symbol, ...] = (), vectors: bytes = b"", **fields: Any
) -> IngestedFile:
    """A file that is cut where its lines end, two lines to a piece."""
    title = fields.pop("title", "")
    lines = text.splitlines(keepends=True)
    pieces, at = [], 0
    for number in range(0, len(lines), 2):
        part = "".join(lines[number : number + 2])
        last = min(number + 2, len(lines))
        pieces.append(TextPiece(start=at, end=at + len(part), line_start=number + 1, line_end=last, title=title))
        at += len(part)
    fields = {"kind": FileKind.CODE, "digest": "5e" * 32, "chunk_count": len(pieces), **fields}
    return IngestedFile(
        artifact=Artifact(path=path, **fields), text=text, pieces=tuple(pieces), symbols=symbols, vectors=vectors
    )


def frequencies(store: Store, *words: str) -> dict[str, int]:
    """In how many pieces each word is found."""
    return {word: len(store.lexical([word], ChunkFilters(), 1 << 20, every=True)) for word in words}


def symbol(qualified: str, kind: str, first: int, last: int, language: str = "python") -> Symbol:
    return Symbol(
        name=qualified.rpartition(".")[2],
        qualified_name=qualified,
        kind=kind,
        language=language,
        line_start=first,
        line_end=last,
    )


def node(id: str, name: str = "", **properties: Any) -> GraphNode:
    label, _, key = id.partition(":")
    return GraphNode(label=NodeLabel(label), key=key, name=name, properties=properties)


def edge(source: str, relation: Relation, target: str, **properties: Any) -> GraphEdge:
    return GraphEdge(source=source, relation=relation, target=target, properties=properties)
