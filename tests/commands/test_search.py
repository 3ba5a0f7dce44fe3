"""`duvet search`, as a process"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.listing import ListFormat
from duvet.search.query import MOST
from tests.commands.examples import examples
from tests.commands.made import make
from tests.commands.running import Done, Run, files, runner
from tests.conftest import ROOT
from tests.search.made import FILES

SQLITE = """\
import importlib.util, sys
class Connection:
    serialize = deserialize = close = lambda _: None
    def execute(self, *_):
        raise OperationalError("no such module: fts5")
class OperationalError(Exception):
    pass
Error, sqlite_version = OperationalError, "3.0.0"
def connect(_):
    return Connection()
"""
WITHOUT_FTS5 = {
    "no module fts5": (SQLITE, "no such module: fts5"),
    "no serialize": (SQLITE.replace("serialize = ", "", 1), "it can't hand out its bytes"),
    "no sqlite": ("raise ImportError('No module named _sqlite3')", "No module named _sqlite3"),
}


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


@pytest.fixture
def find(duvet_command: str, tea: Path) -> Run:
    """The command in the project."""
    return runner(duvet_command, tea)


@pytest.fixture
def gold(snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "search"
    return snapshot


@pytest.mark.parametrize("format", list(ListFormat))
def test_every_format(format: str, find: Run, gold: Snapshot) -> None:
    done = find("search", "server", "--format", format)
    assert (done.code, done.err) == (0, "")
    gold.assert_match(done.out, f"{format}.txt")


@pytest.mark.parametrize("format", list(ListFormat))
def test_nothing_in_every_format(format: str, find: Run, gold: Snapshot) -> None:
    done = find("search", "coffee", "--format", format)
    assert (done.code, done.err) == (1, "nothing found\n")
    gold.assert_match(done.out, f"nothing_{format}.txt")


def test_plain_in_a_pipe(find: Run) -> None:
    assert find("search", "server must") == find("search", "server", "must", "--format", "plain")


@pytest.mark.parametrize("example", examples("search"))
def test_examples(example: list[str], find: Run) -> None:
    done = find(*example)
    assert (done.code, done.err) == (0, "")


def test_some_of_many(find: Run) -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% Where there are more results than are shown, duvet MUST say how many there are.
    done = find("search", "must", "--limit", "2")
    assert (done.code, done.out.count("\n"), done.err) == (0, 2, "2 of 6 shown\n")
    assert find("search", "must", "--limit", "0").err == ""


def test_any_word(find: Run) -> None:
    done = find("search", "boil", "cups", "--limit", "1")
    assert (done.code, done.err) == (0, "nothing has all words; these have some\n1 of 2 shown\n")
    assert find("-q", "search", "boil", "cups", "--limit", "1") == Done(0, done.out, "")


def test_exit_codes(find: Run) -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% The exit code MUST be 0 with results and 1 without.
    assert [find("search", query).code for query in ("pot", "coffee", "the of", "***")] == [0, 1, 1, 2]


def test_words_that_do_not_count(find: Run) -> None:
    assert find("search", "the", "of", "The") == Done(
        1,
        "",
        'words as common as these don\'t count: the, of; put them in "…" to find them as a phrase\nnothing found\n',
    )


@pytest.mark.parametrize("query", ["", "*** (", "-- -"])
def test_no_word(query: str, find: Run) -> None:
    assert find("search", "--", query) == Done(
        2,
        "",
        "Usage: duvet search [OPTIONS] QUERY...\nTry 'duvet search --help' for help.\n\n"
        "Error: the query has no word in it\ngive a word, an id, file:line or spec#section\n",
    )


def test_raw_that_is_none(find: Run) -> None:
    assert find("search", "--raw", "pot AND") == Done(
        2,
        "",
        "Usage: duvet search [OPTIONS] QUERY...\nTry 'duvet search --help' for help.\n\n"
        'Error: the query is not one of FTS5: fts5: syntax error near ""\n'
        'words, "phrases", AND, OR, NOT, NEAR(…) and the columns text, title and specification are; or go without'
        " --raw\n",
    )


def test_raw_that_would_drive_the_terminal(find: Run) -> None:
    assert (
        '\nError: the query is not one of FTS5: fts5: syntax error near "\\u{1b}"\n'
        in find("search", "--raw", "\x1b").err
    )


def test_a_query_that_is_too_long(find: Run) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% Of a query that is too long, duvet MUST say how much of it counts.
    done = find("search", "warm " * MOST)
    assert (done.code, done.out.count("\n"), done.err) == (0, 2, "only the first 2,000 characters of the query count\n")


def test_no_requirements(find: Run, tea: Path) -> None:
    make(tea, {"tea.md": "# Tea\n", "retry.md": "# Retry\n", "src/server.rs": ""})
    assert find("search", "pot") == Done(
        1,
        "",
        "error: the project has no requirements\n"
        "  = help: no sentence of its specifications has a keyword of RFC 2119, such as MUST\n\n"
        "encountered 1 errors\n",
    )


def test_no_project(duvet_command: str, tmp_path: Path) -> None:
    done = runner(duvet_command, tmp_path)("search", "pot")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_unknown_specification(find: Run) -> None:
    done = find("search", "pot", "--spec", "retri")
    assert done == Done(
        1, "", 'error: there is no specification "retri"\n  = help: did you mean retry?\n\nencountered 1 errors\n'
    )


def test_what_is_wrong_is_told(find: Run, tea: Path) -> None:
    make(tea, {"src/wrong.rs": "//= tea.md#brewing\n//# The pot MUST be cold.\n"})
    done = find("search", "cups")
    assert (done.code, done.err) == (
        0,
        "1 error in the project, so not everything counts; `duvet validate` lists what is wrong\n",
    )


@pytest.mark.parametrize("name", WITHOUT_FTS5)
def test_without_fts5(name: str, find: Run, tmp_path: Path) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% Where the Python that runs duvet has no sqlite with FTS5, duvet MUST say so.
    module, reason = WITHOUT_FTS5[name]
    make(tmp_path, {"modules/sqlite3.py": module})
    done = find("search", "pot", environ={"PYTHONPATH": str(tmp_path / "modules")})
    assert done == Done(
        1,
        "",
        f"error: the sqlite of this Python has no full-text search: {reason}\n"
        "  = help: run duvet with a Python that has FTS5\n\nencountered 1 errors\n",
    )
    named = find("search", "tea.md#serving", environ={"PYTHONPATH": str(tmp_path / "modules")})
    assert named == done


def test_nothing_is_written_but_the_cache(find: Run, tea: Path) -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST NOT write anything but the cache.
    before = files(tea)
    assert find("search", "pot").code == 0
    assert files(tea) == before
    assert (tea / ".duvet" / "cache" / "search").exists()


def test_the_answer_is_the_same_from_the_cache(find: Run, tea: Path) -> None:
    fresh = find("--no-cache", "search", "server", "--format", "json")
    assert [find("search", "server", "--format", "json") for _ in range(3)] == [fresh] * 3
    make(tea, {"tea.md": FILES["tea.md"].replace("pour", "serve")})
    changed = find("search", "serve minutes", "--format", "json")
    assert [row["text"] for row in json.loads(changed.out)] == ["The server MUST serve within five minutes."]
    assert changed == find("--no-cache", "search", "serve minutes", "--format", "json")


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors")
def test_streams_that_are_closed(find: Run, tea: Path, duvet_command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert find("search", "pot", stdout=writer) == Done(0, "", "")
    os.close(writer)
    shell = runner("/bin/sh", tea)
    assert shell("-c", f"{duvet_command} search pot <&- | head -c 4") == Done(0, "d587", "")
    assert shell("-c", f"{duvet_command} search pot >&-").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_on_a_terminal(columns: int, duvet_command: str, tea: Path, gold: Snapshot) -> None:
    from tests.commands.terminals import shown

    coloured = shown(duvet_command, tea, "search", "server", columns=columns)
    gold.assert_match(coloured, f"terminal_{columns}.txt")
    plain = re.sub(r"\x1b\[1;33m|(?<=server)\x1b\[0m", "**", coloured)
    dumb = shown(duvet_command, tea, "search", "server", columns=columns, NO_COLOR="1")
    if columns > 100:
        assert dumb == re.sub(r"\x1b\[\d*m", "", plain)
    assert "\x1b" not in dumb and dumb.count("**server**") == 4
    assert shown(duvet_command, tea, "search", "coffee") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_that_is_too_narrow(duvet_command: str, tea: Path) -> None:
    from tests.commands.terminals import shown

    assert (
        shown(duvet_command, tea, "--color", "never", "search", "cups", columns=5)
        == """\
id
  level  status
  section
  text
035b57d7f4bd
  MAY    not started
  tea#serving
  **Cups** MAY be
  warmed.
"""
    )


def test_colours_elsewhere(find: Run) -> None:
    asked = ("search", "cups", "--format", "plain")
    coloured = "\tMAY\tnot started\ttea#serving\t\x1b[1;33mCups\x1b[0m MAY be warmed.\n"
    assert find("--color", "always", *asked).out.endswith(coloured)
    assert find(*asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(coloured)
    plain = "\tMAY\tnot started\ttea#serving\t**Cups** MAY be warmed.\n"
    assert find("--color", "never", *asked, environ={"CLICOLOR_FORCE": "1"}).out.endswith(plain)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("rettry", "; did you mean retry?"),
        ("D586E4D0", "; did you mean d587e4d0eaaf?"),
        ("tea.md#bruwing", '; there is no section "bruwing" in tea.md; did you mean brewing?'),
        ("src/sever.rs:3", '; nothing is called "src/sever.rs:3"; did you mean src/server.rs?'),
        (
            "src/server.rs:90",
            "; no annotation belongs to src/server.rs:90; near are src/server.rs:1, src/server.rs:5, src/server.rs:10",
        ),
        ("d587e4d0eaab", '; there is no requirement "d587e4d0eaab"; did you mean d587e4d0eaaf?'),
        ("zzz", ""),
        ("zzz rettry", ""),
    ],
)
def test_what_is_near_where_nothing_is_found(query: str, hint: str, find: Run) -> None:
    ##= man/spec/search.md#references
    ##= type=test
    ##% Where a single word finds nothing, duvet MUST say which names are most like it.
    assert find("search", query) == Done(1, "", f"nothing found{hint}\n")
