"""`duvet call` and `duvet tools`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.cli.running import Run, run, runner
from tests.unit.tools.made import FILES, context_in, value


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "pot", FILES)


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


CALLS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("coverage_summary",), "coverage_summary", {}),
    (
        ("list_uncited_requirements", "--limit", "2", "--level=MUST"),
        "list_uncited_requirements",
        {"limit": 2, "level": "MUST"},
    ),
    (("search_requirements", "--query", "error handling"), "search_requirements", {"query": "error handling"}),
    (
        ("validate_citations", "--citations", "//= docs/pot.md#lid", "--citations", "//= nowhere"),
        "validate_citations",
        {"citations": ["//= docs/pot.md#lid", "//= nowhere"]},
    ),
    (("validate_citations", "--citations", '["//= a,b"]'), "validate_citations", {"citations": ["//= a,b"]}),
    (
        ("get_citation_context", "--citation-id", "src/main.rs:3", "--context_lines", "1"),
        "get_citation_context",
        {"citation_id": "src/main.rs:3", "context_lines": 1},
    ),
]


@pytest.mark.parametrize(("words", "tool", "arguments"), CALLS, ids=range(len(CALLS)))
def test_a_call_is_answered_as_anywhere(
    duvet: Run, project: Path, words: tuple[str, ...], tool: str, arguments: dict[str, Any]
) -> None:
    ##= man/spec/service.md#calls
    ##= type=test
    ##% A tool MUST answer the same over MCP, over `/api/mcp` and by `duvet call`, which also finds the tools of packs
    ##% that are off.
    done = duvet("call", *words)
    expected = json.loads(json.dumps(value(context_in(project), tool, **arguments)))
    assert (done.code, json.loads(done.out)) == (0, expected)


def test_arguments_as_json(duvet: Run, duvet_command: str, project: Path) -> None:
    given = '{"query": "lid", "limit": 1}'
    found = json.loads(duvet("call", "--json", given, "search_requirements").out)
    assert [row["text"] for row in found] == ["The lid MUST fit."]
    more = duvet("call", "--json", given, "search_requirements", "--limit", "2")
    assert len(json.loads(more.out)) == 2
    with open(make(project, {"given.json": given}) / "given.json", "rb") as stdin:
        done = run(duvet_command, project, "call", "--json", "-", "search_requirements", stdin=stdin)
    assert json.loads(done.out) == found


def test_json_after_the_name(duvet: Run) -> None:
    given = '{"query": "lid", "limit": 1}'
    found = duvet("call", "--json", given, "search_requirements").out
    for words in (("--json", given), (f"--json={given}",), ("--limit", "1", "--json", '{"query": "lid"}')):
        assert duvet("call", "search_requirements", *words).out == found
    twice = duvet("call", "--json", given, "search_requirements", "--json", given)
    assert (twice.code, "--json is given twice" in twice.err) == (2, True)


def test_help_after_the_name(duvet: Run) -> None:
    assert duvet("call", "coverage_summary", "--help").out == duvet("tools", "coverage_summary").out


def test_what_to_do_next_is_said_aside(duvet: Run) -> None:
    done = duvet("call", "list_uncited_requirements", "--limit", "1")
    assert "1 of 5 shown; for more give cursor=" in done.err
    assert duvet("-q", "call", "list_uncited_requirements", "--limit", "1").err == ""


REFUSED: list[tuple[tuple[str, ...], int, str]] = [
    (("search_requirements",), 2, 'query is missing\nWords, "a phrase", an id, file:line or spec#section'),
    (("search_requirements", "--qwery", "a"), 2, 'search_requirements has no argument "qwery"\ndid you mean query?'),
    (("search_requirements", "lid"), 2, '"lid" belongs to no argument\n`duvet tools search_requirements` shows'),
    (("search_requirements", "--query"), 2, "--query needs a value"),
    (("list_uncited_requirements", "--limit", "many"), 2, "limit: expected int, got str"),
    (("list_uncited_requirements", "--limit", "05"), 2, "limit: expected int, got str"),
    (("list_uncited_requirements", "--limit", "1e400"), 2, "limit: expected int"),
    (("list_uncited_requirements", "--level", "must"), 2, "give one of MUST, SHOULD, MAY, unspecified"),
    (("--json", "{", "coverage_summary"), 2, "--json is not JSON"),
    (("--json", "[]", "coverage_summary"), 2, "--json is no object"),
    (("coverage_sumary",), 1, 'Unknown tool: "coverage_sumary"'),
    (("get_requirement_status", "--req_identifier", "ffffffff"), 1, "ffffffff"),
    (("--pack", "nothing", "coverage_summary"), 1, 'there is no pack "nothing"'),
]


@pytest.mark.parametrize(("words", "code", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_understood(duvet: Run, words: tuple[str, ...], code: int, message: str) -> None:
    ##= man/spec/service.md#calls
    ##= type=test
    ##% `duvet call` MUST refuse an argument that it does not understand, or that conflicts with another, by its name.
    done = duvet("call", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err and "Traceback" not in done.err


def test_the_server_itself(duvet: Run, project: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% `duvet_health` MUST report a server as healthy only if all packs are loaded and the project can be read.
    health = json.loads(duvet("call", "--pack", "introspect", "duvet_health").out)
    assert (health["status"], health["problems"]) == ("healthy", [])
    info = json.loads(duvet("call", "--pack", "introspect", "duvet_server_info").out)
    assert info == {
        "name": "duvet",
        "version": info["version"],
        "mode": "shell",
        "enabled_tool_packs": ["trace", "introspect"],
        "tool_count": 15,
        "workflows": [],
        "providers": [],
        "provider_count": 0,
    }
    make(project, {".duvet/config.toml": "x = {"})
    health = json.loads(duvet("call", "--pack", "introspect", "duvet_health").out)
    assert (health["status"], len(health["problems"])) == ("unhealthy", 1)


def test_a_pack_that_nobody_has_switched_on(duvet: Run, project: Path) -> None:
    ##= man/spec/service.md#calls
    ##= type=test
    ##% A tool MUST answer the same over MCP, over `/api/mcp` and by `duvet call`, which also finds the tools of packs
    ##% that are off.
    assert json.loads(duvet("call", "km-help", "--tool", "km-search").out)["tool"] == "km-search"
    assert duvet("tools", "km-search").out.startswith("km-search: ")
    make(project, {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": {"enabled": False}}})})
    for words in (("call", "km-help"), ("tools", "km-help")):
        done = duvet(*words)
        assert done.code == 1 and 'Unknown tool: "km-help"' in done.err


def test_a_list_of_tools(duvet: Run) -> None:
    rows = json.loads(duvet("tools", "--format", "json").out)
    assert [row["name"] for row in rows][:2] == ["validate_citation", "search_requirements"]
    assert {row["pack"] for row in rows} == {"trace"}
    assert duvet("tools").out.startswith("validate_citation\ttrace\treader\t")


def test_the_help_of_a_list(duvet: Run) -> None:
    done = duvet("tools", "list_uncited_requirements")
    assert done.code == 0
    assert "Answers a list of:\n  identifier, full_path, text\n" in done.out
    assert "  --level (MUST, SHOULD, MAY or unspecified; optional)\n" in done.out
    assert done.out.endswith("Example:\n  duvet call list_uncited_requirements\n\npack trace, scope reader\n")
    assert duvet("tools", "list_uncitd").code == 1
    assert duvet("tools", "coverage_summary", "--format", "json").code == 2
