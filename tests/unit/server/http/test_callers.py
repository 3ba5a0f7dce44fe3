"""Who may do what."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from duvet.server.http.tokens import AccessTokens
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.clients import client_of
from tests.unit.server.http.serving import ADMIN, BOTH, NOBODY, READER, asking, greet, serving, value_of
from tests.unit.server.wire import request

pytestmark = pytest.mark.anyio
FORBIDDEN = "forbidden"


async def _mend(server: DuvetServer, version: str, tokens: AccessTokens, token: str) -> tuple[bool, Any]:
    """Whether the tool for maintainers is shown, and what calling it comes to."""
    async with serving(server, tokens=tokens) as where, asking(where, token) as http:
        transport = streamable_http_client(f"{http.base_url}/mcp", http_client=http)
        async with client_of(transport, version) as client:
            shown = [tool.name for tool in (await client.list_tools()).tools]
            return "mend" in shown, value_of(await client.call_tool("mend", {}))


async def test_admins_do_everything(server: DuvetServer, version: str) -> None:
    assert await _mend(server, version, BOTH, ADMIN) == (True, {"done": True})


async def test_readers_read(server: DuvetServer, version: str) -> None:
    shown, answer = await _mend(server, version, BOTH, READER)
    assert (shown, answer["error"]["code"]) == (False, FORBIDDEN)


##= man/spec/mcp.md#http
##= type=test
##% Without tokens, `duvet mcp --http` MUST refuse an address that other machines can reach, and MUST let callers only
##% read.
async def test_without_tokens_all_read(server: DuvetServer, version: str) -> None:
    shown, answer = await _mend(server, version, NOBODY, ADMIN)
    assert (shown, answer["error"]["code"]) == (False, FORBIDDEN)


async def test_everything_in_memory(server: DuvetServer) -> None:
    async with Client(server) as client:
        assert (await client.call_tool("mend", {})).structured_content == {"done": True}


##= man/spec/mcp.md#http
##= type=test
##% With tokens, the server MUST answer a request to `/mcp` without a valid one with 401 and `WWW-Authenticate`, and
##% bind each session to its token.
@pytest.mark.parametrize(("begun", "used"), [(READER, ADMIN), (ADMIN, READER)])
async def test_a_session_is_of_one_caller(server: DuvetServer, begun: str, used: str) -> None:
    async with serving(server, tokens=BOTH) as where, asking(where, begun) as one, asking(where, used) as other:
        session = await greet(one)
        for method in ("GET", "DELETE"):
            assert (await other.request(method, "/mcp", headers=session)).status_code == 404
        assert (await other.post("/mcp", json=request("ping"), headers=session)).status_code == 404
        assert (await one.post("/mcp", json=request("ping"), headers=session)).status_code == 200
