"""Files for stores, and functions that read everything in a store."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from duvet.config.service_tables import StoreSection
from duvet.store import records
from duvet.store.records import ChunkFilters, FileKind, NodeLabel, Relation, Symbol, TextPiece
from duvet.store.sqlite import Store

KETTLE = "def boil(water):\n    return heat(water)\n\n\nclass Spout:\n    def pourSlowly(self):\n        pass\n"
GUIDE = "# Kettles\n\nA kettle boils water. Boiling water is hot.\n"


def make_ingested_file(
    path: str, text: str, *, symbols: tuple[Symbol, ...] = (), vectors: bytes = b"", **fields: Any
) -> records.IngestedFile:
    """Return a file, split into chunks of two lines."""
    title = fields.pop("title", "")
    lines = text.splitlines(keepends=True)
    pieces, at = [], 0
    for number in range(0, len(lines), 2):
        part = "".join(lines[number : number + 2])
        last = min(number + 2, len(lines))
        pieces.append(TextPiece(start=at, end=at + len(part), line_start=number + 1, line_end=last, title=title))
        at += len(part)
    fields = {"kind": FileKind.CODE, "digest": "5e" * 32, "chunk_count": len(pieces), **fields}
    artifact = records.Artifact(path=path, **fields)
    return records.IngestedFile(artifact=artifact, text=text, pieces=tuple(pieces), symbols=symbols, vectors=vectors)


def symbol(qualified: str, kind: str, first: int, last: int, language: str = "python") -> Symbol:
    name = qualified.rpartition(".")[2]
    return Symbol(name=name, qualified_name=qualified, kind=kind, language=language, line_start=first, line_end=last)


def node(id: str, name: str = "", **properties: Any) -> records.GraphNode:
    label, _, key = id.partition(":")
    return records.GraphNode(label=NodeLabel(label), key=key, name=name, properties=properties)


def edge(source: str, relation: Relation, target: str, **properties: Any) -> records.GraphEdge:
    return records.GraphEdge(source=source, relation=relation, target=target, properties=properties)


SYMBOLS = (symbol("boil", "function", 1, 2), symbol("Spout.pourSlowly", "method", 6, 7))
DOC: Any = {"kind": FileKind.DOC, "namespace": "docs", "git_timestamp": 100.0}
CODE: Any = {"namespace": "src", "git_timestamp": 200.0, "git_commit": "c0" * 20, "tags": ("Hot", "Water")}
CODE |= {"subsystem": "Kitchen", "criticality": "high"}
KITCHEN = (
    make_ingested_file("src/kettle.py", KETTLE, symbols=SYMBOLS, vectors=b"abcd", **CODE),
    make_ingested_file("docs/guide.md", GUIDE, vectors=b"xy", title="How to boil", **DOC),
    make_ingested_file("tests/test_kettle.py", "import kettle\n", kind=FileKind.TEST, namespace="tests"),
)
NODES = (
    node("Subsystem:Kitchen", description="Where tea is made"),
    node("Subsystem:Cellar"),
    node("SourceFile:src/kettle.py"),
    node("DesignDoc:docs/guide.md"),
    node("TestCase:tests/test_kettle.py"),
    node("Requirement:tea#heat/0123456789ab", "The kettle MUST boil.", level="MUST"),
    node("Section:tea#heat", "Heat"),
)
EDGES = (
    edge("SourceFile:src/kettle.py", Relation.BELONGS_TO, "Subsystem:Kitchen"),
    edge("SourceFile:src/kettle.py", Relation.CITES, "Requirement:tea#heat/0123456789ab", kinds=["test"], lines=[3]),
    edge("DesignDoc:docs/guide.md", Relation.LINKS_TO, "SourceFile:src/kettle.py"),
    edge("Requirement:tea#heat/0123456789ab", Relation.PART_OF, "Section:tea#heat"),
    edge("Subsystem:Kitchen", Relation.DEPENDS_ON, "Subsystem:Cellar"),
)


def fill(store: Store) -> None:
    with store.writing() as writing:
        for one in KITCHEN:
            writing.put(one)
        writing.replace_graph(NODES, EDGES)


def store_path(root: str | Path) -> str:
    return os.path.join(root, StoreSection().path)


@contextmanager
def by_hand(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def frequencies(store: Store, *words: str) -> dict[str, int]:
    return {word: len(store.find_by_words([word], ChunkFilters(), 1 << 20, every=True)) for word in words}


def read_whole_store(store: Store) -> list[object]:
    """Return the answers to every question that a store can answer."""
    answers: list[object] = [store.revision, store.kept("space"), store.artifacts(), store.chunk_total()]
    answers += [store.chunks(range(1, 20)), store.chunk_numbers("src/kettle.py"), store.lacks_times()]
    filters = ChunkFilters(subsystems=("kitchen",), tags=("hot",), symbol_kinds=("method",))
    for every in (True, False):
        answers += [store.find_by_words(["kettle", "water"], ChunkFilters(), 9, every=every), store.allowed(filters)]
    answers += [frequencies(store, "kettle"), list(store.segments()), store.walk_from("Subsystem:Kitchen", 3)]
    answers += [list(store.nodes(label)) for label in NodeLabel]
    answers += [store.edges("SourceFile:src/kettle.py", out=out, limit=9) for out in (True, False)]
    answers += [store.neighbours(["Subsystem:Kitchen"]), store.find_nodes("kettle", list(NodeLabel), 9)]
    isolated = list(store.find_isolated(list(NodeLabel), list(Relation)))
    return [*answers, isolated, store.runs(), store.reports("coverage")]
