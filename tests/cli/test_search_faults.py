"""`duvet search` where nothing is found, or not all, or a search isn't possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.words import MAX_QUERY_CHARACTERS
from tests.cli.made import make
from tests.cli.running import Done, Run, runner
from tests.cli.searching import find, tea

__all__ = ["find", "tea"]  # fixtures, which tests ask for by name

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
    ##% `duvet search` MUST say how much of a long query it uses, and when Python's sqlite lacks FTS5.
    done = find("search", "warm " * MAX_QUERY_CHARACTERS)
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
    ##% `duvet search` MUST say how much of a long query it uses, and when Python's sqlite lacks FTS5.
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
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST mark the words that it found, count the results that it does not show, and suggest similar
    ##% names for an unknown word.
    assert find("search", query) == Done(1, "", f"nothing found{hint}\n")
