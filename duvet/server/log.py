"""The log of the server on standard error, as text or JSON lines."""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import IntEnum

from msgspec import Struct, json

from duvet.tools.audit import CallRecord
from duvet.workflows.workflow import FailureCode, WorkflowRun

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SESSION = re.compile("[0-9a-f]{32}")
"""Whoever knows the id of a session may speak in it."""
_PLACEHOLDER = re.compile("%[a-z]")
"""What would stand there may come from a client."""
_LONGEST = 4000
"""Bytes of a line: a pipe that has room for anything takes so many at once."""
_SHORTER = (1000, 300, 100, 20)
"""Characters of the texts in a line that is too long."""
_GIVES_UP = "Cancel %s running task(s), timeout graceful shutdown exceeded"
LOGGER_NAMES = ("duvet", "uvicorn", "mcp", "starlette", "sse_starlette", "asyncio", "anyio")


class EventLevel(IntEnum):
    """How important something is."""

    TRACE = 5
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40


class LogEvent(Struct, frozen=True):
    """Something that happened."""

    level: EventLevel
    message: str
    fields: Mapping[str, object]

    def cut(self, most: int) -> LogEvent:
        """The same with texts of no more characters, and with no more texts."""
        fields = {name: value[:most] if isinstance(value, str) else value for name, value in self.fields.items()}
        return LogEvent(self.level, self.message[:most], dict([*fields.items()][:most]))


def _now() -> datetime:
    return datetime.now(UTC)


def _always() -> bool:
    return True


class ServerLog:
    """Writes what is important enough, a line each."""

    def __init__(
        self,
        write: Callable[[str], None],
        level: EventLevel = EventLevel.WARN,
        *,
        as_json: bool = False,
        clock: Callable[[], datetime] = _now,
        is_read: Callable[[], bool] = _always,
    ) -> None:
        """The line that is written has no line feed at its end; none is while nobody takes it."""
        self._write = write
        self._is_read = is_read
        self._missed = 0
        self._clock = clock
        self.turn_to(level, as_json=as_json)

    def turn_to(self, level: EventLevel, *, as_json: bool) -> None:
        """From now on."""
        self._level = level
        self._lay_out = _as_json if as_json else _as_text

    def wants(self, level: EventLevel) -> bool:
        """Whether events of this level are written."""
        return level >= self._level

    def tell(self, level: EventLevel, message: str, **fields: object) -> None:
        """Write an event, if it is important enough."""
        if self.wants(level):
            self._put(LogEvent(level, message, fields))

    def note(self, message: str, **fields: object) -> None:
        """Write an event that nobody may miss, however little is wanted."""
        self._put(LogEvent(EventLevel.INFO, message, fields))

    def _put(self, event: LogEvent) -> None:
        ##= man/spec/service.md#operations
        ##% The server MUST NOT wait for the reader of its log, and MUST log how many lines it left out.
        if not self._is_read():
            self._missed += 1
            return
        if self._missed:
            event = LogEvent(event.level, event.message, {**event.fields, "lines_left_out_before": self._missed})
            self._missed = 0
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        lines = (self._lay_out(time, one) for one in (event, *map(event.cut, _SHORTER)))
        self._write(next(filter(_fits, lines), ""))

    def saw(self, call: CallRecord) -> None:
        """Write a call of a tool."""
        ##= man/spec/service.md#operations
        ##% The server MUST log each call of a tool as one line with time, request, tool, duration, outcome, sizes and
        ##% warnings.
        level = _LEVELS.get(call.code, EventLevel.INFO)
        more = {"code": call.code, "reason": call.reason, "warning": call.warning}
        self.tell(
            level,
            "call",
            face=call.face,
            request=call.request,
            tool=call.tool,
            duration_ms=round(call.seconds * 1000, 1),
            status="error" if call.code else "ok",
            **{name: value for name, value in more.items() if value},
            bytes_in=call.bytes_in,
            bytes_out=call.bytes_out,
            arguments=call.arguments,
        )

    def ran(self, run: WorkflowRun) -> None:
        """Write what became of the steps of a workflow that nobody has an answer to."""
        ##= man/spec/workflows.md#steps
        ##% A cancelled workflow MUST NOT begin another step, and the log MUST contain what became of each step.
        if run.error is not None and run.error.code is FailureCode.CANCELLED:
            self.tell(
                EventLevel.WARN,
                "run",
                workflow=run.workflow,
                status=run.status,
                code=run.error.code.value,
                step=run.error.step,
                duration_ms=round(run.duration_seconds * 1000, 1),
                steps=" ".join(f"{step.id}={step.status}" for step in run.steps),
            )


def _fits(line: str) -> bool:
    # However standard error is encoded.
    return len(line) <= _LONGEST and len(line.encode("ascii", "backslashreplace")) <= _LONGEST


_LEVELS = {"upstream_error": EventLevel.WARN, "internal": EventLevel.ERROR}


def _as_text(time: str, event: LogEvent) -> str:
    shown = [f"{name}={_word(value)}" for name, value in event.fields.items()]
    return _plain(" ".join([time, event.level.name, event.message, *shown]))


def _word(value: object) -> str:
    text = str(value)
    return json.encode(text).decode() if not text or set(text) & set(' "=\\') else text


def _as_json(time: str, event: LogEvent) -> str:
    told = {"time": time, "level": event.level.name.lower(), "message": event.message, **event.fields}
    return json.encode(
        {name: _plain(value) if isinstance(value, str) else value for name, value in told.items()}
    ).decode()


def _plain(text: str) -> str:
    """The text without what could begin another line, or move about on a terminal."""
    ##= man/spec/service.md#operations
    ##% A line of the log MUST have at most 4,000 bytes, contain no arguments or answers, and not be forgeable by
    ##% clients.
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).encode(errors="replace").decode()


class LogForwarder(logging.Handler):
    """Tells what the server and what it stands on complain of, without what clients have sent."""

    def __init__(self, log: ServerLog) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        ##= man/spec/mcp.md#errors
        ##% An unexpected failure MUST reach the client only as `Internal error` with the code -32603, and standard
        ##% error as one line without the text of the request.
        error = record.exc_info[1] if record.exc_info else None
        from asyncio import CancelledError

        if isinstance(error, CancelledError) or record.msg == _GIVES_UP:
            # Who is told to end waits for nobody.
            return
        fields = {"error": type(error).__name__, "at": _place(error)} if error else {}
        what = _PLACEHOLDER.sub("…", _SESSION.sub("…", str(record.msg).partition("\n")[0]))
        self._log.tell(EventLevel.ERROR, what, **fields)


def _place(error: BaseException) -> str:
    """Where it was raised."""
    places = [
        f"{os.path.basename(frame.f_code.co_filename)}:{line}" for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    return places[-1] if places else ""


def forward_logging(log: ServerLog) -> None:
    """From now on."""
    handler = LogForwarder(log)
    for name in LOGGER_NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.ERROR)
        logger.propagate = False
