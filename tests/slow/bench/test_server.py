"""The server that is measured, and the table of that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.budgets import Budget
from tests.bench.clients import talking
from tests.bench.figures import Figure, render
from tests.bench.measure import FailedError
from tests.bench.server import (
    ARGUMENTS,
    COUNT,
    ELSEWHERE,
    RIGHT,
    TOGETHER,
    WRONG,
    asked_of,
    cases,
    edited,
)
from tests.bench.workloads import Edit
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT

BUDGET = Budget(1.5, 2.5)


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is one of Linux")
def test_a_server_is_asked_and_watched(duvet_command: str, tmp_path: Path) -> None:
    make(tmp_path, TEA_PROJECT)
    with talking([duvet_command, "mcp"], tmp_path) as server:
        server.greet()
        greeted = server.cpu
        server.begin()
        tools = asked_of(server)
        assert ARGUMENTS.keys() <= tools.keys()
        assert tools["get_citation_context"]["context_lines"] == 2
        assert server.ask("ping", {}) == {}
        with pytest.raises(FailedError, match="Method not found"):
            server.ask("no/such", {})
        with pytest.raises(FailedError, match="not_found"):
            server.ask(
                "tools/call", {"name": "get_requirement_status", "arguments": {"req_identifier": "ffffffffffff"}}
            )
        asked = cases(server)
        for name, several in asked.items():
            assert len(several) == COUNT // (TOGETHER if name[0] == "validate_citations" else 1)
        verdicts = {
            what: {
                server.ask("tools/call", {"name": tool, "arguments": one})["structuredContent"]["valid"]
                for one in several[:20]
            }
            for (tool, what), several in asked.items()
            if tool == "validate_citation"
        }
        assert verdicts == {RIGHT: {True}, WRONG: {False}, ELSEWHERE: {False}}
        figure = edited(server, Edit(tmp_path / "src/pot.rs"))
        assert (figure.value > 0, figure.budget.gate) == (True, 300)
        assert 0 < greeted < server.cpu
        assert server.memory > 1


def test_a_command_that_ends_answers_nothing(tmp_path: Path) -> None:
    with (
        talking([sys.executable, "-c", "input()"], tmp_path) as server,
        pytest.raises(FailedError, match="has ended"),
    ):
        server.greet()


@pytest.mark.parametrize(
    ("value", "verdict", "passes"), [(1.5, "good", True), (2.5, "passes", True), (2.6, "TOO MUCH", False)]
)
def test_verdicts(value: float, verdict: str, passes: bool) -> None:
    figure = Figure("x", value, BUDGET)
    assert (figure.verdict, figure.passes) == (verdict, passes)


def test_the_table() -> None:
    assert render([Figure("a tool, p50 in pings", 1.234, BUDGET), Figure("b", 12.3, Budget(150, 300))]) == (
        "the server            measured    goal    gate\n"
        "a tool, p50 in pings      1.23    1.50    2.50  good\n"
        "b                        12.30  150.00  300.00  good"
    )
