"""Whether tools are called at the server of a team, as the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duvet.tools.gateway.line import Line

_URL = "KM_GATEWAY_URL"
_SERVES = "http"
"""Who serves others answers them from what is known here: two servers could ask each other without end."""


def line_of(environ: Mapping[str, str], mode: str, seconds: float) -> Line | None:
    """The line to that server; None where the environment names none. QueryError where it can't be meant."""
    ##= man/spec/gateway.md#access
    ##% `KM_GATEWAY_URL` MUST switch the pack `knowledge` on unless the configuration switches it off, and MUST NOT count for
    ##% `duvet mcp --http`, which says so.
    if not is_forwarded(environ) or mode == _SERVES:
        return None
    from duvet.server.http.tokens import written_tokens
    from duvet.tools.gateway.gateway import gateway_at
    from duvet.tools.gateway.line import Line

    return Line(gateway_at(environ[_URL].strip(), *written_tokens(environ)), seconds)


def is_forwarded(environ: Mapping[str, str]) -> bool:
    """Whether the environment names such a server."""
    return bool(environ.get(_URL, "").strip())
