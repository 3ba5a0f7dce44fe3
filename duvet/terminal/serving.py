"""A run of `duvet mcp`."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from duvet.terminal.exit_codes import OK
from duvet.terminal.service import HTTP, Assembly, assembly_of
from duvet.terminal.service_options import Listening
from duvet.terminal.streams import say

_AT_A_TERMINAL = (
    "duvet mcp waits on standard input for an agent, which speaks the Model Context Protocol; Ctrl-C ends it.\n"
    "`duvet mcp --print-config claude` prints what makes that agent start it; the others are in `duvet mcp --help`.\n"
)


def serve_service(listening: Listening, where: Mapping[str, Any]) -> None:
    """Serve whoever asks, by the way that is wanted."""
    assembly = assembly_of(where, mode=listening.mode)
    assembly.require_variables()
    if assembly.mode == HTTP:
        from duvet.terminal.serving_http import serve_http

        serve_http(assembly, listening)
    else:
        serve_stdio(assembly)


def serve_stdio(assembly: Assembly) -> None:
    """Serve the client at standard input and output until it leaves."""
    from duvet.server.stdio.wire import take

    wire = take()
    _leave_when_told()
    if os.isatty(wire.reading):
        say(_AT_A_TERMINAL)
    from duvet.server.stdio.early import greet

    opening = greet(wire, assembly.identity, assembly.instructions)
    if opening.read:
        # The client has its answer and waits for nothing while this is imported.
        assembly.live.begin()
        from duvet.server.log import tell_complaints
        from duvet.server.stdio.serve import serve

        log = assembly.log
        tell_complaints(log)
        told = assembly.renewing.instructions
        serve(wire, opening, assembly.identity, told, assembly.live, assembly.desk([log.saw]))


def _leave_when_told() -> None:
    """There is nothing to save, and whatever is being worked on has nobody to hear of it."""
    ##= man/spec/mcp.md#transport
    ##% SIGINT and SIGTERM MUST end the server at once, with the exit code 0.
    for sort in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sort, lambda number, frame: os._exit(OK))
