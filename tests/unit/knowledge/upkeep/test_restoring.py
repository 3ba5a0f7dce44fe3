"""What comes back of a backup."""

from __future__ import annotations

import io
import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.backup import ArchiveError, create_backup
from duvet.knowledge.feedback import submit_vote
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.store.database import StoreBusyError
from duvet.store.location import open_store
from tests.unit.knowledge.upkeep.made import CLOCK, STAMP, asked, made, places, program, vote
from tests.unit.store.contents import everything
from tests.unit.store.made import taken

FULL = """
import resource, sys
from pathlib import Path
from duvet.errors import DuvetError
from duvet.knowledge.backup import create_backup
from duvet.knowledge.restore import restore_backup
from tests.unit.knowledge.upkeep.made import CLOCK, places
kept = places(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for attempt in (lambda: create_backup(kept, kept.backups, CLOCK), lambda: restore_backup(kept, sys.argv[2], CLOCK)):
    try:
        attempt()
    except DuvetError as error:
        print(error, flush=True)
"""


def test_it_comes_back_as_it_was(kept: StorePaths) -> None:
    before, archive = asked(kept.store), made(kept)
    with closing(open_store(kept.store)) as server:
        with server.writing() as writing:
            writing.remove("docs/tea.md")
            writing.put(taken("a.md", "kettle\n"))
        after = everything(server)
        found = restore_backup(kept, archive, CLOCK)
        assert everything(server) == asked(kept.store) == before != after
    assert os.path.basename(found.kept) == f"km-backup-{STAMP}-2.tgz"
    assert restore_backup(kept, found.kept, CLOCK, keeps=False).kept == ""
    assert asked(kept.store) == after
    assert len(os.listdir(kept.backups)) == 2
    os.unlink(kept.store)
    assert restore_backup(kept, archive, CLOCK).kept == ""
    assert asked(kept.store) == before


def test_in_the_place_of_what_is_no_store(kept: StorePaths) -> None:
    before, archive = asked(kept.store), made(kept)
    Path(kept.store).write_bytes(b"no store" * 999)
    found = restore_backup(kept, archive, CLOCK)
    assert asked(kept.store) == before
    assert Path(found.kept, "store.db").read_bytes() == b"no store" * 999
    Path(kept.store).write_bytes(b"no store" * 999)
    assert restore_backup(kept, archive, CLOCK, keeps=False).kept == ""
    assert len(os.listdir(kept.backups)) == 2


def test_while_somebody_writes_nothing_is_put_back(kept: StorePaths) -> None:
    archive = made(kept)
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
        with pytest.raises(StoreBusyError):
            restore_backup(kept, archive, CLOCK, patience=0.0)
    assert "docs/tea.md" not in asked(kept.store, lambda store: store.artifacts())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_without_room_everything_stays(kept: StorePaths, tmp_path: Path) -> None:
    before, archive = asked(kept.store), made(kept)
    with program(FULL, tmp_path / "tea", archive) as process:
        assert len(process.communicate(timeout=60)[0].splitlines()) == 2
    assert asked(kept.store) == before
    assert os.listdir(kept.backups) == [os.path.basename(archive)]
    assert sorted(os.listdir(kept.folder)) == [".gitignore", "backups", "feedback.jsonl", "store.db"]


def test_what_comes_out_of_a_stream(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet backup -o -` MUST write the archive to standard output, and `duvet restore -` MUST read it from standard
    ##% input.
    before, data = asked(kept.store), Path(made(kept)).read_bytes()
    os.unlink(kept.store)
    with pytest.raises(ArchiveError) as caught:
        restore_backup(kept, "-", CLOCK, stream=io.BytesIO(data[:-9]))
    assert caught.value.path == "-"
    assert restore_backup(kept, "-", CLOCK, stream=io.BytesIO(data)).kept == ""
    assert asked(kept.store) == before


def test_nothing_is_left_of_what_failed(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% duvet MUST NOT create an index in order to read, and MUST say when the project is not indexed yet.
    empty = tmp_path / "empty"
    empty.mkdir()
    for archive in ("nonexist", kept.store):
        with pytest.raises(DuvetError):
            restore_backup(places(empty), archive, CLOCK)
    assert list(empty.iterdir()) == []


def test_a_folder_behind_a_link_is_left_alone(kept: StorePaths, tmp_path: Path) -> None:
    archive = str(tmp_path / "a.tgz")
    create_backup(kept, archive, CLOCK)
    linked = places(tmp_path / "linked")
    (tmp_path / "linked/.duvet").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "linked/.duvet/knowledge")
    with pytest.raises(DuvetError):
        restore_backup(linked, archive, CLOCK)
    with pytest.raises(DuvetError):
        submit_vote(linked, vote("a::0", 1.0))
    with pytest.raises(DuvetError):
        create_backup(linked, linked.backups, CLOCK)
    assert os.listdir(tmp_path / "elsewhere") == []
