"""Copies of stores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.database import StoreBusyError, StoreError
from duvet.store.location import open_store
from duvet.store.sqlite import SqliteStore, move_store_aside, overwrite_store
from tests.unit.store.conftest import fill
from tests.unit.store.contents import everything
from tests.unit.store.engines import store_path
from tests.unit.store.made import frequencies, taken


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    found = open_store(store_path(str(tmp_path)), create=True)
    assert isinstance(found, SqliteStore)
    with closing(found):
        fill(found)
        yield found


def test_a_copy_is_of_one_moment(store: SqliteStore, tmp_path: Path) -> None:
    before = everything(store)
    with closing(open_store(store.database.path)) as other, other.writing() as writing:
        writing.put(taken("a.md", "kettle\n"))
        writing.remove("docs/guide.md")
        store.copy_to(str(tmp_path / "copy.db"))
    with closing(open_store(str(tmp_path / "copy.db"))) as copy:
        assert everything(copy) == before
    with pytest.raises(OSError, match="exists"):
        store.copy_to(str(tmp_path / "copy.db"))


def test_those_who_have_it_open_see_all_that_was_put_back(store: SqliteStore, tmp_path: Path) -> None:
    before, copy = everything(store), str(tmp_path / "copy.db")
    kettles = frequencies(store, "kettle")["kettle"]
    store.copy_to(copy)
    with closing(open_store(store.database.path)) as other:
        with other.writing() as writing:
            writing.put(taken("a.md", "kettle\n"))
        with store.writing() as writing:
            writing.remove("docs/guide.md")
            with pytest.raises(StoreBusyError):
                assert isinstance(other, SqliteStore)
                overwrite_store(other.database, copy, 0.0)
        assert everything(other) == everything(store) != before
        overwrite_store(store.database, copy, 1.0)
        assert everything(other) == everything(store) == before
        with other.writing() as writing:
            writing.put(taken("a.md", "kettle\n"))
        assert frequencies(store, "kettle") == {"kettle": kettles + 1}


def test_one_that_is_of_no_use_is_kept_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "kept/store.db"
    path.parent.mkdir()
    for end in ("", "-wal"):
        Path(f"{path}{end}").write_text(f"no store{end}")
    moved = move_store_aside(str(path), str(tmp_path / "aside"))
    assert [os.path.relpath(one, tmp_path) for one in moved] == ["aside/store.db-wal", "aside/store.db"]
    assert (os.listdir(path.parent), (tmp_path / "aside/store.db").read_text()) == ([], "no store")
    with pytest.raises(StoreError, match="exists"):
        move_store_aside(str(path), str(tmp_path / "aside"))
