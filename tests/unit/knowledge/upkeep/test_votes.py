"""Feedback in backups: none of it is lost."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from duvet.knowledge.backup import create_backup
from duvet.knowledge.feedback import read_votes, submit_vote
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.store.location import open_store
from tests.unit.knowledge.stored import fill
from tests.unit.knowledge.upkeep.archives import manifest, member, members, packed
from tests.unit.knowledge.upkeep.made import CLOCK, asked, made, program, vote

LIMITED = """
import resource, sys
from pathlib import Path
from duvet.errors import DuvetError
from duvet.knowledge.restore import restore_backup
from tests.unit.knowledge.upkeep.made import CLOCK, places
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    restore_backup(places(Path(sys.argv[1])), sys.argv[2], CLOCK, keeps=False)
except DuvetError as error:
    print(error, flush=True)
"""


def test_feedback_without_a_store(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% A backup MUST contain the index as of one moment, if there is one, the feedback, the history of reports, and a
    ##% manifest with versions and digests.
    before = asked(kept.store)
    os.rename(kept.store, tmp_path / "store.db")
    archive = made(kept)
    assert list(members(archive)) == ["manifest.json", "feedback.jsonl"]
    os.unlink(kept.feedback)
    assert (restore_backup(kept, archive, CLOCK).votes, os.path.exists(kept.store)) == (1, False)
    os.rename(tmp_path / "store.db", kept.store)
    os.unlink(kept.feedback)
    found = restore_backup(kept, archive, CLOCK)
    assert (found.votes, found.kept, asked(kept.store)) == (1, "", before)


def test_feedback_is_never_lost(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% Feedback that was acknowledged MUST survive killed processes, concurrent writers, a replaced index and a
    ##% restored backup.
    archive = made(kept)
    submit_vote(kept, vote("docs/tea.md::0", -1.0))
    os.unlink(kept.store)
    fill(tmp_path / "tea")
    assert restore_backup(kept, archive, CLOCK).votes == 0
    assert [one.chunk_id for one in read_votes(kept.feedback)] == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    os.unlink(kept.feedback)
    submit_vote(kept, vote("docs/tea.md::0", 0.5))
    assert restore_backup(kept, archive, CLOCK).votes == 1
    assert [one.chunk_id for one in read_votes(kept.feedback)] == ["docs/tea.md::0", "src/kettle/boil.py::0"]


@pytest.mark.parametrize("line", [b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a": "\xff"}', b"[]", b"{"])
def test_feedback_that_is_none(kept: StorePaths, tmp_path: Path, line: bytes) -> None:
    found = members(made(kept))
    files = {"feedback.jsonl": line + b"\n", "store.db": found["store.db"]}
    archive = packed(tmp_path / "a.tgz", [manifest(files), *(member(*one) for one in files.items())])
    assert restore_backup(kept, archive, CLOCK).votes == 0
    with open(kept.feedback, "ab") as file:
        file.write(line + b"\n")
    submit_vote(kept, vote("docs/tea.md::0", -1.0))
    assert [one.chunk_id for one in read_votes(kept.feedback)] == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    assert members(create_backup(kept, kept.backups, CLOCK).path)["feedback.jsonl"].count(b"\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_feedback_comes_back_first(kept: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet restore` MUST restore the feedback, replace the index in one step even while servers use it, and first
    ##% save what it replaces unless `--force` is given.
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
