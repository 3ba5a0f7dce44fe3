"""Stores that make no sense, or are none."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from duvet.store.database import StoreDamagedError, StoreError
from duvet.store.location import open_store
from duvet.store.sqlite import SqliteStore
from tests.unit.store.conftest import fill
from tests.unit.store.contents import by_hand, everything


def other_program(file: Path) -> None:
    file.unlink()
    with by_hand(file) as connection:
        connection.execute("CREATE TABLE notes(a)")


def statement(text: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with by_hand(file) as connection:
            connection.execute(text)

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "text": lambda file: file.write_text("no database at all\n" * 99),
    "another program's": other_program,
    "cut in two": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut to its head": lambda file: os.truncate(file, 100),
    "a table is gone": statement("DROP TABLE piece"),
    "an index is gone": statement("DROP INDEX edge_back"),
    "a view stands in for a table": statement("CREATE VIEW more AS SELECT 1"),
    "something happens by itself": statement("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"),
    "words are gone": statement("DELETE FROM found_data"),
    "texts are others": statement("UPDATE text SET data = x'789c00112233'"),
    "texts are cut": statement("UPDATE text SET data = substr(data, 1, 9)"),
    "a kind is none": statement("UPDATE artifact SET kind = 'song'"),
    "numbers are none": statement("UPDATE artifact SET first = 'one'"),
    "a node is nothing": statement("UPDATE node SET properties = x'ff'"),
    "an edge is none": statement("UPDATE edge SET relation = 99"),
    "no state": statement("DELETE FROM state"),
}


FOREIGN = ("text", "another program's")
"""Of these nobody can tell whether they have ever been stores."""
IF_FOREIGN = "say another place below `store` if this is something else; if it was a store, "
BEGIN, LOST = "remove its files, and take everything in again", ": nothing else is lost"

ODD: dict[str, Callable[[Path], object]] = {
    **DAMAGES,
    "words are others": statement("UPDATE found_data SET block = x'00112233' WHERE id > 1"),
    "a label is none": statement("UPDATE node SET label = label + 90"),
    "pieces are elsewhere": statement("UPDATE piece SET start = 99999, end = -5"),
}
"""Some that nobody can tell from a store in which little is."""


class TestDamaged:
    @pytest.mark.parametrize("name", DAMAGES)
    def test_it_is_told_with_what_to_do(self, file: Path, name: str) -> None:
        ##= man/spec/knowledge.md#storage
        ##= type=test
        ##% duvet MUST name the file and the remedy when the index is damaged or not an index, or when the disk is full.
        DAMAGES[name](file)
        with pytest.raises(StoreDamagedError) as caught, closing(open_store(str(file))) as store:
            everything(store)
        assert str(caught.value).startswith(f"{file}: it is damaged, or no store of duvet: ")
        begin = re.sub(r"remove store\.db( and store\.db-(wal|shm))*, ", "remove its files, ", caught.value.hint)
        assert begin == (IF_FOREIGN if name in FOREIGN else "") + BEGIN + ("" if name in FOREIGN else LOST)

    def test_no_more_is_to_be_removed_than_its_own_files(self, tmp_path: Path) -> None:
        ##= man/spec/knowledge.md#storage
        ##= type=test
        ##% An ingest run MUST replace the index of an older version, and with `--full` a damaged one, but no other file
        ##% and not the index of a newer version.
        (tmp_path / "knowledge.db").write_bytes(b"SQLite format 3\0")
        (tmp_path / "knowledge.db-wal").touch()
        (tmp_path / "work.py").touch()
        with pytest.raises(StoreDamagedError) as caught:
            open_store(str(tmp_path / "knowledge.db"))
        assert caught.value.hint.endswith("remove knowledge.db and knowledge.db-wal, and take everything in again")

    def test_a_mistake_of_ours_is_no_damage(self, file: Path) -> None:
        with closing(open_store(str(file))) as store:
            assert isinstance(store, SqliteStore)
            with pytest.raises(TypeError):
                store.around("Subsystem:Kitchen", cast(int, "three"))
            with pytest.raises(StoreError) as caught:
                store.database.rows("SELEKT 1")
            assert not isinstance(caught.value, StoreDamagedError)

    @pytest.mark.parametrize("name", ODD)
    def test_nothing_else_goes_wrong_when_it_is_written(self, file: Path, name: str) -> None:
        ODD[name](file)
        try:
            with closing(open_store(str(file), create=True)) as store:
                fill(store)
                everything(store)
        except StoreDamagedError as error:
            assert error.path == str(file)

    def test_wherever_it_is_overwritten(self, file: Path) -> None:
        whole, chance, told = file.read_bytes(), random.Random(1), 0
        full = [at for at, byte in enumerate(whole) if byte]
        for _ in range(150):
            data = bytearray(whole)
            at, length = chance.choice(full), chance.choice([1, 16, 4096])
            data[at : at + length] = chance.randbytes(len(data[at : at + length]))
            file.write_bytes(data)
            try:
                with closing(open_store(str(file))) as store:
                    everything(store)
            except StoreError as error:
                told += 1
                assert error.path == str(file)
                assert error.hint
        assert told > 30

    def test_one_that_was_closed(self, file: Path) -> None:
        store = open_store(str(file))
        store.close()
        store.close()
        with pytest.raises(StoreError, match="it can't be asked"):
            store.artifacts()


def test_a_store_does_nothing_of_its_own(file: Path) -> None:
    with closing(open_store(str(file))) as store:
        assert isinstance(store, SqliteStore)
        assert store.database.rows("PRAGMA trusted_schema") == [(0,)]
