from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, play, refuses, runner
from tests.cli.sample_project import make
from tests.unit.knowledge.stored_project import STORE, fill
from tests.unit.tools.tool_calls import FILES, context_in, value

PROJECT = FILES


CALLS: dict[str, dict[str, Any]] = {
    "coverage_summary": {},
    "list_uncited_requirements --limit 2 --level=MUST": {"limit": 2, "level": "MUST"},
    "search_requirements --query 'error handling'": {"query": "error handling"},
    "validate_citations --citations //=lid --citations x": {"citations": ["//=lid", "x"]},
    "validate_citations --citations '[\"//= a,b\"]'": {"citations": ["//= a,b"]},
    "get_citation_context --citation-id src/main.rs:3 --context_lines 1": {
        "citation_id": "src/main.rs:3",
        "context_lines": 1,
    },
}


def test_a_call_is_answered_as_anywhere(duvet: Run, folder: Path) -> None:
    for line, arguments in CALLS.items():
        tool, *words = shlex.split(line)
        done = duvet("call", tool, *words)
        expected = json.loads(json.dumps(value(context_in(folder), tool, **arguments)))
        assert (done.code, json.loads(done.out)) == (0, expected)


def test_arguments_as_json(duvet: Run) -> None:
    given = '{"query": "lid", "limit": 1}'
    found = duvet("call", "--json", given, "search_requirements").out
    assert [row["text"] for row in json.loads(found)] == ["The lid MUST fit."]
    more = duvet("call", "--json", given, "search_requirements", "--limit", "2")
    assert len(json.loads(more.out)) == 2
    assert duvet("call", "--json", "-", "search_requirements", input=given.encode()).out == found
    # Also after the name.
    for words in (("--json", given), (f"--json={given}",), ("--limit", "1", "--json", '{"query": "lid"}')):
        assert duvet("call", "search_requirements", *words).out == found
    twice = duvet("call", "--json", given, "search_requirements", "--json", given)
    assert (twice.code, "--json is given twice" in twice.err) == (2, True)


def test_an_error_as_json(duvet: Run) -> None:
    for line, code, status in (
        ("nope", "not_found", 1),
        ("km-search --query x", "upstream_error", 1),
        ("km-help --tool x", "invalid_request", 2),
    ):
        done = duvet("call", "--format", "json", *line.split())
        found = json.loads(done.out)
        assert (done.code, [*found], found["status"]) == (status, ["status", "error", "code", "hint"], "error")
        assert found["code"] == code and found["error"] in done.err and found["hint"] in done.err
        assert duvet("call", *line.split()) == Done(status, "", done.err)
    assert duvet("call", "--format", "json", "coverage_summary") == duvet("call", "coverage_summary")


def test_help_and_what_to_do_next(duvet: Run) -> None:
    assert duvet("call", "coverage_summary", "--help").out == duvet("tools", "coverage_summary").out
    done = duvet("call", "list_uncited_requirements", "--limit", "1")
    assert "1 of 5 shown; for more, set cursor=" in done.err
    assert duvet("-q", "call", "list_uncited_requirements", "--limit", "1") == Done(0, done.out, "")


def test_the_server_itself(duvet: Run, folder: Path) -> None:
    health = json.loads(duvet("call", "--pack", "introspect", "duvet_health").out)
    assert (health["status"], health["problems"]) == ("healthy", [])
    info = json.loads(duvet("call", "--pack", "introspect", "duvet_server_info").out)
    offered = {"mode": "shell", "enabled_tool_packs": ["trace", "introspect"], "tool_count": 15, "workflows": []}
    assert info == {"name": "duvet", "version": info["version"], **offered, "providers": [], "provider_count": 0}
    make(folder, {".duvet/config.toml": "x = {"})
    health = json.loads(duvet("call", "--pack", "introspect", "duvet_health").out)
    assert (health["status"], len(health["problems"])) == ("unhealthy", 1)


def test_a_pack_that_nobody_has_switched_on(duvet: Run, folder: Path) -> None:
    assert json.loads(duvet("call", "km-help", "--tool", "km-search").out)["tool"] == "km-search"
    assert duvet("tools", "km-search").out.startswith("km-search: ")
    make(folder, {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": {"enabled": False}}})})
    for line in ("call km-help", "tools km-help"):
        refuses(duvet, line, 1, 'no tool is named "km-help" [DUV120]')


TOOLS = ("tools", "tools list_uncited_requirements", "tools list_uncitd", "tools coverage_summary --format json")


def test_a_list_of_tools(duvet: Run, folder: Path, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, folder, *TOOLS, "-q pack new tea", "tools tea_count_words"), "tools.txt")
    rows = json.loads(duvet("tools", "--format", "json").out)
    assert [row["name"] for row in rows][:2] == ["validate_citation", "search_requirements"]
    assert {row["pack"] for row in rows} == {"trace", "tea"}


@pytest.fixture
def indexed(duvet_command: str, folder: Path) -> Run:
    config = json.dumps({"ingest": {"semantic": False, "staleDays": 36_500}, "toolPacks": {"knowledge": {}}})
    return runner(duvet_command, fill(make(folder, {"duvet.config.json": config})))


def test_shortcuts_of_filters(indexed: Run) -> None:
    def filters(*words: str) -> Any:
        done = indexed("call", "km-search", *words)
        assert done.code == 0, done.err
        return json.loads(done.out)["metadata"]["filters_applied"]

    search = ("--query", "boil")
    short = ("--symbol", "boil,Kettle.heat", "--kind=function", "--lang", "python", "--symbol", " pour ")
    kinds = {"symbol_kinds": ["function"], "symbol_languages": ["python"]}
    assert filters(*search, *short) == {"symbols": ["boil", "Kettle.heat", "pour"], **kinds}
    # In any order.
    given = '{"symbols": ["steam"], "tags": ["hot"]}'
    for words in (("--symbol", "boil", "--filters", given), ("--filters", given, "--symbol", "boil")):
        assert filters(*search, *words) == {"symbols": ["steam", "boil"], "tags": ["hot"]}
    whole = f'{{"query": "boil", "filters": {given}}}'
    assert filters("--json", whole, "--symbol", "boil")["symbols"] == ["steam", "boil"]
    found = json.loads(indexed("call", "km-search", *search, "--symbol", "boil", "--kind", "function").out)["results"]
    assert [one["chunk"]["chunk_id"] for one in found][:1] == ["src/kettle/boil.py::0"]
    shown = indexed("tools", "km-search").out
    assert "  --symbol WORD,…: adds to filters.symbols\n  --kind WORD,…: adds to filters.symbol_kinds\n" in shown
    assert "Shortcuts" not in indexed("tools", "km-graph-search").out


def test_filters_that_conflict(indexed: Run) -> None:
    no_list = "{0} adds to filters.{1}, which must be a list"
    for words, message in (
        ('--filters \'{"symbols": "steam"}\' --symbol boil', no_list.format("--symbol", "symbols")),
        ("--json '{\"filters\": 5}' --kind class", no_list.format("--kind", "symbol_kinds")),
        ("--symbol", "--symbol needs a value"),
        ("--symbol ' , '", "--symbol needs a value"),
        ("--symbols boil", 'km-search has no argument "symbols"'),
        ("--kind poem", "Unsupported symbol kind 'poem'"),
    ):
        refuses(indexed, f"call km-search --query boil {words}", 2, message)


def test_the_configuration_counts(indexed: Run, folder: Path) -> None:
    report = json.loads(indexed("call", "km-lifecycle-report").out)
    assert (report["thresholds"], report["stale_docs"]) == ({"stale_days": 36_500}, [])
    refuses(indexed, "call km-graph-node --node-id nowhere", 2, "Invalid node identifier")
    (folder / STORE).rename(folder / "elsewhere.db")
    config = {"store": {"path": "elsewhere.db"}, "toolPacks": {"knowledge": {}}}
    make(folder, {"duvet.config.json": json.dumps(config)})
    assert json.loads(indexed("call", "km-ingest-status").out)["run_id"] == "r1"
    make(folder, {"duvet.config.json": "{}"})
    assert json.loads(indexed("call", "km-ingest-status").out) == {"status": "not_found"}
    # A pack may only read.
    make(folder, {"duvet.config.json": '{"toolPacks": {"knowledge": {"mode": "read-only"}}}'})
    shown = {row["name"]: row["scope"] for row in json.loads(indexed("tools", "--format", "json").out)}
    assert shown["km-lifecycle-report"] == shown["km-ingest-status"] == "maintainer"
    assert shown["km-search"] == "reader"


def test_nothing_was_indexed(duvet: Run) -> None:
    message = "error: this project has no index yet [DUV122]\n"
    refuses(duvet, "call --pack knowledge km-coverage-summary", 1, message)
    assert "`duvet ingest`" in duvet("call", "--pack", "knowledge", "km-coverage-summary").err
