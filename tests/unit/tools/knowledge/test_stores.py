"""Stores that are missing, of another version, locked, damaged, or changed while they are asked."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.knowledge.index import Knowledge, OpenStore
from duvet.store.location import open_store
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.tool import KNOWLEDGE_SERVICE
from tests.unit.knowledge.stored import RUN, STORE, fill
from tests.unit.tools.knowledge.made import CALLS, STATUS, Asking
from tests.unit.tools.made import FILES, Fixed, context_of


def version(number: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version={number}")
        connection.close()

    return change


def shorten(path: Path) -> None:
    os.truncate(path, 5000)


def overwrite(path: Path) -> None:
    path.write_bytes(b"no database at all, but text " * 500)


def spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_instead(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "older": (version(1), "store.db: an older duvet has made it: its schema is 1"),
    "newer": (version(99), "store.db: a newer duvet has made it: its schema is 99"),
    "cut off": (shorten, "store.db: it is damaged, or no store of duvet"),
    "overwritten": (overwrite, "store.db: it is damaged, or no store of duvet"),
    "spoilt": (spoil, "store.db: it is damaged, or no store of duvet"),
    "a folder": (folder_instead, "store.db: it is damaged, or no store of duvet"),
    "a link": (link_instead, "store.db: it is a link"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(tmp_path: Path, fault: str) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% When the index is missing, locked, damaged or of another version, these tools MUST answer `upstream_error` with
    ##% a remedy, and recover without a restart.
    known = Asking(fill(tmp_path / "project"))
    whole = shutil.copytree(known.file.parent, tmp_path / "whole")
    breaks, expected = FAULTS[fault]
    breaks(known.file)
    for tool, arguments in {**CALLS, STATUS: {}}.items():
        code, message, hint = known.refusal(tool, **arguments)
        assert code == "upstream_error" and message.startswith(expected), message
        assert hint.endswith("; then ask again") and str(tmp_path) not in message + hint
        assert "duvet ingest" not in hint
    shutil.rmtree(known.file.parent)
    shutil.copytree(whole, known.file.parent)
    for tool, arguments in {**CALLS, STATUS: {}}.items():
        assert known.value(tool, **arguments)["status"] == "ok"
    known.knowledge.close()


def test_a_store_that_is_put_right_where_it_stands(known: Asking) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% When the index is missing, locked, damaged or of another version, these tools MUST answer `upstream_error` with
    ##% a remedy, and recover without a restart.
    whole = known.file.read_bytes()
    first_page = int.from_bytes(whole[16:18])
    known.file.write_bytes(whole[:first_page].ljust(len(whole), b"\0"))
    assert "it is damaged" in known.refusal("km-coverage-summary")[1]
    file = known.file.stat().st_ino
    known.file.write_bytes(whole)
    assert known.file.stat().st_ino == file
    assert known.value("km-coverage-summary")["status"] == "ok"


def test_missing(tmp_path: Path) -> None:
    known = Asking(tmp_path)
    for tool, arguments in CALLS.items():
        code, message, hint = known.refusal(tool, **arguments)
        assert (code, message) == ("upstream_error", "nothing was taken in of this project yet")
        assert hint == "take in what is in it first; then ask again"
        assert known.refusal(tool, "shell", **arguments)[2].endswith("; `duvet ingest` takes everything in")
    assert list(tmp_path.iterdir()) == []
    fill(tmp_path)
    assert known.value(STATUS)["run_id"] == "r1"
    known.knowledge.close()


def test_a_store_without_a_run(tmp_path: Path) -> None:
    (tmp_path / STORE).parent.mkdir(parents=True)
    open_store(str(tmp_path / STORE), create=True).close()
    known = Asking(tmp_path)
    for tool in ("km-coverage-summary", "km-lifecycle-report"):
        assert known.refusal(tool)[:2] == ("upstream_error", "nothing was taken in of this project yet")
    assert known.value("km-graph-search", term="kettle")["results"] == []
    assert known.value(STATUS) == {"status": "not_found"}
    known.knowledge.close()


def test_a_store_that_is_written(known: Asking) -> None:
    store = open_store(str(known.file), create=True)
    with store.writing() as writing:
        writing.put_run(replace(RUN, run_id="r2"))
        for tool, arguments in CALLS.items():
            assert known.value(tool, **arguments)["status"] == "ok"
        assert known.value(STATUS)["run_id"] == "r1"
    store.close()
    assert known.value(STATUS)["run_id"] == "r2"


def test_a_store_in_the_place_of_another(known: Asking) -> None:
    assert known.value(STATUS)["run_id"] == "r1"
    shutil.rmtree(known.file.parent)
    assert known.refusal("km-coverage-summary")[1] == "nothing was taken in of this project yet"
    fill(known.folder, [replace(RUN, run_id="r2")])
    assert known.value(STATUS)["run_id"] == "r2"


def test_a_run_that_ends_meanwhile(known: Asking) -> None:
    runs = iter(range(2, 99))

    def question(here: OpenStore) -> tuple[str, int]:
        run = here.store.runs(limit=1)[0].run_id
        other = open_store(str(known.file), create=True)
        with other.writing() as writing:
            for path in other.artifacts():
                writing.remove(path)
            writing.put_run(replace(RUN, run_id=f"r{next(runs)}"))
        other.close()
        return run, len(here.store.artifacts())

    assert [known.knowledge.ask(question) for _ in range(2)] == [("r1", 8), ("r2", 0)]


def test_a_desk_that_knows_nothing(known: Asking) -> None:
    desk = ToolDispatcher(Registry(known.desk.registry.every_pack), Fixed(context_of(FILES)))
    other = Asking(known.folder)
    other.desk = desk
    assert other.refusal("km-coverage-summary")[0] == "upstream_error"
    assert KNOWLEDGE_SERVICE not in desk.environment.services


def test_other_rules_are_in_force_with_the_next_question(known: Asking, tmp_path: Path) -> None:
    assert known.value(STATUS)["run_id"] == "r1"
    elsewhere = fill(tmp_path / "elsewhere", [replace(RUN, run_id="r9")])
    other = Asking(elsewhere)
    known.knowledge.use_settings(other.knowledge.rules)
    assert known.value(STATUS)["run_id"] == "r9"
    assert isinstance(known.knowledge, Knowledge)
