"""How a conversation begins, and what is told on the side."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.shared.exceptions import MCPError
from mcp_types import LoggingMessageNotificationParams

from duvet.server.messages import ServerIdentity
from tests.unit.server.clients import HANDSHAKES, MODERN, client_of
from tests.unit.server.protocol.made import live_of, made

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("asked", HANDSHAKES)
@pytest.mark.parametrize("pinned", [None, "2025-03-26"])
async def test_the_version_is_the_one_that_is_asked_for_or_the_configured_one(
    project: Path, asked: str, pinned: str | None
) -> None:
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The server MUST use the version of the protocol that the configuration names, or else the one that the client
    ##% requests if the server supports it.
    server = made(live_of(project), ServerIdentity(protocol_version=pinned))
    async with client_of(InMemoryTransport(server), asked) as client:
        assert client.protocol_version == (pinned or asked)
        answer = await client.call_tool("twice", {"number": 1})
        assert answer.structured_content == {"number": 2}


async def test_a_configured_version_leaves_the_era_without_a_handshake_alone(project: Path) -> None:
    server = made(live_of(project), ServerIdentity(protocol_version="2025-03-26"))
    async with Client(server, mode="auto") as client:
        assert client.protocol_version == MODERN


async def test_instructions_are_those_of_the_moment(project: Path) -> None:
    said = ["one", "two"]
    server = made(live_of(project))
    server._instructions = lambda: said.pop(0)
    heard = []
    for mode in ("legacy", "auto"):
        async with Client(server, mode=mode) as client:
            heard.append(client.instructions)
    assert heard == ["one", "two"]


class Heard:
    """The messages that a client was sent."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, object]]] = []

    async def __call__(self, params: LoggingMessageNotificationParams) -> None:
        data = dict(params.data)
        assert data.pop("milliseconds", 0) >= 0 and params.logger == "duvet"
        self.messages.append((params.level, data))


FAILED = ("info", {"method": "tools/call", "name": "nothing", "failed": 'Unknown tool: "nothing"'})
CALLED = ("debug", {"method": "tools/call", "name": "twice"})


async def talk(client: Client) -> None:
    await client.call_tool("twice", {"number": 1})
    with pytest.raises(MCPError):
        await client.call_tool("nothing", {})


@pytest.mark.parametrize(
    ("level", "expected"), [(None, []), ("error", []), ("info", [FAILED]), ("debug", [CALLED, FAILED])]
)
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_client_with_a_handshake_hears_what_it_has_set(
    project: Path, level: str | None, expected: list[object]
) -> None:
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The server MUST send a client only log messages of the level that the client has set, or of a higher one.
    heard = Heard()
    async with Client(made(live_of(project)), mode="legacy", logging_callback=heard) as client:
        await client.list_tools()
        if level:
            await client.session.set_logging_level(level)  # type: ignore[arg-type]
        await talk(client)
        await client.send_ping()
    assert [one for one in heard.messages if one[1] != {"method": "ping"}] == expected


@pytest.mark.parametrize(("level", "expected"), [(None, []), ("info", [FAILED]), ("debug", [CALLED, FAILED])])
async def test_a_client_without_one_hears_what_it_asks_for_with_each_request(
    project: Path, level: str | None, expected: list[object]
) -> None:
    heard = Heard()
    async with Client(made(live_of(project)), mode=MODERN, logging_callback=heard, log_level=level) as client:  # type: ignore[arg-type]
        await talk(client)
    assert [one for one in heard.messages if one[1] != {"method": "tools/list"}] == expected


def test_starting_warns_of_nothing(project: Path, recwarn: pytest.WarningsRecorder) -> None:
    made(live_of(project))
    assert [str(one.message) for one in recwarn] == []
