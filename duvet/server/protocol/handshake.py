"""The version that a handshake ends with, where the configuration names one."""

from __future__ import annotations

from mcp.server.context import CallNext, HandlerResult

from duvet.server.protocol.parts import Request


class Pin:
    """Answers every handshake with one version."""

    def __init__(self, version: str) -> None:
        self._version = version

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict):
            return result
        ##= man/spec/mcp.md#handshake
        ##% The handshake MUST end with the version that the client asks for where the server knows it, and with the one
        ##% that the configuration names where it names one.
        return {**result, "protocolVersion": self._version}
