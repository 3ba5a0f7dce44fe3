"""Files that are handed in where there is no room, or that somebody else writes at the same time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.unit.knowledge.upkeep.made import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
FULL = """
import resource, sys
from pathlib import Path
from duvet.config.settings import UploadRule
from duvet.errors import OutputError
from duvet.knowledge.uploads import ContentFolder
from tests.unit.knowledge.upkeep.made import places
content = ContentFolder(places(Path(sys.argv[1])), UploadRule())
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for overwrite in (False, True):
    try:
        content.store(b"x" * 2000, sys.argv[2 + overwrite], "x.md", overwrite=overwrite)
    except OutputError as error:
        print(error.message, flush=True)
"""
RACE = """
import sys
from pathlib import Path
from duvet.config.settings import UploadRule
from duvet.errors import QueryError
from duvet.knowledge.uploads import ContentFolder
from tests.unit.knowledge.upkeep.made import places
content = ContentFolder(places(Path(sys.argv[1])), UploadRule())
for number in range(200):
    try:
        content.store(sys.argv[2].encode() * 1000, f"{number}.md", "x.md", overwrite=False)
        print(number, flush=True)
    except QueryError:
        pass
"""
"""Stores files, and says of each that it has."""


def test_without_room_everything_stays(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file without `overwrite` or
    ##% under a name that duvet has chosen.
    (tmp_path / "old.md").write_text("old")
    with program(FULL, tmp_path, "new.md", "old.md") as process:
        lines = process.communicate(timeout=60)[0].splitlines()
    assert len(lines) == 2 and all("can't write this file" in line for line in lines)
    assert (os.listdir(tmp_path), (tmp_path / "old.md").read_text()) == (["old.md"], "old")


def test_of_two_at_once_one_is_refused(tmp_path: Path) -> None:
    with program(RACE, tmp_path, "a") as a, program(RACE, tmp_path, "b") as b:
        told = {"a": a.communicate(timeout=60)[0].split(), "b": b.communicate(timeout=60)[0].split()}
    assert sorted(map(int, told["a"] + told["b"])) == list(range(200))
    for who, numbers in told.items():
        assert {(tmp_path / f"{number}.md").read_text() for number in numbers} <= {who * 1000}
