"""Archives that may come from anybody."""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from duvet.errors import DuvetError, NotRegularError, OutputError
from duvet.knowledge.backup import ArchiveError, create_backup
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.store.database import StoreDamagedError
from tests.unit.knowledge.upkeep.archives import GOOD, HOSTILE, member, packed
from tests.unit.knowledge.upkeep.made import CLOCK, asked, made


class TestHostile:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_it_is_refused(self, kept: StorePaths, tmp_path: Path, name: str) -> None:
        ##= man/spec/gateway.md#backups
        ##= type=test
        ##% `duvet restore` MUST change nothing for an archive that contains anything but a backup, differs from its
        ##% manifest, or does not fit on the disk.
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        with pytest.raises((ArchiveError, StoreDamagedError)):
            restore_backup(kept, packed(tmp_path / "a.tgz", HOSTILE[name]), CLOCK)
        self.check(kept, before)

    @pytest.mark.parametrize("size", [0, 1, 2000, -9, -1])
    def test_one_that_is_cut_off(self, kept: StorePaths, tmp_path: Path, size: int) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        whole = Path(made(kept)).read_bytes()
        (tmp_path / "a.tgz").write_bytes(whole[:size])
        os.unlink(os.path.join(kept.backups, os.listdir(kept.backups)[0]))
        os.rmdir(kept.backups)
        with pytest.raises(DuvetError):
            restore_backup(kept, str(tmp_path / "a.tgz"), CLOCK)
        self.check(kept, before)

    def test_bombs(self, kept: StorePaths, tmp_path: Path) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        zeros = bytes(80 << 20)
        for parts in (
            [GOOD, member("store.db", zeros)],
            [member("manifest.json", zeros)],
            [member("x", zeros, tarfile.XHDTYPE), GOOD],
            [member("x", zeros, tarfile.GNUTYPE_LONGNAME), GOOD],
        ):
            with pytest.raises(ArchiveError):
                restore_backup(kept, packed(tmp_path / "a.tgz", parts), CLOCK)
        claims = json.encode({**json.decode(GOOD[1]), "files": {"store.db": {"size": 1 << 60, "digest": ""}}})
        with pytest.raises(OutputError, match="there is no room for the 1,152,921,504,606,846,976 bytes") as caught:
            restore_backup(kept, packed(tmp_path / "a.tgz", [member("manifest.json", claims)]), CLOCK)
        assert caught.value.path == kept.folder
        self.check(kept, before)

    def test_what_comes_after_it(self, kept: StorePaths, tmp_path: Path) -> None:
        before = asked(kept.store), Path(kept.feedback).read_bytes()
        archive = create_backup(kept, str(tmp_path / "a.tgz"), CLOCK).path
        with gzip.open(archive, "ab") as file:
            file.write(bytes(8 << 20))
        with pytest.raises(ArchiveError, match="more than its manifest says"):
            restore_backup(kept, archive, CLOCK)
        self.check(kept, before)

    @pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
    def test_further_headers_are_not_read(self, kept: StorePaths, tmp_path: Path, kind: bytes) -> None:
        # It says that it is long, and isn't: who reads it would find that it is cut off.
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 1 << 33
        (tmp_path / "a.tgz").write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT)))
        with pytest.raises(ArchiveError, match="something that is no file"):
            restore_backup(kept, str(tmp_path / "a.tgz"), CLOCK)

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
    def test_a_pipe(self, kept: StorePaths, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "a.tgz")
        with pytest.raises(NotRegularError):
            restore_backup(kept, str(tmp_path / "a.tgz"), CLOCK)

    @pytest.mark.parametrize("data", [b"", b"PK\3\4", b"\x1f\x8b", b"\x1f\x8b\x08\0" + bytes(99), bytes(9999)])
    def test_what_is_no_archive(self, kept: StorePaths, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a.tgz").write_bytes(data)
        with pytest.raises(ArchiveError):
            restore_backup(kept, str(tmp_path / "a.tgz"), CLOCK)

    def test_what_is_not_there(self, kept: StorePaths, tmp_path: Path) -> None:
        with pytest.raises(DuvetError, match="os error 2"):
            restore_backup(kept, str(tmp_path / "a.tgz"), CLOCK)
        with pytest.raises(DuvetError, match="os error 21"):
            restore_backup(kept, str(tmp_path), CLOCK)

    def check(self, kept: StorePaths, before: tuple[Any, bytes]) -> None:
        assert (asked(kept.store), Path(kept.feedback).read_bytes()) == before
        assert sorted(os.listdir(kept.folder)) == [".gitignore", "feedback.jsonl", "store.db"]
