"""Two hundred concurrent clients are all answered."""

from __future__ import annotations

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
        found: list[Any] = []
        with anyio.fail_after(2 * LONGEST):
            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(_visit, command.where, number % 2 == 0, found)
        assert command.end() == (0, "", "")
    assert found == [["tea", "tea", "Specification not found"]] * 200


async def _visit(where: Where, is_modern: bool, found: list[Any]) -> None:
    async with asking(where) as http:
        transport = streamable_http_client(f"http://{where[0]}:{where[1]}/mcp", http_client=http)
        async with client_of(transport, MODERN if is_modern else "2025-11-25") as client:
            answers = [await client.call_tool("resolve_spec_id", {"url": url}) for url in ("tea", "tea.md", "coffee")]
    found.append([next(iter(value_of(one).values())) for one in answers])
