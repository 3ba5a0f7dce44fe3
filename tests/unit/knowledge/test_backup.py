import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from msgspec import json
from msgspec.structs import replace

from duvet.config.service_tables import IngestRule
from duvet.errors import OutputError
from duvet.knowledge.backup import create_backup, make_scratch_folder
from duvet.knowledge.ingest.files import find_ingest_files
from duvet.knowledge.restore import restore_backup
from duvet.store.database import SCHEMA_VERSION, StoreDamagedError
from duvet.store.location import StorePaths, open_store
from duvet.version import VERSION
from tests.unit.knowledge.archives import members
from tests.unit.knowledge.ingest.ingest_projects import project
from tests.unit.knowledge.stored_project import CLOCK, STAMP, Fork, Say, ask_store, make_backup, places
from tests.unit.store.store_files import make_ingested_file


def test_the_content_of_a_backup(paths: StorePaths) -> None:
    ##= man/spec/gateway.md#backups
    ##% A backup MUST contain a consistent copy of the index, the feedback and the history of reports, and a manifest
    ##% with digests.
    first, second = make_backup(paths), create_backup(paths, paths.backups, CLOCK)
    names = [f"km-backup-{STAMP}.tgz", f"km-backup-{STAMP}-2.tgz"]
    assert [os.path.relpath(one, paths.backups) for one in (first, second.path)] == names
    assert second.size == os.path.getsize(second.path)
    found = members(second.path)
    files = ["feedback.jsonl", "reports/coverage.jsonl", "reports/lifecycle.jsonl", "store.db"]
    assert list(found) == ["manifest.json", *files]
    assert json.decode(found["manifest.json"]) == {
        "format": 1,
        "duvet": VERSION,
        "schema": SCHEMA_VERSION,
        "revision": ask_store(paths.store, lambda store: store.revision),
        "created_at": CLOCK.isoformat(),
        "files": {name: {"size": len(found[name]), "digest": blake3(found[name]).hexdigest()} for name in files},
    }
    assert found["feedback.jsonl"] == Path(paths.feedback).read_bytes()
    assert json.decode(found["reports/coverage.jsonl"])["run"]["run_id"] == "r1"
    assert sorted(os.listdir(paths.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def damage_report(path: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE report SET data = x'00'")


@pytest.mark.parametrize("damage", [damage_report, lambda path: os.truncate(path, os.path.getsize(path) // 2)])
def test_a_damaged_store_is_not_backed_up(paths: StorePaths, damage: Callable[[str], None]) -> None:
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST check the whole index for damage before it makes or restores a backup.
    damage(paths.store)
    with pytest.raises(StoreDamagedError) as caught:
        make_backup(paths)
    assert caught.value.path == paths.store
    assert caught.value.hint.startswith("remove store.db, store.db-wal and store.db-shm, and run `duvet ingest`")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_backup_is_consistent_while_another_process_writes(paths: StorePaths) -> None:
    def write(say: Say) -> None:
        store = open_store(paths.store)
        for number in count():
            with store.writing(60.0) as writing:
                writing.put(make_ingested_file("pair/a.md", f"kettle {number}\n" * 500))
                writing.flush()
                writing.put(make_ingested_file("pair/b.md", f"kettle {number}\n" * 500))
            say(number)

    with Fork(write) as writer:
        writer.lines.readline()
        archives = []
        for _ in range(4):
            writer.lines.readline()
            archives.append(make_backup(paths))
        writer.kill()
    for archive in archives:
        restore_backup(paths, archive, CLOCK, keeps=False)
        a, b = ask_store(
            paths.store, lambda store: [store.chunks(store.chunk_numbers(f"pair/{one}.md")) for one in "ab"]
        )
        assert [one.text for one in a] == [one.text for one in b] != []


def begin_backup(place: Path, say: Say) -> None:
    with make_scratch_folder(str(place)) as folder:
        Path(folder, "feedback.jsonl").touch()
        say(folder)
        time.sleep(60)


class LastMoment(datetime):
    """Kills the process when everything is copied."""

    def isoformat(self, *words: Any, **others: Any) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def end_in_backup(tea: Path, destination: str, say: Say) -> None:
    create_backup(places(tea), destination, LastMoment.now(CLOCK.tzinfo))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def read_only(paths: StorePaths) -> Iterator[StorePaths]:
    for options in (["--bind", paths.folder], ["-o", "remount,bind,ro"]):
        if subprocess.run(["mount", *options, paths.folder], capture_output=True, check=False).returncode:
            pytest.skip("no separate disk")
    try:
        yield paths
    finally:
        subprocess.run(["umount", paths.folder], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_the_folder_of_a_killed_backup_is_not_indexed_and_removed_later(paths: StorePaths, tmp_path: Path) -> None:
    paths = replace(paths, store=str(tmp_path / "tea/var/s.db"), backups=str(tmp_path / "tea/var/backups"))
    os.makedirs(paths.folder)
    Path(paths.folder, ".gitignore").write_text("# mine\n")
    Path(paths.feedback).write_bytes(b"{}\n")
    with Fork(partial(begin_backup, Path(paths.folder))) as process:
        process.lines.readline()
        (left,) = Path(paths.folder).glob(".km-backup-*")
        Path(make_backup(paths)).unlink()
        # The other backup is still running.
        assert (left / "feedback.jsonl").exists()
        process.kill()
    assert (left / ".gitignore").read_text() == "*\n"
    found = find_ingest_files(project(tmp_path / "tea"), IngestRule(), ["var/feedback.jsonl"])[0]
    assert [path for path in found if path.startswith("var/")] == ["var/.gitignore"]
    make_backup(paths)
    assert not left.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_folders_of_killed_backups_elsewhere_are_removed(paths: StorePaths, tmp_path: Path, temporary: Path) -> None:
    def leave(place: Path) -> Path:
        with Fork(partial(begin_backup, place)) as process:
            left = Path(process.lines.readline().strip())
            process.kill()
        return left

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lefts = [leave(elsewhere), leave(temporary)]
    archive = create_backup(paths, str(elsewhere / "a.tgz"), CLOCK).path
    assert [one.exists() for one in lefts] == [False, False]
    left = leave(temporary)
    restore_backup(paths, archive, CLOCK)
    assert not left.exists()


def test_a_backup_leaves_a_read_only_project_alone(read_only: StorePaths, tmp_path: Path, temporary: Path) -> None:
    tea, other = tmp_path / "tea", tmp_path / "other"
    other.mkdir()
    for destination, place in ((tea / "a.tgz", temporary), (other / "a.tgz", other)):
        with Fork(partial(end_in_backup, tea, str(destination))) as process:
            pass
        assert process.status == signal.SIGKILL
        assert list(tea.rglob(".km-backup-*")) == []
        (left,) = place.glob(".km-backup-*")
        assert (left / "store.db").exists()
        assert create_backup(read_only, str(destination), CLOCK).path == str(destination)
        assert not left.exists()


def test_the_temporary_folder_is_in_the_first_writable_place(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with make_scratch_folder(str(tmp_path / "nowhere"), str(other)) as folder:
        assert os.path.dirname(folder) == str(other)
    with pytest.raises(OutputError) as caught, make_scratch_folder(str(tmp_path / "nowhere"), str(tmp_path / "gone")):
        pass
    assert (caught.value.path, os.listdir(other)) == (str(tmp_path / "nowhere"), [])
