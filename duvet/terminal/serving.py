"""A run of `duvet mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.terminal.options import open_cache
from duvet.terminal.questions import open_quietly
from duvet.terminal.settings import settings


def serve_stdio(where: Mapping[str, Any]) -> None:
    """Serve the client at standard input and output until it leaves."""
    from duvet.server.identity import Identity
    from duvet.server.live import Live
    from duvet.server.stdio.serve import serve

    shown = settings()
    serve(Identity(), "", Live(lambda: open_quietly(open_cache(shown), where), page_size=50))
