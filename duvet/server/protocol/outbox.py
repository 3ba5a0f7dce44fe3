"""What a client with a handshake is yet to be told of changes."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.connection import Connection

RESOURCES, TOOLS, PROMPTS = "resources", "tools", "prompts"
"""Stand for lists where others are URIs, which have a colon in them."""


class Outbox:
    """Each thing once, however often it happens before the client reads of it."""

    def __init__(self, connection: Connection, is_open: Callable[[], bool]) -> None:
        """What can't be told for now is kept until it can be."""
        self.uris: set[str] = set()
        """What the client has subscribed to."""
        self._connection = connection
        self._is_open = is_open
        self._waiting: dict[str, None] = {}
        self._is_busy = False

    def put(self, uri: str) -> bool:
        """Have the client told; whether somebody has to do it."""
        self._waiting[uri] = None
        return not self._is_busy

    def drop(self, uri: str) -> None:
        """The client doesn't want to be told of this any more."""
        self._waiting.pop(uri, None)

    async def deliver(self) -> None:
        """Tell everything; for a client that does not read that takes as long as it likes."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            ##= man/spec/mcp.md#freshness
            ##% What a client could not be told of over HTTP, for it had no stream open, it MUST be told once it opens one.
            while self._waiting and self._is_open():
                uri = next(iter(self._waiting))
                del self._waiting[uri]
                await self._tell(uri)
        finally:
            self._is_busy = False

    async def _tell(self, what: str) -> None:
        match what:
            case "resources":
                await self._connection.send_resource_list_changed()
            case "tools":
                await self._connection.send_tool_list_changed()
            case "prompts":
                await self._connection.send_prompt_list_changed()
            case uri:
                await self._connection.send_resource_updated(uri)
