"""Untrusted archives: a restore refuses everything but backups, and then changes nothing."""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json

from duvet.errors import DuvetError, NotRegularError, OutputError
from duvet.knowledge.backup import ArchiveError, create_backup
from duvet.knowledge.restore import restore_backup
from duvet.store.database import StoreDamagedError
from duvet.store.location import StorePaths
from tests.unit.knowledge.archives import Member, manifest, member, packed
from tests.unit.knowledge.stored_project import CLOCK, ask_store, places

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


@pytest.mark.parametrize("name", HOSTILE)
def test_archives_that_are_not_backups_are_refused(unchanged: StorePaths, tmp_path: Path, name: str) -> None:
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST refuse an archive that contains unexpected files or differs from its manifest, and change
    ##% nothing.
    path, content = tmp_path / "a.tgz", HOSTILE[name]
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        packed(path, content)
    for project in (unchanged, places(tmp_path / "empty")):
        with pytest.raises((ArchiveError, StoreDamagedError)):
            restore_backup(project, str(path), CLOCK)
    assert not (tmp_path / "empty").exists()


def test_a_cut_or_extended_archive_is_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    archive = create_backup(unchanged, str(tmp_path / "a.tgz"), CLOCK).path
    whole = Path(archive).read_bytes()
    for size in (0, 1, 2000, -9, -1):
        Path(archive).write_bytes(whole[:size])
        with pytest.raises(DuvetError):
            restore_backup(unchanged, archive, CLOCK)
    Path(archive).write_bytes(whole + gzip.compress(bytes(8 << 20)))
    with pytest.raises(ArchiveError, match="more bytes than its manifest lists"):
        restore_backup(unchanged, archive, CLOCK)


def test_bombs_and_long_headers_are_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    zeros = bytes(80 << 20)
    for parts in (
        [GOOD, member("store.db", zeros)],
        [member("manifest.json", zeros)],
        [member("x", zeros, tarfile.XHDTYPE), GOOD],
        [member("x", zeros, tarfile.GNUTYPE_LONGNAME), GOOD],
    ):
        with pytest.raises(ArchiveError):
            restore_backup(unchanged, packed(tmp_path / "a.tgz", parts), CLOCK)
    claims = json.encode({**json.decode(GOOD[1]), "files": {"store.db": {"size": 1 << 60, "digest": ""}}})
    with pytest.raises(OutputError, match="not enough disk space for the 1,152,921,504,606,846,976 bytes") as caught:
        restore_backup(unchanged, packed(tmp_path / "a.tgz", [member("manifest.json", claims)]), CLOCK)
    assert caught.value.path == unchanged.folder
    # These headers claim a length that the archive doesn't have: a reader would report that it is cut off.
    for kind in HEADERS.values():
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 1 << 33
        (tmp_path / "a.tgz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)))
        with pytest.raises(ArchiveError, match="an entry that is not a regular file"):
            restore_backup(unchanged, str(tmp_path / "a.tgz"), CLOCK)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_pipe_is_refused(unchanged: StorePaths, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tgz")
    with pytest.raises(NotRegularError):
        restore_backup(unchanged, str(tmp_path / "a.tgz"), CLOCK)
