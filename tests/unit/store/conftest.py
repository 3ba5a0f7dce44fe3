"""A store of each kind, empty and filled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.location import open_store
from duvet.store.records import FileKind, Relation, Store
from tests.unit.store.engines import ENGINES, Engine, store_path
from tests.unit.store.made import GUIDE, KETTLE, edge, node, symbol, taken

KITCHEN = (
    taken(
        "src/kettle.py",
        KETTLE,
        symbols=(symbol("boil", "function", 1, 2), symbol("Spout.pourSlowly", "method", 6, 7)),
        vectors=b"abcd",
        subsystem="Kitchen",
        criticality="high",
        namespace="src",
        tags=("Hot", "Water"),
        git_commit="c0" * 20,
        git_timestamp=200.0,
    ),
    taken(
        "docs/guide.md",
        GUIDE,
        kind=FileKind.DOC,
        title="How to boil",
        vectors=b"xy",
        namespace="docs",
        git_timestamp=100.0,
    ),
    taken("tests/test_kettle.py", "import kettle\n", kind=FileKind.TEST, namespace="tests"),
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


@pytest.fixture(params=ENGINES.values(), ids=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    opened: Engine = request.param
    return opened


@pytest.fixture
def empty(engine: Engine, tmp_path: Path) -> Iterator[Store]:
    store = engine(tmp_path, create=True)
    yield store
    store.close()


@pytest.fixture
def kitchen(empty: Store) -> Store:
    """Three files and what they have to do with one another."""
    fill(empty)
    return empty


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The store of a kitchen, which nobody has open."""
    path = Path(store_path(str(tmp_path)))
    with closing(open_store(str(path), create=True)) as store:
        fill(store)
    return path


def fill(store: Store) -> None:
    with store.writing() as writing:
        for one in KITCHEN:
            writing.put(one)
        writing.replace_graph(NODES, EDGES)
