"""Serves one client over standard input and output."""

from __future__ import annotations

from duvet.server.identity import Identity
from duvet.server.live import Live


def serve(identity: Identity, instructions: str, live: Live) -> None:
    """Answer until the input ends."""
    import anyio

    anyio.run(_serve, identity, instructions, live)


async def _serve(identity: Identity, instructions: str, live: Live) -> None:
    from mcp.server.stdio import stdio_server

    from duvet.server.protocol.server import DuvetServer
    from duvet.tools.registry import Registry

    server = DuvetServer(identity, instructions, live, Registry())
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
