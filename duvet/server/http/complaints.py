"""What the server and what it stands on complain of: a line each, without what clients have sent."""

from __future__ import annotations

import logging
import re
from asyncio import CancelledError
from collections.abc import Callable

NAMES = ("uvicorn", "mcp", "starlette", "sse_starlette", "asyncio", "anyio")
_SESSION = re.compile("[0-9a-f]{32}")
"""Whoever knows the id of a session may speak in it."""
_PLACEHOLDER = re.compile("%[a-z]")
"""What would stand there may come from a client."""
_GIVES_UP = "Cancel %s running task(s), timeout graceful shutdown exceeded"


class Lines(logging.Handler):
    """Says errors in one line each."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        ##= man/spec/mcp.md#http
        ##% What goes wrong in the server MUST be told on standard error in a line, without the text of a request.
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, CancelledError) or record.msg == _GIVES_UP:
            # Who is told to end waits for nobody.
            return
        kind = type(error).__name__ if error else ""
        what = _PLACEHOLDER.sub("…", _SESSION.sub("…", str(record.msg).partition("\n")[0]))
        self._say(f"duvet mcp: {what}{f' ({kind})' if kind else ''}")


def tell_complaints(say: Callable[[str], None]) -> None:
    """From now on."""
    handler = Lines(say)
    for name in NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.ERROR)
        logger.propagate = False
