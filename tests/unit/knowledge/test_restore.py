import gzip
import io
import os
import shutil
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import json

from duvet.errors import DuvetError, NotRegularError, OutputError
from duvet.knowledge.backup import ArchiveError, create_backup
from duvet.knowledge.feedback import append_record
from duvet.knowledge.restore import restore_backup, swap_store
from duvet.store.database import StoreBusyError, StoreDamagedError
from duvet.store.location import StorePaths, open_store
from duvet.store.records import IngestRun
from tests.cli.damage import small_disk, small_files
from tests.unit.knowledge import stored_project
from tests.unit.knowledge.archives import Member, manifest, member, packed
from tests.unit.knowledge.stored_project import CLOCK, STAMP, ask_store, change_store, make_backup, places
from tests.unit.store.store_files import make_ingested_file, read_whole_store


def test_an_open_store_sees_the_restored_index(paths: StorePaths) -> None:
    before, archive = ask_store(paths.store), make_backup(paths)
    with closing(open_store(paths.store)) as server:
        with server.writing() as writing:
            writing.remove("docs/tea.md")
            writing.put(make_ingested_file("a.md", "kettle\n"))
        after = read_whole_store(server)
        found = restore_backup(paths, archive, CLOCK)
        assert read_whole_store(server) == ask_store(paths.store) == before != after
    assert os.path.basename(found.kept) == f"km-backup-{STAMP}-2.tgz"
    assert restore_backup(paths, found.kept, CLOCK, keeps=False).kept == ""
    assert ask_store(paths.store) == after
    assert len(os.listdir(paths.backups)) == 2


def test_a_file_that_is_not_a_store_is_saved_and_replaced(paths: StorePaths) -> None:
    before, archive = ask_store(paths.store), make_backup(paths)
    for keeps in (True, False):
        Path(paths.store).write_bytes(b"no store" * 999)
        found = restore_backup(paths, archive, CLOCK, keeps=keeps)
        assert ask_store(paths.store) == before
        if keeps:
            assert Path(found.kept, "store.db").read_bytes() == b"no store" * 999
        else:
            assert found.kept == ""
    assert len(os.listdir(paths.backups)) == 2


def test_a_restore_does_not_interrupt_a_writer(paths: StorePaths) -> None:
    archive = make_backup(paths)
    with closing(open_store(paths.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
        with pytest.raises(StoreBusyError):
            restore_backup(paths, archive, CLOCK, patience=0.0)
    assert "docs/tea.md" not in ask_store(paths.store, lambda store: store.artifacts())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_failed_writes_change_nothing(paths: StorePaths) -> None:
    before, archive = ask_store(paths.store), make_backup(paths)
    with small_files(5000):
        with pytest.raises(DuvetError):
            create_backup(paths, paths.backups, CLOCK)
        with pytest.raises(DuvetError):
            restore_backup(paths, archive, CLOCK)
    assert ask_store(paths.store) == before
    assert os.listdir(paths.backups) == [os.path.basename(archive)]
    assert sorted(os.listdir(paths.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_a_backup_is_restored_from_a_stream(paths: StorePaths) -> None:
    before, data = ask_store(paths.store), Path(make_backup(paths)).read_bytes()
    os.unlink(paths.store)
    with pytest.raises(ArchiveError) as caught:
        restore_backup(paths, "-", CLOCK, stream=io.BytesIO(data[:-9]))
    assert caught.value.path == "-"
    assert restore_backup(paths, "-", CLOCK, stream=io.BytesIO(data)).kept == ""
    assert ask_store(paths.store) == before


def test_nothing_is_written_through_a_linked_folder(paths: StorePaths, tmp_path: Path) -> None:
    archive = create_backup(paths, str(tmp_path / "a.tgz"), CLOCK).path
    linked = places(tmp_path / "linked")
    (tmp_path / "linked/.duvet").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked/.duvet/knowledge")
    for write in (
        lambda: restore_backup(linked, archive, CLOCK),
        lambda: append_record(linked, stored_project.vote("a::0", 1.0)),
        lambda: create_backup(linked, linked.backups, CLOCK),
    ):
        with pytest.raises(DuvetError):
            write()
    assert os.listdir(tmp_path / "elsewhere") == []


def runs(path: str) -> list[str]:
    return [run.run_id for run in ask_store(path, lambda store: store.runs())]


def test_a_run_that_ends_during_a_restore_is_backed_up(paths: StorePaths, tmp_path: Path) -> None:
    copy, names = str(tmp_path / "copy.db"), ["late", "later"]
    ask_store(paths.store, lambda store: store.copy_to(copy))

    def keep() -> str:
        path = make_backup(paths)
        if names:
            with closing(open_store(paths.store)) as store, store.writing() as writing:
                writing.put_run(IngestRun(run_id=names.pop(0), profile="local", started_at=1.0))
        return path

    archive = swap_store(paths, copy, keep, "", 1.0)
    assert runs(paths.store) == ["r1"]
    assert os.listdir(paths.backups) == [os.path.basename(archive)]
    restore_backup(paths, archive, CLOCK, keeps=False)
    assert runs(paths.store) == ["later", "late", "r1"]

    names += "abcde"
    with pytest.raises(StoreBusyError, match="the index keeps changing"):
        swap_store(paths, copy, keep, "", 1.0)
    assert (len(runs(paths.store)), os.listdir(paths.backups)) == (8, [os.path.basename(archive)])


@pytest.mark.parametrize("keeps", [True, False])
def test_the_log_of_a_removed_store_is_saved(paths: StorePaths, tmp_path: Path, keeps: bool) -> None:
    archive = create_backup(paths, str(tmp_path / "a.tgz"), CLOCK).path
    with closing(open_store(paths.store)) as store:
        before = read_whole_store(store)
        with store.writing() as writing:
            for number in range(50):
                writing.put(make_ingested_file(f"new/{number}.md", f"kettle {number}\n" * 500))
        with closing(open_store(paths.store)) as reader, reader.reading():
            reader.chunk_total()
            # The log is not written back while somebody reads.
            change_store(paths.store, "docs/tea.md")
            log = Path(f"{paths.store}-wal").read_bytes()
    assert len(log) > 32
    os.unlink(paths.store)
    Path(f"{paths.store}-wal").write_bytes(log)
    found = restore_backup(paths, archive, CLOCK, keeps=keeps)
    assert ask_store(paths.store) == before
    if keeps:
        assert os.path.basename(found.kept).startswith(f"km-backup-replaced-{STAMP}")
        assert Path(found.kept, "store.db-wal").read_bytes() == log
    else:
        assert (found.kept, os.listdir(paths.backups)) == ("", [])


FORCE = "free some disk space, or pass --force to skip the backup of the current index"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[StorePaths]:
    found = places(stored_project.fill(tmp_path / "tea"))
    with small_disk(Path(found.folder), 24 << 20):
        yield found


def leave_free(disk: StorePaths, size: float) -> None:
    filler = Path(disk.folder, "filler")
    filler.write_bytes(b"")
    filler.write_bytes(bytes(shutil.disk_usage(disk.folder).free - int(size)))


def test_a_restore_needs_room_for_both_indexes(disk: StorePaths, tmp_path: Path) -> None:
    small = create_backup(disk, str(tmp_path / "small.tgz"), CLOCK).path
    with closing(open_store(disk.store)) as store, store.writing() as writing:
        # This file hardly can be compressed.
        writing.put(make_ingested_file("large.md", "\n".join(os.urandom(500).hex() for _ in range(2000))))
    size = os.path.getsize(disk.store)
    before, archive = ask_store(disk.store), create_backup(disk, str(tmp_path / "a.tgz"), CLOCK).path
    change_store(disk.store, "docs/tea.md")
    after = ask_store(disk.store)
    for share in (2.5, 2.1):
        leave_free(disk, share * size)
        message = "not enough disk space to restore this backup and save the current index"
        with pytest.raises(OutputError, match=message) as caught:
            restore_backup(disk, archive, CLOCK)
        assert (caught.value.path, caught.value.hint) == (disk.folder, FORCE)
        assert sorted(os.listdir(disk.folder)) == [".gitignore", "filler", "store.db"]
        assert ask_store(disk.store) == after != before
    restore_backup(disk, archive, CLOCK, keeps=False)
    assert ask_store(disk.store) == before
    change_store(disk.store, "docs/tea.md")
    leave_free(disk, 3.2 * size)
    shutil.rmtree(os.path.dirname(restore_backup(disk, archive, CLOCK).kept))
    assert ask_store(disk.store) == before
    # A backup that is larger than the index needs as much room with and without --force.
    os.unlink(os.path.join(disk.folder, "filler"))
    restore_backup(disk, small, CLOCK, keeps=False)
    leave_free(disk, 2.8 * size)
    for keeps in (True, False):
        with pytest.raises(OutputError, match="not enough disk space to restore this backup") as caught:
            restore_backup(disk, archive, CLOCK, keeps=keeps)
        assert caught.value.hint == "free some disk space"
    leave_free(disk, 3.3 * size)
    restore_backup(disk, archive, CLOCK)
    assert ask_store(disk.store) == before
    # The index on a full disk can be read.
    leave_free(disk, 0)
    assert shutil.disk_usage(disk.folder).free == 0
    assert ask_store(disk.store) == before


def test_a_disk_that_fills_up_advises_force(paths: StorePaths, tmp_path: Path) -> None:
    archive = create_backup(paths, str(tmp_path / "a.tgz"), CLOCK).path
    os.mkdir(paths.backups)
    with small_disk(Path(paths.backups), 1 << 12), pytest.raises(OutputError) as caught:
        restore_backup(paths, archive, CLOCK)
    assert caught.value.hint == FORCE.replace("free some disk space", "fix this")


STORE = b"no store at all" * 99
GOOD, WHOLE = manifest({"store.db": STORE}), member("store.db", STORE)
ESCAPES = ("/etc/passwd", "../store.db", "reports/../../x", "store.db/x", "C:\\x", "\\\\host\\x", "")
LINKS = {"link": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE}
DEVICES = {"device": tarfile.CHRTYPE, "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE}
HEADERS = {"extended": tarfile.XHDTYPE, "global": tarfile.XGLTYPE, "long name": tarfile.GNUTYPE_LONGNAME}
HOSTILE: dict[str, list[Member] | bytes] = {
    "no bytes": b"",
    "zip": b"PK\3\4",
    "cut gzip header": b"\x1f\x8b",
    "broken gzip": b"\x1f\x8b\x08\0" + bytes(99),
    "zeros": bytes(9999),
    "no members": [],
    "no manifest": [WHOLE],
    "nothing but a manifest": [GOOD],
    "a manifest that is a link": [member("manifest.json", kind=tarfile.SYMTYPE, link="/etc/passwd")],
    "a manifest that is not JSON": [member("manifest.json", b"{")],
    "another format": [manifest({"store.db": STORE}, format=2), WHOLE],
    "an unknown name in the manifest": [manifest({"store.db": STORE, "../x": b""}), WHOLE],
    "neither a store nor feedback": [manifest({})],
    "another store": [GOOD, member("store.db", STORE[::-1])],
    "a shorter store": [GOOD, member("store.db", STORE[1:])],
    "twice": [GOOD, WHOLE, WHOLE],
    "no store of duvet": [GOOD, WHOLE],
    "a folder with the type of a file": [manifest({"store.db": b""}), member("store.db/", kind=tarfile.AREGTYPE)],
    **{f"header {name}": [member("x", b"10 path=x\n", kind), GOOD, WHOLE] for name, kind in HEADERS.items()},
    **{f"escape {name}": [GOOD, WHOLE, member(name, b"x")] for name in ESCAPES},
    **{f"a {name}": [GOOD, member("store.db", kind=kind, link="/etc/passwd")] for name, kind in LINKS.items()},
    **{f"a {name}": [GOOD, member("store.db", kind=kind)] for name, kind in DEVICES.items()},
}


@pytest.fixture
def unchanged(paths: StorePaths) -> Iterator[StorePaths]:
    """Return the paths of a project that the test must not change."""
    before = ask_store(paths.store), Path(paths.feedback).read_bytes()
    yield paths
    assert (ask_store(paths.store), Path(paths.feedback).read_bytes()) == before
    assert sorted(os.listdir(paths.folder)) == [".gitignore", "feedback.jsonl", "store.db"]


def test_archives_that_are_not_backups_are_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST refuse an archive that contains unexpected files or differs from its manifest, and change
    ##% nothing.
    for number, content in enumerate(HOSTILE.values()):
        path = tmp_path / f"{number}.tgz"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            packed(path, content)
        for project in (unchanged, places(tmp_path / "empty")):
            with pytest.raises((ArchiveError, StoreDamagedError)):
                restore_backup(project, str(path), CLOCK)
        assert not (tmp_path / "empty").exists()


def test_a_cut_or_extended_archive_and_a_pipe_are_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    archive = create_backup(unchanged, str(tmp_path / "a.tgz"), CLOCK).path
    whole = Path(archive).read_bytes()
    for size in (0, 1, 2000, -9, -1):
        Path(archive).write_bytes(whole[:size])
        with pytest.raises(DuvetError):
            restore_backup(unchanged, archive, CLOCK)
    Path(archive).write_bytes(whole + gzip.compress(bytes(1 << 20)))
    with pytest.raises(ArchiveError, match="more bytes than its manifest lists"):
        restore_backup(unchanged, archive, CLOCK)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe.tgz")
        with pytest.raises(NotRegularError):
            restore_backup(unchanged, str(tmp_path / "pipe.tgz"), CLOCK)


def test_bombs_and_long_headers_are_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    zeros = bytes(4 << 20)
    for parts in (
        [GOOD, member("store.db", zeros)],
        [member("manifest.json", zeros)],
        [member("x", zeros, tarfile.XHDTYPE), GOOD],
        [member("x", zeros, tarfile.GNUTYPE_LONGNAME), GOOD],
    ):
        with pytest.raises(ArchiveError):
            restore_backup(unchanged, packed(tmp_path / "a.tgz", parts), CLOCK)
    claims = json.encode({**json.decode(GOOD[1]), "files": {"store.db": {"size": 1 << 60, "digest": ""}}})
    with pytest.raises(OutputError, match="the 1,152,921,504,606,846,976 bytes of this backup would") as caught:
        restore_backup(unchanged, packed(tmp_path / "a.tgz", [member("manifest.json", claims)]), CLOCK)
    assert caught.value.path == unchanged.folder
    # These headers claim a length that the archive doesn't have: a reader would report that it is cut off.
    for kind in HEADERS.values():
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 1 << 33
        (tmp_path / "a.tgz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)))
        with pytest.raises(ArchiveError, match="an entry that is not a regular file"):
            restore_backup(unchanged, str(tmp_path / "a.tgz"), CLOCK)
