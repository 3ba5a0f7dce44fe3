import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play, runner
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


def test_a_missing_argument_is_named_as_an_option(duvet: Run) -> None:
    for tool, option in (("get_requirement", "--reference"), ("get_requirement_status", "--req-identifier")):
        missing = duvet("call", tool)
        assert (missing.code, f"Error: {option} is missing\n" in missing.err) == (2, True)


def test_help_and_the_server_itself(duvet: Run) -> None:
    assert duvet("call", "coverage_summary", "--help").out == duvet("tools", "coverage_summary").out
    assert duvet("call", "--format", "json", "coverage_summary") == duvet("call", "coverage_summary")
    info = json.loads(duvet("call", "--pack", "introspect", "duvet_server_info").out)
    offered = {"mode": "shell", "enabled_tool_packs": ["trace", "introspect"], "tool_count": 15, "workflows": []}
    assert info == {"name": "duvet", "version": info["version"], **offered, "providers": [], "provider_count": 0}
    assert duvet("tools", "km-search").out.startswith("km-search: ")


FAILING = ("nope", "km-search --query x", "km-help --tool x")
OFF = {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": {"enabled": False}}})}
HEALTH = "call --pack introspect duvet_health"
CALLED: tuple[str | dict[str, str], ...] = (
    *(f"call {words}{line}" for line in FAILING for words in ("", "--format json ")),
    *("call list_uncited_requirements --limit 1", "-q call list_uncited_requirements --limit 1"),
    *(HEALTH, {".duvet/config.toml": "x = {"}, HEALTH, OFF, "call km-help", "tools km-help"),
)


def test_errors_and_hints(duvet: Run, folder: Path, gold: Snapshot) -> None:
    told = re.sub(r"\d{4}-\S+00:00|(?<=cursor=)\S+", "…", play(duvet, folder, *CALLED))
    gold.assert_match(re.sub(r"! Usage: .*\n! Try .*\n!\n", "", told), "calls.txt")


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


def test_the_configuration_counts(indexed: Run, folder: Path) -> None:
    report = json.loads(indexed("call", "km-lifecycle-report").out)
    assert (report["thresholds"], report["stale_docs"]) == ({"stale_days": 36_500}, [])
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
