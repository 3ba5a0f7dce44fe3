import json
import logging
from asyncio import CancelledError
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from duvet.server.log import LOGGER_NAMES, EventLevel, ServerLog, forward_logging
from duvet.tools.dispatcher import CallRecord, summarize_arguments

NOON = datetime(2026, 5, 4, 12, 0, 0, 5000, UTC)
TIME = "2026-05-04T12:00:00.005Z"
ASKED: dict[str, Any] = {"tool": "search_requirements", "pack": "trace", "face": "mcp", "request": "7"}
CALL = CallRecord(**ASKED, scope="reader", arguments="query=str(14)", seconds=0.01234, bytes_in=26, bytes_out=100)
FAILED = replace(CALL, code="upstream_error", reason="ValueError", bytes_out=0)


def log_to(lines: list[str], level: EventLevel = EventLevel.TRACE, *, as_json: bool = False) -> ServerLog:
    return ServerLog(lines.append, level, as_json=as_json, clock=lambda: NOON)


##= man/spec/service.md#operations
##% At the log level `info`, the server MUST log each tool call as one line with time, tool, duration and outcome,
##% but without the texts of arguments and answers.
def test_a_call_is_a_line() -> None:
    lines: list[str] = []
    log_to(lines).record_call(CALL)
    log_to(lines).record_call(FAILED)
    log_to(lines, as_json=True).record_call(CALL)
    call = "face=mcp request=7 tool=search_requirements duration_ms=12.3"
    fields = f"{call} status=ok bytes_in=26 bytes_out=100"
    failure = "status=error code=upstream_error reason=ValueError bytes_in=26 bytes_out=0"
    arguments = 'arguments="query=str(14)"'
    assert lines[:2] == [f"{TIME} INFO call {fields} {arguments}", f"{TIME} WARN call {call} {failure} {arguments}"]
    common = [f"time={TIME}", "level=info", "message=call", *fields.split(), "arguments=query=str(14)"]
    assert [f"{name}={value}" for name, value in json.loads(lines[2]).items()] == common


def test_a_call_of_a_knowledge_tool_is_logged_by_default() -> None:
    lines: list[str] = []
    known = replace(CALL, pack="knowledge", tool="km-search", warning="cut", bytes_in=0, bytes_out=0)
    log = ServerLog(lines.append, clock=lambda: NOON)
    log.record_call(known)
    log.record_call(CALL)
    log.configure(EventLevel.WARN, as_json=False, is_command=True)
    log.record_call(known)
    log_to(lines, EventLevel.ERROR).record_call(known)
    call = "face=mcp request=7 tool=km-search duration_ms=12.3 status=ok warning=cut"
    assert lines == [f'{TIME} INFO call {call} arguments="query=str(14)"']


def test_a_level_leaves_out_what_is_less_important() -> None:
    levels = {EventLevel.DEBUG: "d", EventLevel.WARN: "w", EventLevel.ERROR: "e"}
    lines: list[str] = []
    for level in levels:
        log = log_to(lines, level)
        for one, word in levels.items():
            log.write_event(one, word)
    assert "".join(line[-1] for line in lines) == "dwe" + "we" + "e"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_long_line_is_cut_and_clients_cannot_begin_one(as_json: bool) -> None:
    lines: list[str] = []
    log = log_to(lines, as_json=as_json)
    for text, size in product(("x", "\U0001f600", '"\\', "\n"), (1, 30, 90, 900, 9000)):
        fields = {f"name{number}": text * size for number in range(12)}
        log.write_event(EventLevel.INFO, "call", tool="km-search", **fields)
    assert len(lines) == 20 and max(len(line.encode("ascii", "backslashreplace")) for line in lines) <= 4000
    assert all("call" in line and "km-search" in line for line in lines)
    ##= man/spec/service.md#operations
    ##% A client MUST NOT be able to forge a log line.
    log.write_event(EventLevel.INFO, "call", request="a\nb\r\x1b[31mc\u2028d\x85e\udc80")
    assert len(lines[20:]) == len(lines[20].splitlines()) == 1 and "\x1b" not in lines[20]
    lines[20].encode()


def test_arguments_are_summarized() -> None:
    given: dict[str, object] = {"query": "secret", "limit": 5, "deep": {"password": "secret"}, "all": True}
    assert summarize_arguments({**given, "none": None, "list": ["secret"], "odd name\n": 1.5}) == (
        "query=str(6) limit=5 deep=object(1) all=true none=none list=array(1) 'odd name\\n'=1.5"
    )
    assert len(summarize_arguments({f"name{number}": "x" for number in range(1000)})) < 300
    assert len(summarize_arguments({"x" * 100_000: "x"})) < 200


@pytest.fixture
def told() -> Iterator[list[str]]:
    """Yield captured log lines, and restore the loggers afterwards."""
    loggers = [logging.getLogger(name) for name in LOGGER_NAMES]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    found: list[str] = []
    forward_logging(log_to(found))
    yield found
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_exceptions_are_logged_without_what_clients_have_sent(told: list[str]) -> None:
    try:
        raise ValueError("secret")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n%s", "secret")
    logging.getLogger("mcp.server").error(f"Session {'0af3' * 8} crashed")
    logging.getLogger("mcp.server").warning("Invalid Host header: %s", "secret")
    logging.getLogger("uvicorn.error").error("Cancel %s running task(s), timeout graceful shutdown exceeded", 1)
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=CancelledError())
    logging.getLogger("asyncio").error("%s is strange", "secret")
    assert [line.split(" at=")[0] for line in told] == [
        f"{TIME} ERROR Exception in ASGI application error=ValueError",
        f"{TIME} ERROR Session … crashed",
        f"{TIME} ERROR … is strange",
    ]
