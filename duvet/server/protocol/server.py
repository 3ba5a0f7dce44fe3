"""The server that every transport runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server

from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.protocol.calls import Calls
from duvet.server.protocol.completions import Completions
from duvet.server.protocol.guard import guard
from duvet.server.protocol.handshake import Pin
from duvet.server.protocol.levels import Levels
from duvet.server.protocol.parts import Part, Running, Streaming
from duvet.server.protocol.prompts import Prompts
from duvet.server.protocol.resources import Resources
from duvet.server.protocol.rounds import sealing
from duvet.server.protocol.sampling import with_answers
from duvet.server.protocol.subscriptions import Subscriptions
from duvet.tools.desk import Desk


class DuvetServer(Server[Any]):
    """A server of the SDK that says what it can do whoever asks, and hands every question on to its parts."""

    def __init__(
        self,
        identity: Identity,
        instructions: str | Callable[[], str],
        live: Live,
        desk: Desk,
        *,
        parts: Sequence[Part] = (),
    ) -> None:
        """Parts that are handed over come last, and may replace what others answer."""
        self._instructions = instructions
        super().__init__(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            lifespan=_running,
        )
        self.identity = identity
        self.live = live
        self.desk = desk
        self.subscriptions = Subscriptions(live, desk)
        self.parts: Sequence[Part] = (
            Calls(desk),
            Resources(live),
            Prompts(desk, live, self._told),
            Completions(live),
            Levels(),
            self.subscriptions,
            *parts,
        )
        pinned = [Pin(identity.protocol_version)] if identity.protocol_version else []
        # In this order, the outermost first; what the SDK brings along is for a kind of measuring that nobody does here.
        self.middleware[:] = [guard, *pinned, sealing(identity.name), with_answers]
        for part in self.parts:
            part.register(self)

    @property
    def instructions(self) -> str | None:
        """What an agent should know before it begins, as of now."""
        return self._told()

    @instructions.setter
    def instructions(self, value: str | None) -> None:
        # The SDK sets what it was not given.
        assert value is None

    def _told(self) -> str:
        return self._instructions if isinstance(self._instructions, str) else self._instructions()

    def close_streams(self) -> None:
        """End every stream that would last as long as its client."""
        for part in self.parts:
            if isinstance(part, Streaming):
                part.close_streams()

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """What the parts can do, whichever transport asks."""
        # The manager of HTTP sessions asks without options.
        return super().get_capabilities(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )


@asynccontextmanager
async def _running(server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
    """Let the parts do what they do beside the requests, and close what these have opened, once for all clients."""
    assert isinstance(server, DuvetServer)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.desk.aclose)
        for part in server.parts:
            if isinstance(part, Running):
                await stack.enter_async_context(part.running())
        yield {}
