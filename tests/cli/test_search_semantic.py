"""`duvet search --semantic`"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.made import make
from tests.cli.running import Run, environment, files
from tests.cli.searching import find, gold, tea
from tests.unit.queries.made import SEARCH_FILES as FILES

__all__ = ["find", "gold", "tea"]  # fixtures, which tests ask for by name

WITHOUT = """
import sys
sys.modules["numpy"] = None
from duvet.cli import run_command_line
sys.exit(run_command_line(["search", "--semantic", "water"]))
"""


@pytest.mark.parametrize("format", list(ListFormat))
def test_every_format(format: str, find: Run, gold: Snapshot) -> None:
    done = find("search", "--semantic", "throw away messages", "--limit", "2", "--format", format)
    assert (done.code, done.err) == (0, "2 of 9 shown\n")
    if format in (ListFormat.JSON, ListFormat.JSONL):
        rows = json.loads(done.out if format == ListFormat.JSON else f"[{','.join(done.out.splitlines())}]")
        assert [sorted(row) for row in rows] == [
            sorted(json.loads(find("search", "pot", "--format", "json").out)[0])
        ] * 2
    else:
        gold.assert_match(done.out, f"semantic_{format}.txt")


def test_the_answer_is_the_same_from_the_cache(find: Run, tea: Path) -> None:
    ask = ("search", "--semantic", "throw away messages", "--format", "json")
    fresh = find("--no-cache", *ask)
    before = files(tea)
    assert [find(*ask) for _ in range(3)] == [fresh] * 3
    assert files(tea) == before
    make(tea, {"tea.md": FILES["tea.md"].replace("pour", "throw away messages")})
    changed = find(*ask)
    assert json.loads(changed.out)[0]["text"] == "The server MUST throw away messages within five minutes."
    assert changed == find("--no-cache", *ask)


def test_an_expression_has_no_meaning(find: Run) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST refuse a query without words, one that `--raw` cannot parse, and `--raw` together with
    ##% `--semantic`.
    done = find("search", "--raw", "--semantic", "text: pot")
    assert (done.code, done.out) == (2, "")
    assert "--raw and --semantic can't go together" in done.err


def test_without_the_extra(tea: Path) -> None:
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, cwd=tea, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: search by meaning needs the extra `semantic`\n")
    assert "pip install 'duvet-cli[semantic]'" in done.stderr
