"""Files of lines that several write to, some of whom are killed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.feedback import append_line, append_lines, read_lines
from tests.unit.knowledge.upkeep.made import program, some_lines

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9, and no limit of files")
WRITE = """
import sys
from duvet.knowledge.feedback import append_line
for number in range(10**6):
    append_line(sys.argv[1], {"who": sys.argv[2], "number": number, "note": "tea " * (number % 5000)})
    print(sys.argv[2], number, flush=True)
"""
"""Adds lines, and says of each that it is there."""
DEEP = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
FULL = """
import resource, sys
from duvet.errors import OutputError
from duvet.knowledge.feedback import append_line
append_line(sys.argv[1], {"number": 0})
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    append_line(sys.argv[1], {"note": "tea " * 1000})
except OutputError as error:
    print(error.message, flush=True)
append_line(sys.argv[1], {"number": 1})
"""


def test_lines_stay_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "a.jsonl")
    assert read_lines(path) == []
    append_line(path, {"a": "line\nfeed"})
    append_lines(path, [b'{"b": 1}', b'{"c": 2}'])
    assert Path(path).read_bytes() == b'{"a":"line\\nfeed"}\n{"b": 1}\n{"c": 2}\n'
    assert read_lines(path) == [b'{"a":"line\\nfeed"}', b'{"b": 1}', b'{"c": 2}']


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        (b'{"a": 1}\n{"b', [b'{"a": 1}']),
        (b'{"b', []),
        (b'{"a": 1}\n{"b": 2}', [b'{"a": 1}', b'{"b": 2}']),
        (b'{"a": 1}\n{"b": "' + b"x" * 200_000, [b'{"a": 1}']),
        (b'{"a": "' + b"x" * 200_000 + b'"}', [b'{"a": "' + b"x" * 200_000 + b'"}']),
        (b'no line\n[]\n{"a": 1}\n', [b'{"a": 1}']),
        (DEEP + b'\n{"a": "\xff"}\n{"a": 1}\n', [b'{"a": 1}']),
        (b'{"a": 1}\n' + DEEP, [b'{"a": 1}']),
    ],
)
def test_the_beginning_of_a_line_is_not_taken_for_one(tmp_path: Path, left: bytes, kept: list[bytes]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(left)
    append_line(str(path), {"c": 3})
    assert read_lines(str(path)) == [*kept, b'{"c":3}']


def test_a_line_that_there_is_no_room_for_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with program(FULL, path) as process:
        assert "can't add to this file" in some_lines(process, 1)[0]
        assert process.wait(60) == 0
    assert path.read_bytes() == b'{"number":0}\n{"number":1}\n'


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DuvetError):
        append_line(str(tmp_path / "a.jsonl"), {})
    (tmp_path / "elsewhere").write_text("{}\n")
    with pytest.raises(DuvetError):
        read_lines(str(tmp_path / "a.jsonl"))


def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    from fcntl import LOCK_EX, flock

    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        flock(file, LOCK_EX)
        with pytest.raises(DuvetError, match="somebody else has locked it"):
            append_line(str(path), {}, patience=0)
    append_line(str(path), {}, patience=0)
    assert path.read_bytes() == b"{}\n"
