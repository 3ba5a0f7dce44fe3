"""`duvet merge`"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from duvet.commands.merge import merge
from duvet.errors import DuvetError
from duvet.reports.json_v2 import V2Report, encode_v2_report
from tests.cli.command import Done, Run

ONE, OTHER, BOTH = (encode_v2_report(V2Report(issue_links=links)) for links in (("a",), ("b",), ("a", "b")))


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(merge, args, input=stdin, catch_exceptions=False)


def test_files_and_standard_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.json").write_bytes(ONE)
    Path("other.json").write_bytes(OTHER)
    result = run("--input", "other.json", "--input", "one.json", "--output", "new/both.json")
    assert (result.exit_code, result.output, Path("new/both.json").read_bytes()) == (0, "", BOTH)
    result = run("--input", "-", "--input", "one.json", "--output", "-", stdin=OTHER)
    assert (result.exit_code, result.stdout_bytes) == (0, BOTH)
    with pytest.raises(DuvetError, match=r"failed to open file 'none\.json'"):
        run("--input", "one.json", "--input", "none.json", "--output", "other.json")
    assert Path("other.json").read_bytes() == OTHER


def test_a_report_from_standard_input_stays_as_it_is(reported: Path, duvet: Run) -> None:
    report = duvet("-q", "report", "--json-v2", "-").out
    assert duvet("merge", "--input", "-", "--output", "-", input=report.encode()) == Done(0, report, "")
