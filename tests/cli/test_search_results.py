"""`duvet search`: what is found, and in which formats; what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.examples import examples
from tests.cli.made import make
from tests.cli.running import Done, Run, files
from tests.cli.searching import find, gold, tea
from tests.unit.queries.made import SEARCH_FILES as FILES

__all__ = ["find", "gold", "tea"]  # fixtures, which tests ask for by name


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


@pytest.mark.parametrize("example", examples("search"))
def test_examples(example: list[str], find: Run) -> None:
    done = find(*example)
    assert (done.code, done.err) == (0, "")


def test_some_of_many(find: Run) -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST mark the words that it found, count the results that it does not show, and suggest similar
    ##% names for an unknown word.
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
    ##% `duvet search` MUST exit with 0 if it finds something, and with 1 otherwise.
    assert [find("search", query).code for query in ("pot", "coffee", "the of", "***")] == [0, 1, 1, 2]


def test_nothing_is_written_but_the_cache(find: Run, tea: Path) -> None:
    ##= man/spec/trace.md#reports
    ##= type=test
    ##% `duvet search`, `duvet show`, `duvet ask` and the library MUST write nothing into a project but downloads and
    ##% the cache.
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
