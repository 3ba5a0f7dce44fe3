"""The server's log on standard error, as text or JSON lines."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import json

from duvet.tools.packs import KNOWLEDGE
from duvet.tools.plugins import describe_exception, find_place, format_traceback
from duvet.tools.tool import SHELL_SOURCE

if TYPE_CHECKING:
    from duvet.llm.records import ModelCall
    from duvet.tools.dispatcher import CallRecord
    from duvet.workflows.workflow import WorkflowRun

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SESSION = re.compile("[0-9a-f]{32}")  # Session ids, which work like passwords.
_PLACEHOLDER = re.compile("%[a-z]")  # Placeholders of messages, whose values may come from clients.
_MAX_LINE_BYTES = 4000  # A pipe that is ready accepts a line of this size without blocking.
_SHORTER_TEXTS = (1000, 300, 100, 20)  # Lengths to which texts are cut, until the line is short enough.
_SHUTDOWN_MESSAGE = "Cancel %s running task(s), timeout graceful shutdown exceeded"
LOGGER_NAMES = ("duvet", "uvicorn", "mcp", "starlette", "sse_starlette", "asyncio", "anyio")


class EventLevel(IntEnum):
    TRACE = 5
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40


_CALL_LEVELS = dict.fromkeys(("upstream_error", "tool_failed"), EventLevel.WARN) | {"internal": EventLevel.ERROR}


class ServerLog:
    def __init__(
        self,
        write: Callable[[str], None],
        level: EventLevel = EventLevel.WARN,
        *,
        as_json: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        is_read: Callable[[], bool] = lambda: True,
    ) -> None:
        """`write` gets each line without its line end; while `is_read` returns False, lines are dropped and counted."""
        self._write = write
        self._is_read = is_read
        self._missed = 0
        self._clock = clock
        self.configure(level, as_json=as_json)

    def configure(self, level: EventLevel, *, as_json: bool, is_command: bool = False) -> None:
        """Unless `is_command` is set, calls to `km-` tools appear even at level `warn`."""
        self._level = level
        self._is_command = is_command
        self._format = _format_json if as_json else _format_text

    def wants(self, level: EventLevel) -> bool:
        return level >= self._level

    def write_event(self, level: EventLevel, message: str, **fields: object) -> None:
        if self.wants(level):
            self.write_line(level, message, **fields)

    def write_line(self, level: EventLevel, message: str, **fields: object) -> None:
        ##= man/spec/service.md#operations
        ##% Logging MUST NOT block the server, and the server MUST log the number of lines that it dropped.
        if not self._is_read():
            self._missed += 1
            return
        if self._missed:
            fields["lines_left_out_before"] = self._missed
            self._missed = 0
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for limit in (None, *_SHORTER_TEXTS):
            cut = {name: value[:limit] if isinstance(value, str) else value for name, value in fields.items()}
            line = self._format(time, level, message[:limit], dict([*cut.items()][:limit]))
            # The encoding of standard error is unknown.
            if len(line.encode("ascii", "backslashreplace")) <= _MAX_LINE_BYTES:
                break
        else:
            line = ""
        self._write(line)

    def record_call(self, call: CallRecord) -> None:
        ##= man/spec/service.md#operations
        ##% At the log level `info`, the server MUST log each tool call as one line with time, tool, duration and
        ##% outcome, but without the texts of arguments and answers.
        levels = {"internal": EventLevel.ERROR} if call.face == SHELL_SOURCE else _CALL_LEVELS
        level = levels.get(call.code, EventLevel.INFO)
        # A server logs the calls of this pack at the level `warn`, too.
        is_telemetry = call.pack == KNOWLEDGE.name and not self._is_command
        if not self.wants(EventLevel.WARN if is_telemetry else level):
            return
        optional = {"code": call.code, "reason": call.reason, "warning": call.warning}
        sizes = {"bytes_in": call.bytes_in, "bytes_out": call.bytes_out}
        self.write_line(
            level,
            "call",
            face=call.face,
            request=call.request,
            tool=call.tool,
            duration_ms=round(call.seconds * 1000, 1),
            status="error" if call.code else "ok",
            **{name: value for name, value in optional.items() if value},
            **(sizes if call.bytes_in or self.wants(EventLevel.INFO) else {}),
            arguments=call.arguments,
        )

    def record_model_call(self, call: ModelCall) -> None:
        self.write_event(
            EventLevel.INFO,
            "model",
            provider=call.provider,
            model=call.model,
            duration_ms=round(call.seconds * 1000, 1),
            tokens_in=call.usage.input_tokens,
            tokens_out=call.usage.output_tokens,
        )

    def record_exception(self, tool: str, error: BaseException) -> None:
        where, what = find_place(error), describe_exception(error)
        self.write_event(EventLevel.WARN, "a tool raised an exception", tool=tool, error=what, at=where)
        self.record_traceback(format_traceback(error))

    def record_traceback(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write_event(EventLevel.DEBUG, line)

    def record_run(self, run: WorkflowRun) -> None:
        # A cancelled workflow returns no answer.
        if failure := run.cancellation:
            self.write_event(
                EventLevel.WARN,
                "run",
                workflow=run.workflow,
                status=run.status,
                code=failure.code.value,
                step=failure.step,
                duration_ms=round(run.duration_seconds * 1000, 1),
                steps=" ".join(f"{step.id}={step.status}" for step in run.steps),
            )


def _format_text(time: str, level: EventLevel, message: str, fields: Mapping[str, object]) -> str:
    words = [time, level.name, message]
    for name, value in fields.items():
        text = str(value)
        is_plain = text and not set(text) & set(' "=\\')
        words.append(f"{name}={text if is_plain else json.encode(text).decode()}")
    return _escape(" ".join(words))


def _format_json(time: str, level: EventLevel, message: str, fields: Mapping[str, object]) -> str:
    event = {"time": time, "level": level.name.lower(), "message": message, **fields}
    return json.encode(
        {name: _escape(value) if isinstance(value, str) else value for name, value in event.items()}
    ).decode()


def _escape(text: str) -> str:
    ##= man/spec/service.md#operations
    ##% A client MUST NOT be able to forge a log line.
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).encode(errors="replace").decode()


class LogForwarder(logging.Handler):
    def __init__(self, log: ServerLog) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # The name, because start-up must not import asyncio.
        if type(error).__name__ == "CancelledError" or record.msg == _SHUTDOWN_MESSAGE:
            # Usual when the server is stopped.
            return
        # Without the arguments, which may contain data from clients.
        message = _PLACEHOLDER.sub("…", _SESSION.sub("…", str(record.msg).partition("\n")[0]))
        fields = {"error": type(error).__name__, "at": find_place(error)} if error else {}
        self._log.write_event(EventLevel.ERROR, message, **fields)


def forward_logging(log: ServerLog) -> None:
    handler = LogForwarder(log)
    for name in LOGGER_NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.ERROR)
        logger.propagate = False
