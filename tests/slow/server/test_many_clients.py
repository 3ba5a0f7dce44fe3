from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.streamable_http import streamable_http_client

from tests.unit.server.clients import MODERN, client_of, value_of
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import LONGEST, Where, asking

pytestmark = pytest.mark.anyio


async def test_two_hundred_clients_are_served(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project) as command:
        found: list[Any] = [None] * 200
        with anyio.fail_after(2 * LONGEST):
            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(_visit, command.where, number, found)
        assert command.end() == (0, "", "")
    assert found == [("tea", "tea", "Specification not found")[number % 3] for number in range(200)]


async def _visit(where: Where, number: int, found: list[Any]) -> None:
    async with asking(where) as http:
        transport = streamable_http_client(f"http://{where[0]}:{where[1]}/mcp", http_client=http)
        async with client_of(transport, MODERN if number % 2 else "2025-11-25") as client:
            answer = await client.call_tool("resolve_spec_id", {"url": ("tea", "tea.md", "coffee")[number % 3]})
    (found[number],) = value_of(answer).values()
