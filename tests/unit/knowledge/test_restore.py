"""Restoring the index, with concurrent processes, and on a full disk."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.errors import DuvetError, OutputError
from duvet.knowledge.backup import ArchiveError, create_backup
from duvet.knowledge.feedback import submit_vote
from duvet.knowledge.restore import advise_force, restore_backup, swap_store
from duvet.store.database import StoreBusyError
from duvet.store.location import StorePaths, open_store
from duvet.store.records import IngestRun
from tests.cli.damage import small_disk
from tests.unit.knowledge import stored_project
from tests.unit.store.store_files import make_ingested_file, read_whole_store

FULL = """
import resource, sys
from pathlib import Path
from duvet.errors import DuvetError
from duvet.knowledge.backup import create_backup
from duvet.knowledge.restore import restore_backup
from tests.unit.knowledge.stored_project import CLOCK, places
paths = places(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for attempt in (lambda: create_backup(paths, paths.backups, CLOCK), lambda: restore_backup(paths, sys.argv[2], CLOCK)):
    try:
        attempt()
    except DuvetError as error:
        print(error, flush=True)
"""


def test_an_open_store_sees_the_restored_index(paths: StorePaths) -> None:
    before, archive = stored_project.ask_store(paths.store), stored_project.make_backup(paths)
    with closing(open_store(paths.store)) as server:
        with server.writing() as writing:
            writing.remove("docs/tea.md")
            writing.put(make_ingested_file("a.md", "kettle\n"))
        after = read_whole_store(server)
        found = restore_backup(paths, archive, stored_project.CLOCK)
        assert read_whole_store(server) == stored_project.ask_store(paths.store) == before != after
    assert os.path.basename(found.kept) == f"km-backup-{stored_project.STAMP}-2.tgz"
    assert restore_backup(paths, found.kept, stored_project.CLOCK, keeps=False).kept == ""
    assert stored_project.ask_store(paths.store) == after
    assert len(os.listdir(paths.backups)) == 2


def test_a_file_that_is_not_a_store_is_saved_and_replaced(paths: StorePaths) -> None:
    before, archive = stored_project.ask_store(paths.store), stored_project.make_backup(paths)
    for keeps in (True, False):
        Path(paths.store).write_bytes(b"no store" * 999)
        found = restore_backup(paths, archive, stored_project.CLOCK, keeps=keeps)
        assert stored_project.ask_store(paths.store) == before
        if keeps:
            assert Path(found.kept, "store.db").read_bytes() == b"no store" * 999
        else:
            assert found.kept == ""
    assert len(os.listdir(paths.backups)) == 2


def test_a_restore_does_not_interrupt_a_writer(paths: StorePaths) -> None:
    archive = stored_project.make_backup(paths)
    with closing(open_store(paths.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
        with pytest.raises(StoreBusyError):
            restore_backup(paths, archive, stored_project.CLOCK, patience=0.0)
    assert "docs/tea.md" not in stored_project.ask_store(paths.store, lambda store: store.artifacts())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_failed_writes_change_nothing(paths: StorePaths, tmp_path: Path) -> None:
    before, archive = stored_project.ask_store(paths.store), stored_project.make_backup(paths)
    with stored_project.run_program(FULL, tmp_path / "tea", archive) as process:
        assert len(process.communicate(timeout=60)[0].splitlines()) == 2
    assert stored_project.ask_store(paths.store) == before
    assert os.listdir(paths.backups) == [os.path.basename(archive)]
    assert sorted(os.listdir(paths.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_a_backup_is_restored_from_a_stream(paths: StorePaths) -> None:
    before, data = stored_project.ask_store(paths.store), Path(stored_project.make_backup(paths)).read_bytes()
    os.unlink(paths.store)
    with pytest.raises(ArchiveError) as caught:
        restore_backup(paths, "-", stored_project.CLOCK, stream=io.BytesIO(data[:-9]))
    assert caught.value.path == "-"
    assert restore_backup(paths, "-", stored_project.CLOCK, stream=io.BytesIO(data)).kept == ""
    assert stored_project.ask_store(paths.store) == before


def test_nothing_is_written_through_a_linked_folder(paths: StorePaths, tmp_path: Path) -> None:
    archive = create_backup(paths, str(tmp_path / "a.tgz"), stored_project.CLOCK).path
    linked = stored_project.places(tmp_path / "linked")
    (tmp_path / "linked/.duvet").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked/.duvet/knowledge")
    for write in (
        lambda: restore_backup(linked, archive, stored_project.CLOCK),
        lambda: submit_vote(linked, stored_project.vote("a::0", 1.0)),
        lambda: create_backup(linked, linked.backups, stored_project.CLOCK),
    ):
        with pytest.raises(DuvetError):
            write()
    assert os.listdir(tmp_path / "elsewhere") == []


def record_run(paths: StorePaths, name: str) -> None:
    with closing(open_store(paths.store)) as store, store.writing() as writing:
        writing.put_run(IngestRun(run_id=name, profile="local", started_at=1.0))


def runs(path: str) -> list[str]:
    return [run.run_id for run in stored_project.ask_store(path, lambda store: store.runs())]


def test_a_run_that_ends_during_a_restore_is_backed_up(paths: StorePaths, tmp_path: Path) -> None:
    copy, names = str(tmp_path / "copy.db"), ["late", "later"]
    stored_project.ask_store(paths.store, lambda store: store.copy_to(copy))

    def keep() -> str:
        path = stored_project.make_backup(paths)
        if names:
            record_run(paths, names.pop(0))
        return path

    archive = swap_store(paths, copy, keep, "", 1.0)
    assert runs(paths.store) == ["r1"]
    assert os.listdir(paths.backups) == [os.path.basename(archive)]
    restore_backup(paths, archive, stored_project.CLOCK, keeps=False)
    assert runs(paths.store) == ["later", "late", "r1"]

    def keep_and_run() -> str:
        path = stored_project.make_backup(paths)
        record_run(paths, path)
        return path

    with pytest.raises(StoreBusyError, match="the index keeps changing"):
        swap_store(paths, copy, keep_and_run, "", 1.0)
    assert (len(runs(paths.store)), os.listdir(paths.backups)) == (8, [os.path.basename(archive)])


@pytest.mark.parametrize("keeps", [True, False])
def test_the_log_of_a_removed_store_is_saved(paths: StorePaths, tmp_path: Path, keeps: bool) -> None:
    archive = create_backup(paths, str(tmp_path / "a.tgz"), stored_project.CLOCK).path
    with closing(open_store(paths.store)) as store:
        before = read_whole_store(store)
        with store.writing() as writing:
            for number in range(50):
                writing.put(make_ingested_file(f"new/{number}.md", f"kettle {number}\n" * 500))
        with closing(open_store(paths.store)) as reader, reader.reading():
            reader.chunk_total()
            # The log is not written back while somebody reads.
            stored_project.change_store(paths.store, "docs/tea.md")
            log = Path(f"{paths.store}-wal").read_bytes()
    assert len(log) > 32
    os.unlink(paths.store)
    Path(f"{paths.store}-wal").write_bytes(log)
    found = restore_backup(paths, archive, stored_project.CLOCK, keeps=keeps)
    assert stored_project.ask_store(paths.store) == before
    if keeps:
        assert os.path.basename(found.kept).startswith(f"km-backup-replaced-{stored_project.STAMP}")
        assert Path(found.kept, "store.db-wal").read_bytes() == log
    else:
        assert (found.kept, os.listdir(paths.backups)) == ("", [])


FORCE = "free some disk space, or pass --force to skip the backup of the current index"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[StorePaths]:
    """Index a project on a small separate disk."""
    found = stored_project.places(stored_project.fill(tmp_path / "tea"))
    with small_disk(Path(found.folder), 24 << 20):
        yield found


def leave_free(disk: StorePaths, size: float) -> Path:
    filler = Path(disk.folder, "filler")
    filler.write_bytes(bytes(shutil.disk_usage(disk.folder).free - int(size)))
    return filler


@pytest.mark.parametrize("share", [2.1, 2.5, 3.2])
def test_a_restore_needs_room_for_both_indexes(disk: StorePaths, tmp_path: Path, share: float) -> None:
    small = create_backup(disk, str(tmp_path / "small.tgz"), stored_project.CLOCK).path
    with closing(open_store(disk.store)) as store, store.writing() as writing:
        # This file hardly can be compressed.
        writing.put(make_ingested_file("large.md", "\n".join(os.urandom(500).hex() for _ in range(2000))))
    size = os.path.getsize(disk.store)
    before, archive = (
        stored_project.ask_store(disk.store),
        create_backup(disk, str(tmp_path / "a.tgz"), stored_project.CLOCK).path,
    )
    stored_project.change_store(disk.store, "docs/tea.md")
    after = stored_project.ask_store(disk.store)
    filler = leave_free(disk, share * size)
    if share < 3:
        with pytest.raises(
            OutputError, match="not enough disk space to restore this backup and save the current index"
        ) as caught:
            restore_backup(disk, archive, stored_project.CLOCK)
        assert (caught.value.path, caught.value.hint) == (disk.folder, FORCE)
        assert sorted(os.listdir(disk.folder)) == [".gitignore", "filler", "store.db"]
        assert stored_project.ask_store(disk.store) == after != before
    restore_backup(disk, archive, stored_project.CLOCK, keeps=share > 3)
    assert stored_project.ask_store(disk.store) == before
    # A backup that is larger than the index needs as much room with and without --force.
    filler.unlink()
    restore_backup(disk, small, stored_project.CLOCK, keeps=False)
    filler = leave_free(disk, 2.8 * size)
    for keeps in (True, False):
        with pytest.raises(OutputError, match="not enough disk space to restore this backup") as caught:
            restore_backup(disk, archive, stored_project.CLOCK, keeps=keeps)
        assert caught.value.hint == "free some disk space"
    filler.unlink()
    leave_free(disk, 3.3 * size)
    restore_backup(disk, archive, stored_project.CLOCK, keeps=share > 3)
    assert stored_project.ask_store(disk.store) == before


def test_an_index_on_a_full_disk_is_read(disk: StorePaths) -> None:
    before = stored_project.ask_store(disk.store)
    leave_free(disk, 0)
    assert shutil.disk_usage(disk.folder).free == 0
    assert stored_project.ask_store(disk.store) == before


def test_a_disk_that_fills_up_advises_force(disk: StorePaths) -> None:
    leave_free(disk, 1 << 16)
    with pytest.raises(OutputError) as caught, advise_force():
        stored_project.make_backup(disk)
    assert caught.value.hint == FORCE
