"""Serves one client over standard input and output."""

from __future__ import annotations

import gc
from collections.abc import Callable

from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.stdio.early import Opening
from duvet.server.stdio.wire import Wire
from duvet.tools.desk import Desk


def serve(
    wire: Wire, opening: Opening, identity: Identity, instructions: str | Callable[[], str], live: Live, desk: Desk
) -> None:
    """Go on after the opening, until the input ends."""
    import anyio

    from duvet.server.protocol.server import DuvetServer
    from duvet.server.stdio.conversation import converse

    server = DuvetServer(identity, instructions, live, desk)
    # What a short run does without: this one may last for days. What is imported is here to stay.
    gc.enable()
    gc.freeze()
    ##= man/spec/mcp.md#transport
    ##% The end of the input MUST end the server with the exit code 0.
    anyio.run(converse, wire, opening, server)
