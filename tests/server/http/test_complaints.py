"""What goes wrong is told in a line."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Iterator

import pytest

from duvet.server.http.complaints import NAMES, tell_complaints


@pytest.fixture
def told() -> Iterator[list[str]]:
    """What is said; afterwards the loggers are as they were."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    found: list[str] = []
    tell_complaints(found.append)
    yield found
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


##= man/spec/mcp.md#http
##= type=test
##% What goes wrong in the server MUST be told on standard error in a line, without the text of a request.
def test_a_line_without_what_was_sent(told: list[str]) -> None:
    try:
        raise ValueError("secret")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n%s", "secret")
    logging.getLogger("mcp.server").error(f"Session {'0af3' * 8} crashed")
    logging.getLogger("mcp.server").warning("Invalid Host header: %s", "secret")
    logging.getLogger("uvicorn.error").error("Cancel %s running task(s), timeout graceful shutdown exceeded", 1)
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=CancelledError())
    logging.getLogger("asyncio").error("%s is strange", "secret")
    assert told == [
        "duvet mcp: Exception in ASGI application (ValueError)",
        "duvet mcp: Session … crashed",
        "duvet mcp: … is strange",
    ]
