import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from duvet.words import MAX_QUERY_CHARACTERS
from tests.cli.command import Run, environment, failed, play
from tests.cli.sample_project import make
from tests.cli.terminals import show_on_terminal
from tests.unit.queries.query_projects import SEARCH_FILES as FILES

PROJECT = FILES
SQLITE = """\
import importlib.util, sys
class OperationalError(Exception):
    pass
class Connection:
    serialize = deserialize = close = lambda _: None
    Error = OperationalError = OperationalError
    def execute(self, *_):
        raise OperationalError("no such module: fts5")
Error, sqlite_version = OperationalError, "3.0.0"
def connect(_):
    return Connection()
"""
WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from duvet.cli import run_command_line
sys.exit(run_command_line(["search", "--semantic", "water"]))
"""


@pytest.mark.parametrize("format", ListFormat)
def test_search_results_in_every_format(format: str, duvet: Run, gold: Snapshot) -> None:
    done = duvet("search", "server", "--format", format)
    assert (done.code, done.err) == (0, "")
    gold.assert_match(done.out, f"{format}.txt")
    done = duvet("search", "coffee", "--format", format)
    assert (done.code, done.err) == (1, "nothing found\n")
    gold.assert_match(done.out, f"nothing_{format}.txt")
    done = duvet("search", "--semantic", "throw away messages", "--limit", "2", "--format", format)
    assert (done.code, done.err) == (0, "2 of 9 shown; use --limit 0 to show all\n")
    if format in (ListFormat.JSON, ListFormat.JSONL):
        rows = json.loads(done.out if format == ListFormat.JSON else f"[{','.join(done.out.splitlines())}]")
        keys = sorted(json.loads(duvet("search", "pot", "--format", "json").out)[0])
        assert [sorted(row) for row in rows] == [keys] * 2
    else:
        gold.assert_match(done.out, f"semantic_{format}.txt")


SCENARIOS = {
    "invalid": (
        *("the of The", "''", "-- '*** ('", "-- '-- -'", "--raw 'pot AND'", "--raw '\x1b'", "pot --spec retri"),
        "--raw --semantic 'text: pot'",
    ),
    "limits": (
        *("must --limit 2", "must --limit 0", "boil cups --limit 1", "boil cups --limit 1 -q"),
        *("'server must'", "server must --format plain"),
    ),
    "suggestions": (
        *("rettry", "D586E4D0", "tea.md#bruwing", "src/sever.rs:3", "src/server.rs:90", "d587e4d0eaab", "zzz"),
        "zzz rettry",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_hints_for_searches(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, folder, *(f"search {args}" for args in SCENARIOS[name])), f"{name}.txt")


def test_a_long_query_is_cut(duvet: Run) -> None:
    done = duvet("search", "warm " * MAX_QUERY_CHARACTERS)
    cut = "the search used only the first 2,000 characters of the query\n"
    assert (done.code, done.out.count("\n"), done.err) == (0, 2, cut)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (SQLITE, "no such module: fts5"),
        (SQLITE.replace("serialize = ", "", 1), "Connection.serialize is missing"),
        ("raise ImportError('No module named _sqlite3')", "No module named _sqlite3"),
    ],
)
def test_without_fts5(module: str, reason: str, duvet: Run, tmp_path: Path) -> None:
    make(tmp_path, {"modules/sqlite3.py": module})
    message = f"search can't use Python's sqlite: {reason}"
    done = failed(message, hint="run duvet with a Python whose sqlite has FTS5 and `Connection.serialize`")
    for query in ("pot", "tea.md#serving"):
        assert duvet("search", query, environ={"PYTHONPATH": str(tmp_path / "modules")}) == done


def test_without_the_extra_for_meaning(folder: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_NUMPY]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: search by meaning needs the extra `semantic` [DUV122]\n")
    assert "pip install 'duvet-cli[semantic]'" in done.stderr


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_terminal_gets_a_table(columns: int, duvet_command: str, folder: Path, gold: Snapshot) -> None:
    coloured = show_on_terminal(duvet_command, folder, "search", "server", columns=columns)
    gold.assert_match(coloured, f"terminal_{columns}.txt")
    plain = re.sub(r"\x1b\[1;33m|(?<=server)\x1b\[0m", "**", coloured)
    dumb = show_on_terminal(duvet_command, folder, "search", "server", columns=columns, NO_COLOR="1")
    if columns > 100:
        assert dumb == re.sub(r"\x1b\[\d*m", "", plain)
    assert "\x1b" not in dumb and dumb.count("**server**") == 4
    assert show_on_terminal(duvet_command, folder, "search", "coffee") == ""


NARROW = """\
id
  level  status
  section
  text
035b57d7f4bd
  MAY    uncited
  tea#serving
  **Cups** MAY be
  warmed.
"""


def test_on_a_terminal_that_is_too_narrow(duvet_command: str, folder: Path) -> None:
    assert show_on_terminal(duvet_command, folder, "--color", "never", "search", "cups", columns=5) == NARROW


def test_a_pipe_gets_plain_lines_and_colours_only_on_request(duvet: Run) -> None:
    asked = ("search", "cups", "--format", "plain")
    coloured = "\tMAY\tuncited\ttea#serving\t\x1b[1;33mCups\x1b[0m MAY be warmed.\n"
    assert duvet("--color", "always", *asked).out.endswith(coloured)
    assert duvet(*asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(coloured)
    plain = "\tMAY\tuncited\ttea#serving\t**Cups** MAY be warmed.\n"
    assert duvet("--color", "never", *asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(plain)
