"""Every version of the protocol over the pipes of the installed command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client

from tests.unit.server.clients import client_of, over_stdio
from tests.unit.server.wire import Wire

pytestmark = pytest.mark.anyio


async def test_a_client_in_memory_calls_a_tool(client: Client) -> None:
    answer = await client.call_tool("resolve_spec_id", {"url": "tea.md"})
    assert answer.structured_content == {"spec_id": "tea"}


async def test_a_client_over_pipes_calls_a_tool(duvet_command: str, project: Path, version: str) -> None:
    async with client_of(over_stdio(duvet_command, project), version) as client:
        assert client.protocol_version == version
        answer = await client.call_tool("resolve_spec_id", {"url": "tea.md"})
        assert answer.structured_content == {"spec_id": "tea"}


def test_lines_are_answered_and_the_end_of_input_ends_it(wire: Callable[..., Wire]) -> None:
    process = wire()
    assert process.greet("2025-03-26")["result"]["protocolVersion"] == "2025-03-26"
    assert process.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (process.end(), process.told()) == (0, "")
