"""Stores for tests: empty, and with a kitchen in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.location import open_store
from duvet.store.sqlite import SqliteStore
from tests.unit.store.made import fill, store_path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_store(store_path(tmp_path), create=True)) as store:
        assert isinstance(store, SqliteStore)
        yield store


@pytest.fixture
def kitchen(empty: SqliteStore) -> SqliteStore:
    fill(empty)
    return empty


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of such a store, which nobody has open."""
    path = Path(store_path(tmp_path))
    with closing(open_store(str(path), create=True)) as store:
        fill(store)
    return path
