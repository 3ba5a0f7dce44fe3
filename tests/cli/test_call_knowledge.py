"""The tools about what is known, from the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.cli.running import Done, Run, runner
from tests.unit.knowledge.stored import STORE, fill
from tests.unit.tools.made import FILES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = json.dumps({"ingest": {"semantic": False, "staleDays": 36_500}, "toolPacks": {"knowledge": {}}})
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": config}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def filters(done: Done) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)["metadata"]["filters_applied"]


def test_shortcuts(duvet: Run) -> None:
    ##= man/spec/service.md#calls
    ##= type=test
    ##% `duvet call` MUST refuse an argument that it does not understand, or that conflicts with another, by its name.
    search = ("call", "km-search", "--query", "boil")
    short = (*search, "--symbol", "boil,Kettle.heat", "--kind=function", "--lang", "python", "--symbol", " pour ")
    all_three = {
        "symbols": ["boil", "Kettle.heat", "pour"],
        "symbol_kinds": ["function"],
        "symbol_languages": ["python"],
    }
    assert filters(duvet(*short)) == all_three
    # In whatever order.
    given = '{"symbols": ["steam"], "tags": ["hot"]}'
    for words in (("--symbol", "boil", "--filters", given), ("--filters", given, "--symbol", "boil")):
        assert filters(duvet(*search, *words)) == {"symbols": ["steam", "boil"], "tags": ["hot"]}
    whole = f'{{"query": "boil", "filters": {given}}}'
    assert filters(duvet("call", "km-search", "--json", whole, "--symbol", "boil"))["symbols"] == ["steam", "boil"]
    found = json.loads(duvet(*search, "--symbol", "boil", "--kind", "function").out)["results"]
    assert [one["chunk"]["chunk_id"] for one in found][:1] == ["src/kettle/boil.py::0"]


CONFLICTS: list[tuple[tuple[str, ...], str]] = [
    (
        ("--filters", '{"symbols": "steam"}', "--symbol", "boil"),
        "--symbol adds to filters.symbols, which is given as something else than a list",
    ),
    (("--json", '{"filters": 5}', "--kind", "class"), "--kind adds to filters.symbol_kinds, which is given as"),
    (("--symbol",), "--symbol needs a value"),
    (("--symbol", " , "), "--symbol needs a value"),
    (("--symbols", "boil"), 'km-search has no argument "symbols"'),
    (("--kind", "poem"), "Unsupported symbol kind 'poem'"),
]


@pytest.mark.parametrize(("words", "message"), CONFLICTS, ids=range(len(CONFLICTS)))
def test_what_is_in_each_others_way(duvet: Run, words: tuple[str, ...], message: str) -> None:
    done = duvet("call", "km-search", "--query", "boil", *words)
    assert (done.code, done.out) == (2, "") and message in done.err


def test_they_are_shown(duvet: Run) -> None:
    shown = duvet("tools", "km-search").out
    assert "  --symbol WORD,…: more filters.symbols\n  --kind WORD,…: more filters.symbol_kinds\n" in shown
    assert "Shortcuts" not in duvet("tools", "km-graph-search").out


def test_the_configuration_counts(duvet: Run, project: Path) -> None:
    report = json.loads(duvet("call", "km-lifecycle-report").out)
    assert (report["thresholds"], report["stale_docs"]) == ({"stale_days": 36_500}, [])
    (project / STORE).rename(project / "elsewhere.db")
    config = {"store": {"path": "elsewhere.db"}, "toolPacks": {"knowledge": {}}}
    make(project, {"duvet.config.json": json.dumps(config)})
    assert json.loads(duvet("call", "km-ingest-status").out)["run_id"] == "r1"
    make(project, {"duvet.config.json": "{}"})
    assert json.loads(duvet("call", "km-ingest-status").out) == {"status": "not_found"}


def test_a_pack_that_only_reads(duvet: Run, project: Path) -> None:
    ##= man/spec/knowledge.md#reports
    ##= type=test
    ##% `km-lifecycle-report` and `km-ingest-status` MUST be reserved for maintainers, and MUST be available in a
    ##% `read-only` pack.
    make(project, {"duvet.config.json": '{"toolPacks": {"knowledge": {"mode": "read-only"}}}'})
    shown = {row["name"]: row["scope"] for row in json.loads(duvet("tools", "--format", "json").out)}
    assert shown["km-lifecycle-report"] == shown["km-ingest-status"] == "maintainer"
    assert shown["km-search"] == "reader"


def test_nothing_was_taken_in(duvet: Run, duvet_command: str, tmp_path: Path) -> None:
    empty = runner(duvet_command, make(tmp_path / "empty", FILES))
    done = empty("call", "--pack", "knowledge", "km-coverage-summary")
    assert (done.code, done.out) == (1, "")
    assert "error: nothing was taken in of this project yet\n" in done.err and "`duvet ingest`" in done.err
    wrong = duvet("call", "km-graph-node", "--node-id", "nowhere")
    assert (wrong.code, "Invalid node identifier" in wrong.err) == (2, True)
