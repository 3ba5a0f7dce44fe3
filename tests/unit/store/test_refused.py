"""Places where there is no store, and stores that are of no use to this duvet."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.database import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    StoreVersionError,
)
from duvet.store.location import open_store
from tests.unit.store.conftest import fill
from tests.unit.store.contents import by_hand
from tests.unit.store.engines import store_path
from tests.unit.store.made import frequencies


class TestMissing:
    def test_reading_makes_nothing(self, tmp_path: Path) -> None:
        ##= man/spec/knowledge.md#storage
        ##= type=test
        ##% duvet MUST NOT create an index in order to read, and MUST say when the project is not indexed yet.
        path = store_path(str(tmp_path))
        with pytest.raises(StoreMissingError) as caught:
            open_store(path)
        assert str(caught.value) == f"{path}: nothing of this project was taken in yet"
        assert list(tmp_path.iterdir()) == []

    def test_where_nothing_can_be_made(self, tmp_path: Path) -> None:
        (tmp_path / ".duvet").write_text("")
        with pytest.raises(StoreError, match="os error"):
            open_store(store_path(str(tmp_path)), create=True)

    @pytest.mark.parametrize("name", ["a?b#c", "50%25 &=", "a'b\"c", "ä\udcff"])
    def test_folders_of_any_name(self, tmp_path: Path, name: str) -> None:
        path = store_path(str(tmp_path / name))
        with closing(open_store(path, create=True)) as store:
            fill(store)
        with closing(open_store(path)) as store:
            assert store.chunk_total() == 7
        assert os.listdir(tmp_path) == [name]


class TestVersions:
    def test_one_of_an_older_duvet_is_replaced_when_something_is_taken_in(self, file: Path) -> None:
        ##= man/spec/knowledge.md#storage
        ##= type=test
        ##% An ingest run MUST replace the index of an older version, and with `--full` a damaged one, but no other file
        ##% and not the index of a newer version.
        with by_hand(file) as connection:
            connection.execute("CREATE TABLE 'left over' (a)")
            connection.execute("PRAGMA user_version=1")
        before = file.read_bytes()
        with pytest.raises(StoreVersionError) as caught:
            open_store(str(file))
        assert (
            str(caught.value)
            == f"{file}: an older duvet has made it: its schema is 1, and this one reads {SCHEMA_VERSION}"
        )
        assert caught.value.hint == "take everything in again: that replaces it, and it holds nothing else"
        assert file.read_bytes() == before
        with closing(open_store(str(file), create=True)) as store:
            assert (store.artifacts(), frequencies(store, "kettle")) == ({}, {"kettle": 0})
            fill(store)
        with closing(open_store(str(file))) as store:
            assert store.chunk_total() == 7

    @pytest.mark.parametrize("create", [True, False])
    def test_one_of_a_newer_duvet_is_refused(self, file: Path, create: bool) -> None:
        with by_hand(file) as connection:
            connection.execute("PRAGMA user_version=99")
        before = file.read_bytes()
        with pytest.raises(StoreVersionError) as caught:
            open_store(str(file), create=create)
        assert (
            str(caught.value)
            == f"{file}: a newer duvet has made it: its schema is 99, and this one reads {SCHEMA_VERSION}"
        )
        assert caught.value.hint.startswith("use that one; or remove store.db")
        assert file.read_bytes() == before

    def test_one_that_was_begun_and_never_made(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        with pytest.raises(StoreDamagedError, match="it is empty"):
            open_store(str(path))
        with closing(open_store(str(path), create=True)) as store:
            assert store.artifacts() == {}


class TestLinks:
    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize("place", [".duvet", ".duvet/knowledge", ".duvet/knowledge/store.db"])
    def test_nothing_is_read_or_written_through_one(self, tmp_path: Path, place: str, create: bool) -> None:
        ##= man/spec/knowledge.md#storage
        ##= type=test
        ##% duvet MUST read an index in a folder that is read-only, and MUST NOT read or write one behind a symbolic
        ##% link.
        elsewhere = tmp_path / "elsewhere"
        with closing(open_store(store_path(str(elsewhere)), create=True)) as store:
            fill(store)
        before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
        link = tmp_path / "project" / place
        link.parent.mkdir(parents=True)
        link.symlink_to(elsewhere / place)
        with pytest.raises(StoreError) as caught:
            open_store(store_path(str(tmp_path / "project")), create=create)
        assert str(caught.value) == f"{link}: it is a link, and may lead anywhere"
        assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before

    def test_one_that_leads_nowhere(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.parent.mkdir(parents=True)
        path.symlink_to(tmp_path / "nowhere")
        with pytest.raises(StoreError, match="it is a link"):
            open_store(str(path), create=True)
        assert not (tmp_path / "nowhere").exists()

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.mkdir(parents=True)
        with pytest.raises(StoreDamagedError, match="it is no file"):
            open_store(str(path), create=True)


def test_the_file_says_whose_it_is(file: Path) -> None:
    with by_hand(file) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
