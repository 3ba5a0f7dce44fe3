"""Writers of one file of lines that are killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from duvet.knowledge.feedback import append_line, read_lines
from tests.unit.knowledge.upkeep.made import program, some_lines
from tests.unit.knowledge.upkeep.test_lines import WRITE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9, and no limit of files")


def test_what_two_were_told_of_is_there_once_they_are_killed(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% Feedback that was acknowledged MUST survive killed processes, concurrent writers, a replaced index and a
    ##% restored backup.
    path = tmp_path / "a.jsonl"
    told: set[str] = set()
    for _ in range(3):
        with program(WRITE, path, "one") as one, program(WRITE, path, "two") as two:
            for process in (one, two):
                told |= set(some_lines(process, 40))
            for process in (one, two):
                process.kill()
                rest = process.communicate()[0]
                told |= set(rest.splitlines() if rest.endswith("\n") else rest.splitlines()[:-1])
    append_line(str(path), {"who": "me", "number": 0})
    lines = path.read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    assert told <= {f"{one['who']} {one['number']}" for one in found}
    assert read_lines(str(path)) == lines
