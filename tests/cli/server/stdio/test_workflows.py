"""Workflows of the installed command, whose client is asked for its model."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.server.wire import CLIENT, Wire, request

CONFIG = """
providers: { mine: { kind: client } }
workflows:
  sum:
    description: Sums up
    steps:
      - { id: count, tool: coverage_summary }
      - { id: tell, model: mine, prompt: "A secret: ${steps.count.result.total}" }
      - { id: again, tool: coverage_summary }
"""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}, "clientInfo": CLIENT}
CALL = request("tools/call", {"name": "workflow.sum", "arguments": {}}, id="call")
ANSWERS = {
    "nothing": {},
    "no text": {"role": "assistant", "model": "theirs", "content": {"type": "text"}},
    "no model": {"role": "assistant", "content": {"type": "text", "text": "tea"}},
    "a drawing": {"role": "assistant", "model": "theirs", "content": {"type": "image", "data": 1}},
}


@pytest.fixture
def asked(wire: Callable[..., Wire], project: Path) -> tuple[Wire, Any]:
    """The server, which waits for what its client's model says, and the id of its question."""
    (project / "duvet.config.yaml").write_text(CONFIG)
    server = wire()
    server.ask("initialize", HELLO, id=0)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, CALL)
    return server, next_of(server, "sampling/createMessage")["id"]


def next_of(server: Wire, method: str) -> dict[str, Any]:
    """The next request for this method."""
    while (message := server.read()).get("method") != method:
        pass
    return message


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_protocol_does_not_have(asked: tuple[Wire, Any], name: str) -> None:
    ##= man/spec/service.md#models-of-clients
    ##= type=test
    ##% With a provider of the kind `client`, the server MUST ask the model of the calling client if that client offers
    ##% it, and fail the step for an answer that is not text.
    server, question = asked
    server.send({"jsonrpc": "2.0", "id": question, "result": ANSWERS[name]})
    while (answer := server.read()).get("id") != "call":
        pass
    told = answer["result"]["content"][0]["text"]
    assert answer["result"]["isError"] and '"code":"model_failed"' in told
    assert "the client's model answers something else than text" in told
    assert re.findall('"status":"(success|error|skipped)"', told)[-3:] == ["success", "error", "skipped"]


def test_a_run_that_is_cancelled(asked: tuple[Wire, Any]) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A cancelled workflow MUST NOT begin another step, and the log MUST contain what became of each step.
    server, _ = asked
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "call"}})
    server.ask("ping", id="over")
    assert server.end() == 0
    (line,) = [line for line in server.told().splitlines() if " run " in line]
    assert re.fullmatch(
        r"\S+ WARN run workflow=sum status=error code=cancelled step=tell duration_ms=[\d.]+ "
        'steps="count=success tell=error again=skipped"',
        line,
    )
