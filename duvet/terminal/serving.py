"""A run of `duvet mcp`."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duvet.terminal.exit_codes import OK
from duvet.terminal.settings import Settings, settings, wants_cache
from duvet.terminal.streams import say

if TYPE_CHECKING:
    from duvet.cache.blobs import Blobs

_AT_A_TERMINAL = (
    "duvet mcp waits on standard input for an agent, which speaks the Model Context Protocol; Ctrl-C ends it.\n"
    "`duvet mcp --print-config claude` prints what makes that agent start it; the others are in `duvet mcp --help`.\n"
)


def serve_stdio(where: Mapping[str, Any]) -> None:
    """Serve the client at standard input and output until it leaves."""
    from duvet.server.stdio.wire import take

    wire = take()
    _leave_when_told()
    if os.isatty(wire.reading):
        say(_AT_A_TERMINAL)
    from duvet.config.server import server_rule
    from duvet.server.identity import identity_of
    from duvet.server.instructions import instructions
    from duvet.server.stdio.early import greet
    from duvet.tree.disk import DiskTree

    shown = settings()
    rule = server_rule(DiskTree(), where["config_path"] or shown.config_path)
    identity, text = identity_of(rule), instructions(rule, blobs_of(shown))
    opening = greet(wire, identity, text)
    if opening.read:
        # The client has its answer and waits for nothing while this is imported.
        from duvet.terminal.lasting import live_project

        live = live_project(where, rule.page_size)
        live.begin()
        from duvet.server.stdio.serve import serve
        from duvet.tools.registry import Registry

        serve(wire, opening, identity, text, live, Registry(rule.packs))


def _leave_when_told() -> None:
    """There is nothing to save, and whatever is being worked on has nobody to hear of it."""
    ##= man/spec/mcp.md#transport
    ##% SIGINT and SIGTERM MUST end the server at once, with the exit code 0.
    for sort in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sort, lambda number, frame: os._exit(OK))


def blobs_of(shown: Settings) -> Blobs:
    """What earlier runs have kept for this project, where a cache is wanted."""
    from duvet.cache.blobs import Blobs, NoBlobs
    from duvet.tree.disk import CACHE_FOLDER, DiskTree

    return Blobs(DiskTree().at(CACHE_FOLDER)) if wants_cache(shown) else NoBlobs()
