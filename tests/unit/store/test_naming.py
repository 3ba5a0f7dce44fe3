"""Files and symbols by their names, whatever keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from duvet.store.records import ChunkFilters, FileKind, Store
from tests.unit.store.made import KETTLE, symbol, taken

ANY = ChunkFilters()
SYMBOLS = (symbol("boil", "function", 1, 2), symbol("Spout", "class", 5, 7), symbol("Spout.pourSlowly", "method", 6, 7))


@pytest.fixture
def named(empty: Store) -> Store:
    with empty.writing() as writing:
        writing.put(taken("src/kettle.py", KETTLE, symbols=SYMBOLS))
        writing.put(taken("src/tea/kettle.d.ts", "x\n" * 5, symbols=(symbol("Boil", "class", 1, 2),)))
        writing.put(taken("docs/Kettle.md", "A kettle\n", kind=FileKind.DOC))
        writing.put(taken(".env", "POUR=1\n", kind=FileKind.OTHER))
        writing.put(taken("src/odd \ud800.py", "x\n", symbols=(symbol("pour_slowly", "function", 1, 1),)))
        writing.put(taken("empty/kettle.py", ""))
    return empty


def ids(store: Store, numbers: Sequence[int]) -> list[str]:
    return [one.id for one in store.chunks(numbers)]


CALLED = {
    "src/kettle.py": ["src/kettle.py::0"],
    "SRC/Kettle.py": ["src/kettle.py::0"],
    "kettle.py": ["src/kettle.py::0"],
    "kettle": ["src/kettle.py::0", "src/tea/kettle.d.ts::0", "docs/Kettle.md::0"],
    "tea/kettle": ["src/tea/kettle.d.ts::0"],
    "tea/kettle.d.ts": ["src/tea/kettle.d.ts::0"],
    "a/kettle.d.ts": [],
    "/home/me/src/kettle.py": ["src/kettle.py::0"],
    ".env": [".env::0"],
    "odd \ud800.py": ["src/odd \ud800.py::0"],
    "ettle.py": [],
    "src": [],
    "": [],
    "/": [],
    '"*': [],
}


@pytest.mark.parametrize("path", CALLED)
def test_files(named: Store, path: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST find words in any of their forms, symbols by their names or parts of these, and files by their
    ##% path or name.
    assert ids(named, named.called(path, ANY)) == CALLED[path]


DECLARED = {
    "boil": ["src/kettle.py::0"],
    "Boil": ["src/tea/kettle.d.ts::0"],
    "BOIL": ["src/kettle.py::0", "src/tea/kettle.d.ts::0"],
    "Spout": ["src/kettle.py::2"],
    "pourSlowly": ["src/kettle.py::2"],
    "pour_slowly": ["src/odd \ud800.py::0"],
    "PourSlowly": ["src/kettle.py::2", "src/odd \ud800.py::0"],
    "pour": [],
    "": [],
    '"*': [],
}


@pytest.mark.parametrize("name", DECLARED)
def test_symbols(named: Store, name: str) -> None:
    assert ids(named, named.declaring(name, ANY)) == DECLARED[name]


def test_filters(named: Store) -> None:
    docs = ChunkFilters(kinds=("doc",))
    assert ids(named, named.called("kettle", docs)) == ["docs/Kettle.md::0"]
    assert named.called("src/kettle.py", docs) == named.declaring("boil", docs) == []


def test_what_is_gone(named: Store) -> None:
    assert named.has_symbols()
    with named.writing() as writing:
        for path in [*named.artifacts()]:
            writing.remove(path)
        assert named.called("kettle", ANY) == named.declaring("boil", ANY) == []
        writing.put(taken("src/kettle.py", KETTLE))
    assert ids(named, named.called("kettle.py", ANY)) == ["src/kettle.py::0"]
    assert named.declaring("boil", ANY) == []
    assert not named.has_symbols()
