"""Backups: what is in them."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from blake3 import blake3
from msgspec import json

from duvet.errors import DuvetError
from duvet.knowledge.backup import create_backup
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.store.database import SCHEMA_VERSION, StoreDamagedError, StoreMissingError
from duvet.version import VERSION
from tests.unit.knowledge.upkeep.archives import members
from tests.unit.knowledge.upkeep.made import CLOCK, STAMP, asked, made, places, program, some_lines

WRITE = """
import itertools, sys
from duvet.store.location import open_store
from tests.unit.store.made import taken
store = open_store(sys.argv[1])
for number in itertools.count():
    with store.writing(60.0) as writing:
        writing.put(taken("pair/a.md", f"kettle {number}\\n" * 500))
        writing.flush()
        writing.put(taken("pair/b.md", f"kettle {number}\\n" * 500))
    print(number, flush=True)
"""
"""Changes two files together, again and again."""


def test_what_is_in_one(kept: StorePaths) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% A backup MUST contain the index as of one moment, if there is one, the feedback, the history of reports, and a
    ##% manifest with versions and digests.
    first, second = made(kept), create_backup(kept, kept.backups, CLOCK)
    names = [f"km-backup-{STAMP}.tgz", f"km-backup-{STAMP}-2.tgz"]
    assert [os.path.relpath(one, kept.backups) for one in (first, second.path)] == names
    assert second.size == os.path.getsize(second.path)
    found = members(second.path)
    files = ["feedback.jsonl", "reports/coverage.jsonl", "reports/lifecycle.jsonl", "store.db"]
    assert list(found) == ["manifest.json", *files]
    manifest = json.decode(found["manifest.json"])
    assert manifest == {
        "format": 1,
        "duvet": VERSION,
        "schema": SCHEMA_VERSION,
        "revision": asked(kept.store, lambda store: store.revision),
        "created_at": CLOCK.isoformat(),
        "files": {name: {"size": len(found[name]), "digest": blake3(found[name]).hexdigest()} for name in files},
    }
    assert found["feedback.jsonl"] == Path(kept.feedback).read_bytes()
    assert json.decode(found["reports/coverage.jsonl"])["run"]["run_id"] == "r1"
    assert sorted(os.listdir(kept.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_a_file_is_not_replaced(kept: StorePaths, tmp_path: Path) -> None:
    path = str(tmp_path / "a.tar.gz")
    assert create_backup(kept, path, CLOCK).path == path
    with pytest.raises(DuvetError, match="already"):
        create_backup(kept, path, CLOCK)
    (tmp_path / "notes.md").touch()
    with pytest.raises(DuvetError, match="can't be called so"):
        create_backup(kept, str(tmp_path / "notes.md"), CLOCK)
    assert sorted(os.listdir(tmp_path)) == ["a.tar.gz", "notes.md", "tea"]


def test_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError):
        made(places(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_damaged(kept: StorePaths) -> None:
    with closing(sqlite3.connect(kept.store)) as connection, connection:
        connection.execute("UPDATE report SET data = x'00'")
    with pytest.raises(StoreDamagedError) as caught:
        made(kept)
    assert caught.value.path == kept.store
    assert caught.value.hint.startswith("remove store.db ")


def test_a_store_that_cannot_be_copied(kept: StorePaths) -> None:
    with open(kept.store, "r+b") as file:
        file.truncate(os.path.getsize(kept.store) // 2)
    with pytest.raises(StoreDamagedError) as caught:
        made(kept)
    assert caught.value.path == kept.store


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_while_another_process_writes(kept: StorePaths) -> None:
    with program(WRITE, kept.store) as writer:
        some_lines(writer, 1)
        archives = []
        for _ in range(8):
            some_lines(writer, 1)
            archives.append(made(kept))
        writer.kill()
        writer.communicate()
    for archive in archives:
        restore_backup(kept, archive, CLOCK, keeps=False)
        a, b = asked(kept.store, lambda store: [store.chunks(store.chunk_numbers(f"pair/{one}.md")) for one in "ab"])
        assert [one.text for one in a] == [one.text for one in b] != []
