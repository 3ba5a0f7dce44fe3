"""What is in between while a backup is made, and what is left of it where that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.errors import OutputError
from duvet.knowledge.backup import create_backup, make_scratch_folder
from duvet.knowledge.ingest.files import find_ingest_files
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from tests.unit.knowledge.ingest.made import project
from tests.unit.knowledge.upkeep.made import CLOCK, made, program, some_lines

KILLED = """
import os, sys, time
from duvet.knowledge.backup import make_scratch_folder
with make_scratch_folder(sys.argv[1]) as folder:
    open(os.path.join(folder, "feedback.jsonl"), "w").close()
    print(folder, flush=True)
    time.sleep(60)
"""
DYING = """
import os, sys, tempfile
from datetime import datetime
from pathlib import Path
from duvet.knowledge.backup import create_backup
from tests.unit.knowledge.upkeep.made import CLOCK, places
class Last(datetime):
    def isoformat(self, *words, **others):
        os.kill(os.getpid(), 9)
tempfile.tempdir = sys.argv[2]
create_backup(places(Path(sys.argv[1])), sys.argv[3], Last.now(CLOCK.tzinfo))
"""
"""Is killed once everything is copied."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def read_only(kept: StorePaths) -> Iterator[StorePaths]:
    """The same on a disk that nobody may write to."""
    for options in (["--bind", kept.folder], ["-o", "remount,bind,ro"]):
        if subprocess.run(["mount", *options, kept.folder], capture_output=True, check=False).returncode:
            pytest.skip("no disk of its own")
    try:
        yield kept
    finally:
        subprocess.run(["umount", kept.folder], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_what_one_has_left_that_was_killed(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST skip what git ignores, links, and what duvet itself has made, including backups.
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
    assert (left / ".gitignore").read_text() == "*\n"
    found = find_ingest_files(project(tmp_path / "tea"), IngestRule(), ["var/feedback.jsonl"]).paths
    assert [path for path in found if path.startswith("var/")] == ["var/.gitignore"]
    made(kept)
    assert not left.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_what_is_left_elsewhere_is_removed_whatever_the_next_one_uses(
    kept: StorePaths, tmp_path: Path, temporary: Path
) -> None:
    def leave(place: Path) -> Path:
        with program(KILLED, place) as process:
            (left,) = some_lines(process, 1)
            process.kill()
        return Path(left)

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lefts = [leave(elsewhere), leave(temporary)]
    archive = create_backup(kept, str(elsewhere / "a.tgz"), CLOCK).path
    assert [one.exists() for one in lefts] == [False, False]
    left = leave(temporary)
    restore_backup(kept, archive, CLOCK)
    assert not left.exists()


def test_nothing_in_between_is_in_the_project(read_only: StorePaths, tmp_path: Path, temporary: Path) -> None:
    tea, other = tmp_path / "tea", tmp_path / "other"
    other.mkdir()
    for destination, place in ((tea / "a.tgz", temporary), (other / "a.tgz", other)):
        with program(DYING, tea, temporary, destination) as process:
            assert process.wait(60) == -9
        assert list(tea.rglob(".km-backup-*")) == []
        (left,) = place.glob(".km-backup-*")
        assert (left / "store.db").exists()
        assert create_backup(read_only, str(destination), CLOCK).path == str(destination)
        assert not left.exists()


def test_where_the_store_can_not_be_written(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with make_scratch_folder(str(tmp_path / "nowhere"), str(other)) as folder:
        assert os.path.dirname(folder) == str(other)
    with pytest.raises(OutputError) as caught, make_scratch_folder(str(tmp_path / "nowhere"), str(tmp_path / "gone")):
        pass
    assert (caught.value.path, os.listdir(other)) == (str(tmp_path / "nowhere"), [])
