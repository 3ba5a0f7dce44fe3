"""A project of two subsystems as it was taken in, and searches in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import json
from msgspec.structs import replace

from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import SearchResponse, parse_search_request
from duvet.queries.embeddings import Embedder
from duvet.store.location import open_store
from duvet.store.protocol import Store
from duvet.store.records import SPACE_KEY, FileKind, GraphNode, IngestedFile, Relation
from tests.unit.queries.made import embedder
from tests.unit.store.made import edge, node, symbol, taken

DAY = 86_400.0
NOW = 1_800_000_000.0
BOIL = """\
def boil(water):
    return heat(water)
class Spout:
    def pourSlowly(self):
"""
LEAVES = "def steep(leaves):\n    wait(minutes=3)\n"
GUIDE = "# The kettle\nA kettle boils water; fill it before you switch it on.\n"
CHECK = "def test_boil():\n    assert boil(1) == 100\n"
NOTES = "Old notes on porcelain.\nNothing about anything.\n"
SYMBOLS = (
    symbol("boil", "function", 1, 2),
    symbol("Spout", "class", 3, 4),
    symbol("Spout.pourSlowly", "method", 4, 4),
)
FILES = (
    taken(
        "docs/kettle.md", GUIDE, kind=FileKind.DOC, subsystem="Kettle", namespace="docs", git_timestamp=NOW - 40 * DAY
    ),
    taken("docs/notes.txt", NOTES, kind=FileKind.DOC, namespace="docs", tags=("Attic",)),
    taken(
        "src/kettle/boil.py",
        BOIL,
        symbols=SYMBOLS,
        subsystem="Kettle",
        criticality="high",
        namespace="kettle",
        git_timestamp=NOW - 2 * DAY,
    ),
    taken("src/tea/leaves.py", LEAVES, subsystem="Tea", namespace="tea", git_timestamp=NOW - 10 * DAY),
    taken("tests/test_boil.py", CHECK, kind=FileKind.TEST, subsystem="Kettle", namespace="tests", git_timestamp=NOW),
)
PATHS = [one.artifact.path for one in FILES]
MODEL = embedder()
ALONE = "found by words alone: "
PIECE = "src/kettle/boil.py::1"
BOIL_PY, GUIDE_MD, TEST_PY = "src/kettle/boil.py::0", "docs/kettle.md::0", "tests/test_boil.py::0"


def _requirement(key: str, text: str) -> GraphNode:
    target = key.partition("/")[0]
    return node(f"Requirement:{key}", text, text=text, level="MUST", status="needs tests", target=target)


NODES = (
    *(GraphNode(label=one.artifact.label, key=one.artifact.path) for one in FILES),
    node("Subsystem:Kettle", criticality="high"),
    node("Subsystem:Tea"),
    _requirement("spec#heat/3b42c44e1122", "The kettle MUST boil."),
    _requirement("spec#pour/99aabbccddee", "The kettle MUST pour slowly."),
)
EDGES = (
    edge("DesignDoc:docs/kettle.md", Relation.DESCRIBES, "Subsystem:Kettle"),
    edge("SourceFile:src/kettle/boil.py", Relation.BELONGS_TO, "Subsystem:Kettle"),
    edge("SourceFile:src/tea/leaves.py", Relation.BELONGS_TO, "Subsystem:Tea"),
    edge("TestCase:tests/test_boil.py", Relation.VALIDATES, "Subsystem:Kettle"),
    edge("Subsystem:Tea", Relation.DEPENDS_ON, "Subsystem:Kettle"),
    edge(
        "SourceFile:src/kettle/boil.py",
        Relation.CITES,
        "Requirement:spec#heat/3b42c44e1122",
        kinds=["implementation"],
        lines=[1],
    ),
    edge(
        "SourceFile:src/kettle/boil.py", Relation.CITES, "Requirement:spec#pour/99aabbccddee", kinds=["todo"], lines=[4]
    ),
)


def filled(folder: Path, embedder: Embedder | None = None, files: tuple[IngestedFile, ...] = FILES) -> Store:
    """The store, with vectors where there is a model."""
    store = open_store(str(folder / "store.db"), create=True)
    texts = [(one, [one.text[piece.start : piece.end] for piece in one.pieces]) for one in files]
    space = embedder.fitted([text for _, some in texts for text in some]) if embedder else None
    with store.writing() as writing:
        for one, pieces in texts:
            writing.put(replace(one, vectors=space.rows(pieces)) if space else one)
        writing.replace_graph(NODES, EDGES)
        if space:
            writing.keep(SPACE_KEY, space.data)
    return store


def engine(store: Store, embedder: Embedder | None = None, editor_uri: str | None = None) -> SearchEngine:
    return SearchEngine(store, embedder, editor_uri, "/home/me/my tea", now=lambda: NOW)


def found(engine: SearchEngine, query: str, **more: Any) -> list[str]:
    """The ids of what is found."""
    return ids(engine.search(parse_search_request({"query": query, **more})))


def ids(response: SearchResponse) -> list[str]:
    return [result.chunk.chunk_id for result in response.results]


def plain(value: object) -> Any:
    """As JSON has it."""
    return json.decode(json.encode(value))
