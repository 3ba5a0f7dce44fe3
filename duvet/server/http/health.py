"""`/health` and `/ready`: whether the server lives, and whether it can answer."""

from __future__ import annotations

import anyio
from msgspec import json
from starlette.types import Receive, Scope, Send

from duvet.errors import DuvetError
from duvet.server.http.answers import answer
from duvet.server.live import Live

HEALTH, READY = "/health", "/ready"
_PATIENCE = 1.0


async def health(scope: Scope, receive: Receive, send: Send) -> None:
    """The server lives, or nobody would answer."""
    ##= man/spec/mcp.md#http
    ##% `/health` MUST answer `{"status":"ok"}` without a token.
    await answer(send, 200, b'{"status":"ok"}')


class Ready:
    """Whether the project can be read."""

    def __init__(self, live: Live) -> None:
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = await self._reason()
        ##= man/spec/service.md#operations
        ##% `/ready` MUST answer 200 once the project can be read and 503 as long as it can't, without a token, and without
        ##% saying what is in it.
        if reason:
            await answer(send, 503, json.encode({"status": "not ready", "reason": reason}), {"retry-after": "1"})
        else:
            await answer(send, 200, b'{"status":"ready"}')

    async def _reason(self) -> str:
        try:
            with anyio.fail_after(_PATIENCE):
                await self._live.context()
        except TimeoutError:
            return "the project is being read"
        except DuvetError:
            return "the project can't be read"
        return ""
