"""What a server is put together from."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

Request = ServerRequestContext[Any, Any]
"""What is known of a request beside its parameters."""


class Part(Protocol):
    """Answers some of the methods."""

    def register(self, server: Server[Any]) -> None:
        """Tell the server which."""


@runtime_checkable
class Running(Protocol):
    """A part with something to do beside the requests."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Does it as long as the server runs."""


@runtime_checkable
class Streaming(Protocol):
    """A part that holds streams open for as long as their clients like."""

    def close_streams(self) -> None:
        """Ends them, each with its last message; more may be opened afterwards."""


def whole_list(params: types.PaginatedRequestParams) -> None:
    """Refuse a cursor where the list has no parts."""
    if params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="Invalid cursor", data={"hint": "the list has no parts"})


def connection_of(request: Request) -> Connection:
    """The connection that a request came over, for what is sent to the client later or kept for it."""
    # The SDK shows it nowhere else.
    return request.session._connection
