"""`duvet merge`"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from duvet.commands.merge import merge
from duvet.errors import DuvetError
from duvet.reports.json_v2 import V2Report, encode_v2_report

ONE, OTHER, BOTH = (encode_v2_report(V2Report(issue_links=links)) for links in (("a",), ("b",), ("a", "b")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two reports."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.json").write_bytes(ONE)
    (tmp_path / "other.json").write_bytes(OTHER)
    return tmp_path


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(merge, args, input=stdin, catch_exceptions=False)


def test_into_a_file(folder: Path) -> None:
    result = run("--input", "other.json", "--input", "one.json", "--output", "new/both.json")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "new" / "both.json").read_bytes() == BOTH


@pytest.mark.usefixtures("folder")
def test_from_standard_input_to_standard_output() -> None:
    result = run("--input", "-", "--input", "one.json", "--output", "-", stdin=OTHER)
    assert (result.exit_code, result.stdout_bytes) == (0, BOTH)


def test_a_failed_merge_leaves_what_was_there(folder: Path) -> None:
    with pytest.raises(DuvetError, match=r"failed to open file 'none\.json'"):
        run("--input", "one.json", "--input", "none.json", "--output", "other.json")
    assert (folder / "other.json").read_bytes() == OTHER


def test_both_options_are_required() -> None:
    result = run()
    assert result.exit_code == 2
    assert "--input <INPUT>" in result.stderr and "--output <OUTPUT>" in result.stderr
