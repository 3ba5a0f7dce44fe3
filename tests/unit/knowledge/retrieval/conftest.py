"""Searches in a project of two subsystems, by words alone and by vectors, too"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from duvet.knowledge.search import SearchEngine
from duvet.store.records import Store
from tests.unit.knowledge.retrieval.made import MODEL, engine, filled


@pytest.fixture
def words(tmp_path: Path) -> Iterator[SearchEngine]:
    """A search in a store without vectors."""
    store = filled(tmp_path)
    yield engine(store)
    store.close()


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Store]:
    """A store with vectors."""
    store = filled(tmp_path / "with", MODEL)
    yield store
    store.close()


@pytest.fixture
def both(stored: Store) -> SearchEngine:
    return engine(stored, MODEL)
