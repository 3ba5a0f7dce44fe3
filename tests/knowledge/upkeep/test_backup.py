"""Backups: what is in them, and what comes back."""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from msgspec import json
from msgspec.structs import replace

from duvet.config.schema import IngestRule
from duvet.errors import DuvetError, NotRegularError, OutputError
from duvet.knowledge.ingest.finding import find_files
from duvet.knowledge.upkeep.backup import back_up
from duvet.knowledge.upkeep.manifest import ArchiveError
from duvet.knowledge.upkeep.places import Places
from duvet.knowledge.upkeep.restoring import restore
from duvet.knowledge.upkeep.scratch import scratch
from duvet.knowledge.upkeep.votes import submit, votes_in
from duvet.store.errors import BusyError, DamagedError, MissingError
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.schema import SCHEMA
from duvet.version import VERSION
from tests.knowledge.ingest.made import project
from tests.knowledge.stored import fill
from tests.knowledge.upkeep.made import CLOCK, STAMP, places, program, some_lines, vote
from tests.store.made import taken
from tests.store.test_faults import everything

WRITE = """
import itertools, sys
from duvet.store.opening import open_store
from tests.store.made import taken
store = open_store(sys.argv[1])
for number in itertools.count():
    with store.writing(60.0) as writing:
        writing.put(taken("pair/a.md", f"kettle {number}\\n" * 500))
        writing.flush()
        writing.put(taken("pair/b.md", f"kettle {number}\\n" * 500))
    print(number, flush=True)
"""
"""Changes two files together, again and again."""
FULL = """
import resource, sys
from pathlib import Path
from duvet.errors import DuvetError
from duvet.knowledge.upkeep.backup import back_up
from duvet.knowledge.upkeep.restoring import restore
from tests.knowledge.upkeep.made import CLOCK, places
kept = places(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for attempt in (lambda: back_up(kept, kept.backups, CLOCK), lambda: restore(kept, sys.argv[2], CLOCK)):
    try:
        attempt()
    except DuvetError as error:
        print(error, flush=True)
"""
LIMITED = """
import resource, sys
from pathlib import Path
from duvet.errors import DuvetError
from duvet.knowledge.upkeep.restoring import restore
from tests.knowledge.upkeep.made import CLOCK, places
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    restore(places(Path(sys.argv[1])), sys.argv[2], CLOCK, keeps=False)
except DuvetError as error:
    print(error, flush=True)
"""
KILLED = """
import os, sys, time
from duvet.knowledge.upkeep.scratch import scratch
with scratch(sys.argv[1]) as folder:
    open(os.path.join(folder, "feedback.jsonl"), "w").close()
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def kept(tmp_path: Path) -> Places:
    found = places(fill(tmp_path / "tea"))
    submit(found, vote("src/kettle/boil.py::0", 1.0, note="good"))
    return found


def made(kept: Places) -> str:
    return back_up(kept, kept.backups, CLOCK).path


def asked(path: str, question: Callable[[Store], Any] = everything) -> Any:
    with closing(open_store(path)) as store:
        return question(store)


def members(path: str) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
        return found


def test_what_is_in_one(kept: Places) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% A backup MUST hold the store as it is at one moment, the feedback, what is kept of reports, and a manifest with
    ##% the versions and a digest of each of them, and MUST NOT hold earlier backups.
    first, second = made(kept), back_up(kept, kept.backups, CLOCK)
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
        "schema": SCHEMA,
        "revision": asked(kept.store, lambda store: store.revision),
        "created_at": CLOCK.isoformat(),
        "files": {name: {"size": len(found[name]), "digest": blake3(found[name]).hexdigest()} for name in files},
    }
    assert found["feedback.jsonl"] == Path(kept.feedback).read_bytes()
    assert json.decode(found["reports/coverage.jsonl"])["run"]["run_id"] == "r1"
    assert sorted(os.listdir(kept.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_a_file_is_not_replaced(kept: Places, tmp_path: Path) -> None:
    path = str(tmp_path / "a.tar.gz")
    assert back_up(kept, path, CLOCK).path == path
    with pytest.raises(DuvetError, match="already"):
        back_up(kept, path, CLOCK)
    (tmp_path / "notes.md").touch()
    with pytest.raises(DuvetError, match="can't be called so"):
        back_up(kept, str(tmp_path / "notes.md"), CLOCK)
    assert sorted(os.listdir(tmp_path)) == ["a.tar.gz", "notes.md", "tea"]


def test_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(MissingError):
        made(places(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_feedback_without_a_store(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Where the store is gone, a backup MUST hold the feedback alone, and bring back nothing else.
    before = asked(kept.store)
    os.rename(kept.store, tmp_path / "store.db")
    archive = made(kept)
    assert list(members(archive)) == ["manifest.json", "feedback.jsonl"]
    os.unlink(kept.feedback)
    assert (restore(kept, archive, CLOCK).votes, os.path.exists(kept.store)) == (1, False)
    os.rename(tmp_path / "store.db", kept.store)
    os.unlink(kept.feedback)
    found = restore(kept, archive, CLOCK)
    assert (found.votes, found.kept, asked(kept.store)) == (1, "", before)


def test_a_store_that_is_damaged(kept: Places) -> None:
    with closing(sqlite3.connect(kept.store)) as connection, connection:
        connection.execute("UPDATE report SET data = x'00'")
    with pytest.raises(DamagedError) as caught:
        made(kept)
    assert caught.value.path == kept.store
    assert caught.value.hint.startswith("remove store.db ")


def test_a_store_that_cannot_be_copied(kept: Places) -> None:
    with open(kept.store, "r+b") as file:
        file.truncate(os.path.getsize(kept.store) // 2)
    with pytest.raises(DamagedError) as caught:
        made(kept)
    assert caught.value.path == kept.store


def test_it_comes_back_as_it_was(kept: Places) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `duvet restore` MUST put a backup in the place of the store at once and as a whole, also while servers have it
    ##% open, and MUST keep what was there before as another backup, unless `--force` is given.
    before, archive = asked(kept.store), made(kept)
    with closing(open_store(kept.store)) as server:
        with server.writing() as writing:
            writing.remove("docs/tea.md")
            writing.put(taken("a.md", "kettle\n"))
        after = everything(server)
        found = restore(kept, archive, CLOCK)
        assert everything(server) == asked(kept.store) == before != after
    assert os.path.basename(found.kept) == f"km-backup-{STAMP}-2.tgz"
    assert restore(kept, found.kept, CLOCK, keeps=False).kept == ""
    assert asked(kept.store) == after
    assert len(os.listdir(kept.backups)) == 2
    os.unlink(kept.store)
    assert restore(kept, archive, CLOCK).kept == ""
    assert asked(kept.store) == before


def test_in_the_place_of_what_is_no_store(kept: Places) -> None:
    before, archive = asked(kept.store), made(kept)
    Path(kept.store).write_bytes(b"no store" * 999)
    found = restore(kept, archive, CLOCK)
    assert asked(kept.store) == before
    assert Path(found.kept, "store.db").read_bytes() == b"no store" * 999
    Path(kept.store).write_bytes(b"no store" * 999)
    assert restore(kept, archive, CLOCK, keeps=False).kept == ""
    assert len(os.listdir(kept.backups)) == 2


def test_feedback_is_never_lost(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Neither a run, nor a store that is replaced, nor a backup that is restored MUST lose feedback: what was given since
    ##% stays, and what is missing comes back.
    archive = made(kept)
    submit(kept, vote("docs/tea.md::0", -1.0))
    os.unlink(kept.store)
    fill(tmp_path / "tea")
    assert restore(kept, archive, CLOCK).votes == 0
    assert [one.chunk_id for one in votes_in(kept.feedback)] == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    os.unlink(kept.feedback)
    submit(kept, vote("docs/tea.md::0", 0.5))
    assert restore(kept, archive, CLOCK).votes == 1
    assert [one.chunk_id for one in votes_in(kept.feedback)] == ["docs/tea.md::0", "src/kettle/boil.py::0"]


@pytest.mark.parametrize("line", [b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", b'{"a": "\xff"}', b"[]", b"{"])
def test_feedback_that_is_none(kept: Places, tmp_path: Path, line: bytes) -> None:
    found = members(made(kept))
    files = {"feedback.jsonl": line + b"\n", "store.db": found["store.db"]}
    archive = packed(tmp_path / "a.tgz", [manifest(files), *(member(*one) for one in files.items())])
    assert restore(kept, archive, CLOCK).votes == 0
    with open(kept.feedback, "ab") as file:
        file.write(line + b"\n")
    submit(kept, vote("docs/tea.md::0", -1.0))
    assert [one.chunk_id for one in votes_in(kept.feedback)] == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    assert members(back_up(kept, kept.backups, CLOCK).path)["feedback.jsonl"].count(b"\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_while_another_process_writes(kept: Places) -> None:
    with program(WRITE, kept.store) as writer:
        some_lines(writer, 1)
        archives = []
        for _ in range(8):
            some_lines(writer, 1)
            archives.append(made(kept))
        writer.kill()
        writer.communicate()
    for archive in archives:
        restore(kept, archive, CLOCK, keeps=False)
        a, b = asked(kept.store, lambda store: [store.chunks(store.chunk_numbers(f"pair/{one}.md")) for one in "ab"])
        assert [one.text for one in a] == [one.text for one in b] != []


def test_while_somebody_writes_nothing_is_put_back(kept: Places) -> None:
    archive = made(kept)
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
        with pytest.raises(BusyError):
            restore(kept, archive, CLOCK, patience=0.0)
    assert "docs/tea.md" not in asked(kept.store, lambda store: store.artifacts())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_without_room_everything_stays(kept: Places, tmp_path: Path) -> None:
    before, archive = asked(kept.store), made(kept)
    with program(FULL, tmp_path / "tea", archive) as process:
        assert len(process.communicate(timeout=60)[0].splitlines()) == 2
    assert asked(kept.store) == before
    assert os.listdir(kept.backups) == [os.path.basename(archive)]
    assert sorted(os.listdir(kept.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_one_that_could_be_packed_well(kept: Places) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% A backup that duvet has made MUST NOT be refused because of how well it could be packed.
    with open(kept.feedback, "ab") as file:
        file.writelines(
            b'{"request_id": "%d", "note": "%s"}\n' % (number, "🍵".encode() * 20_000) for number in range(900)
        )
    archive = made(kept)
    assert os.path.getsize(archive) * 200 < os.path.getsize(kept.feedback)
    os.unlink(kept.feedback)
    assert restore(kept, archive, CLOCK).votes == 901


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_feedback_comes_back_first(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `duvet restore` MUST bring feedback back before it replaces the store: where that can't be done, the store MUST
    ##% stay.
    archive = made(kept)
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
    before = asked(kept.store)
    limit = 4 * os.path.getsize(kept.store)
    line = b'{"request_id": "r", "note": "%s"}\n'
    Path(kept.feedback).write_bytes(line % (b"x" * (limit - len(line))))
    with program(LIMITED, tmp_path / "tea", archive, limit) as process:
        assert process.communicate(timeout=60)[0].startswith(f"{kept.feedback}: can't add to this file: ")
    assert asked(kept.store) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_what_one_has_left_that_was_killed(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% What a backup or a restore has left that was killed MUST NOT be taken in, and MUST be removed by the next one.
    kept = replace(kept, store=str(tmp_path / "tea/var/s.db"), backups=str(tmp_path / "tea/var/backups"))
    os.makedirs(kept.folder)
    Path(kept.folder, ".gitignore").write_text("# mine\n")
    Path(kept.feedback).write_bytes(b"{}\n")
    with program(KILLED, kept.folder) as process:
        some_lines(process, 1)
        (left,) = Path(kept.folder).glob(".km-backup-*")
        Path(made(kept)).unlink()
        # Somebody is at work there.
        assert (left / "feedback.jsonl").exists()
        process.kill()
    found = find_files(project(tmp_path / "tea"), IngestRule(), ["var/feedback.jsonl"]).paths
    assert [path for path in found if path.startswith("var/")] == ["var/.gitignore"]
    made(kept)
    assert not left.exists()


def test_where_the_store_can_not_be_written(kept: Places, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with scratch(str(tmp_path / "nowhere"), str(other)) as folder:
        assert os.path.dirname(folder) == str(other)
    with pytest.raises(OutputError) as caught, scratch(str(tmp_path / "nowhere"), str(tmp_path / "gone")):
        pass
    assert (caught.value.path, os.listdir(other)) == (str(tmp_path / "nowhere"), [])


def test_what_comes_out_of_a_stream(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `duvet restore -` MUST read the archive from standard input.
    before, data = asked(kept.store), Path(made(kept)).read_bytes()
    os.unlink(kept.store)
    with pytest.raises(ArchiveError) as caught:
        restore(kept, "-", CLOCK, stream=io.BytesIO(data[:-9]))
    assert caught.value.path == "-"
    assert restore(kept, "-", CLOCK, stream=io.BytesIO(data)).kept == ""
    assert asked(kept.store) == before


def test_nothing_is_left_of_what_failed(kept: Places, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Neither a restore nor a call without a token that fails MUST make the folder of the store where there is none.
    empty = tmp_path / "empty"
    empty.mkdir()
    for archive in ("nonexist", kept.store):
        with pytest.raises(DuvetError):
            restore(places(empty), archive, CLOCK)
    assert list(empty.iterdir()) == []


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    return info, data


def manifest(files: dict[str, bytes], **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    entries = {name: {"size": len(data), "digest": blake3(data).hexdigest()} for name, data in files.items()}
    told = {"format": 1, "duvet": "1", "schema": SCHEMA, "revision": "r", "created_at": "t", "files": entries, **more}
    return member("manifest.json", json.encode(told))


STORE = b"no store at all" * 99
GOOD = manifest({"store.db": STORE})
ESCAPES = ("/etc/passwd", "../store.db", "reports/../../x", "store.db/x", "C:\\x", "\\\\host\\x", "")
LINKS = {"link": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE}
DEVICES = {"device": tarfile.CHRTYPE, "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE, "folder": tarfile.DIRTYPE}
HOSTILE: dict[str, list[tuple[tarfile.TarInfo, bytes]]] = {
    "empty": [],
    "no manifest": [member("store.db", STORE)],
    "nothing but a manifest": [GOOD],
    "a manifest that is a link": [member("manifest.json", kind=tarfile.SYMTYPE, link="/etc/passwd")],
    "no JSON": [member("manifest.json", b"{")],
    "another format": [manifest({"store.db": STORE}, format=2), member("store.db", STORE)],
    "a manifest of everything": [manifest({"store.db": STORE, "../x": b""}), member("store.db", STORE)],
    "neither a store nor feedback": [manifest({})],
    "a further header": [member("x", b"10 path=x\n", tarfile.XHDTYPE), GOOD, member("store.db", STORE)],
    "a further header for all": [member("x", b"10 path=x\n", tarfile.XGLTYPE), GOOD, member("store.db", STORE)],
    "a long name": [member("x", b"manifest.json\0", tarfile.GNUTYPE_LONGNAME), GOOD, member("store.db", STORE)],
    "another store": [GOOD, member("store.db", STORE[::-1])],
    "a shorter store": [GOOD, member("store.db", STORE[1:])],
    "twice": [GOOD, member("store.db", STORE), member("store.db", STORE)],
    "no store of duvet": [GOOD, member("store.db", STORE)],
    **{f"escape {name}": [GOOD, member("store.db", STORE), member(name, b"x")] for name in ESCAPES},
    **{f"a {name}": [GOOD, member("store.db", kind=kind, link="/etc/passwd")] for name, kind in LINKS.items()},
    **{f"a {name}": [GOOD, member("store.db", kind=kind)] for name, kind in DEVICES.items()},
}


def packed(path: Path, parts: list[tuple[tarfile.TarInfo, bytes]]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for info, data in parts:
            archive.addfile(info, io.BytesIO(data))
    return str(path)


class TestHostile:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_it_is_refused(self, kept: Places, tmp_path: Path, name: str) -> None:
        ##= man/spec/gateway.md#maintenance
        ##= type=test
        ##% An archive MUST be refused, and nothing be changed, where it holds anything but the files of a backup, such as
        ##% a link, a device or a path that leads elsewhere, where a file is not what its manifest says, or where it
        ##% unpacks to more than that or than half of the room that there is.
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        with pytest.raises((ArchiveError, DamagedError)):
            restore(kept, packed(tmp_path / "a.tgz", HOSTILE[name]), CLOCK)
        self.check(kept, before)

    @pytest.mark.parametrize("size", [0, 1, 2000, -9, -1])
    def test_one_that_is_cut_off(self, kept: Places, tmp_path: Path, size: int) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        whole = Path(made(kept)).read_bytes()
        (tmp_path / "a.tgz").write_bytes(whole[:size])
        os.unlink(os.path.join(kept.backups, os.listdir(kept.backups)[0]))
        os.rmdir(kept.backups)
        with pytest.raises(DuvetError):
            restore(kept, str(tmp_path / "a.tgz"), CLOCK)
        self.check(kept, before)

    def test_bombs(self, kept: Places, tmp_path: Path) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        zeros = bytes(80 << 20)
        for parts in (
            [GOOD, member("store.db", zeros)],
            [member("manifest.json", zeros)],
            [member("x", zeros, tarfile.XHDTYPE), GOOD],
            [member("x", zeros, tarfile.GNUTYPE_LONGNAME), GOOD],
        ):
            with pytest.raises(ArchiveError):
                restore(kept, packed(tmp_path / "a.tgz", parts), CLOCK)
        claims = json.encode({**json.decode(GOOD[1]), "files": {"store.db": {"size": 1 << 60, "digest": ""}}})
        with pytest.raises(OutputError, match="there is no room for the 1,152,921,504,606,846,976 bytes") as caught:
            restore(kept, packed(tmp_path / "a.tgz", [member("manifest.json", claims)]), CLOCK)
        assert caught.value.path == kept.folder
        self.check(kept, before)

    def test_what_comes_after_it(self, kept: Places, tmp_path: Path) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        archive = back_up(kept, str(tmp_path / "a.tgz"), CLOCK).path
        with gzip.open(archive, "ab") as file:
            file.write(bytes(8 << 20))
        with pytest.raises(ArchiveError, match="more than its manifest says"):
            restore(kept, archive, CLOCK)
        self.check(kept, before)

    @pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
    def test_further_headers_are_not_read(self, kept: Places, tmp_path: Path, kind: bytes) -> None:
        # It says that it is long, and isn't: who reads it would find that it is cut off.
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 1 << 33
        (tmp_path / "a.tgz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)))
        with pytest.raises(ArchiveError, match="something that is no file"):
            restore(kept, str(tmp_path / "a.tgz"), CLOCK)

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
    def test_a_pipe(self, kept: Places, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "a.tgz")
        with pytest.raises(NotRegularError):
            restore(kept, str(tmp_path / "a.tgz"), CLOCK)

    @pytest.mark.parametrize("data", [b"", b"PK\3\4", b"\x1f\x8b", b"\x1f\x8b\x08\0" + bytes(99), bytes(9999)])
    def test_what_is_no_archive(self, kept: Places, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a.tgz").write_bytes(data)
        with pytest.raises(ArchiveError):
            restore(kept, str(tmp_path / "a.tgz"), CLOCK)

    def test_what_is_not_there(self, kept: Places, tmp_path: Path) -> None:
        with pytest.raises(DuvetError, match="os error 2"):
            restore(kept, str(tmp_path / "a.tgz"), CLOCK)
        with pytest.raises(DuvetError, match="os error 21"):
            restore(kept, str(tmp_path), CLOCK)

    def check(self, kept: Places, before: tuple[Any, bytes]) -> None:
        assert (asked(kept.store), Path(kept.feedback).read_bytes()) == before
        assert sorted(os.listdir(kept.folder)) == [".gitignore", "feedback.jsonl", "store.db"]


def test_a_folder_behind_a_link_is_left_alone(kept: Places, tmp_path: Path) -> None:
    archive = str(tmp_path / "a.tgz")
    back_up(kept, archive, CLOCK)
    linked = places(tmp_path / "linked")
    (tmp_path / "linked/.duvet").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked/.duvet/knowledge")
    with pytest.raises(DuvetError):
        restore(linked, archive, CLOCK)
    with pytest.raises(DuvetError):
        submit(linked, vote("a::0", 1.0))
    with pytest.raises(DuvetError):
        back_up(linked, linked.backups, CLOCK)
    assert os.listdir(tmp_path / "elsewhere") == []
