from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.location import open_store
from duvet.store.sqlite import Store
from tests.unit.store.store_files import fill, store_path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(store_path(tmp_path), create=True)) as store:
        yield store


@pytest.fixture
def kitchen(empty: Store) -> Store:
    fill(empty)
    return empty


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of such a store, which is not open."""
    path = Path(store_path(tmp_path))
    with closing(open_store(str(path), create=True)) as store:
        fill(store)
    return path
