"""How many requests are answered at once."""

from __future__ import annotations

from collections import Counter

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from duvet.server.protocol.parts import Request

MOST = 1_000
BUSY = -32010
"""Of the codes that the protocol leaves to servers."""
_LASTS = "subscriptions/listen"


class Crowd:
    """Turns requests away while too many others wait: whoever does not listen must not fill the memory."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        # A stream lasts as long as its client: those that do not end must not keep the others out.
        self._at_work: Counter[bool] = Counter()

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        kind = ctx.method == _LASTS
        if self._at_work[kind] >= self._most:
            ##= man/spec/mcp.md#limits
            ##% While 1,000 requests are being answered, or 1,000 streams of changes are open, another one MUST be
            ##% refused with the code -32010.
            raise MCPError(code=BUSY, message="The server is busy", data={"hint": "try again in a moment"})
        self._at_work[kind] += 1
        try:
            return await call_next(ctx)
        finally:
            self._at_work[kind] -= 1
