"""The audit log, and records of calls for logging and metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial

from msgspec import Struct

from duvet import errors, text
from duvet.knowledge import feedback
from duvet.store import location
from duvet.tools.call_context import get_loop_limiter, run_blocking
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import ErrorCode

_MAX_ARGUMENTS = 12
_MAX_QUOTED = 300  # Characters of a quoted argument or warning.
_MAX_READ = 1000  # Characters of an argument that are inspected.
_SUCCESS = "success"


class CallRecord(Struct, frozen=True, kw_only=True):
    tool: str  # The tool's name; for an unknown tool, the escaped name from the request.
    pack: str = ""
    face: str
    request: str
    scope: str = ""
    arguments: str  # Their names and sizes, never their content.
    seconds: float = 0
    code: str = ""  # The code of the failure; empty after success.
    reason: str = ""  # The type of an unforeseen exception.
    bytes_in: int = 0
    bytes_out: int = 0
    warning: str = ""  # The warning, or only its length if it may quote the project.
    is_known: bool = True
    has_failed: bool = False  # True even for an answer that reports a failure.
    changes: bool = False  # True for a tool that changes something.
    holder: str = ""  # The name of the caller's token; empty for a caller on this machine.
    scopes: tuple[str, ...] = ()
    given: Mapping[str, object] = {}  # The arguments without secrets, for a tool that changes something.


CallObserver = Callable[[CallRecord], None]


def format_warning(pack: str, warning: str) -> str:
    """Return a warning for the log, or only its length if it may quote files of the project."""
    # The warnings of this pack quote no text.
    if not warning or pack == KNOWLEDGE.name:
        return text.shorten_text(text.collapse_whitespace(warning), _MAX_QUOTED)
    return f"str({len(warning)})"


def summarize_arguments(arguments: Mapping[str, object]) -> str:
    """Return the names and sizes of arguments; only numbers and booleans are quoted, because texts may be secret."""
    words = []
    for name, value in list(arguments.items())[:_MAX_ARGUMENTS]:
        plain = text.shorten_text(name)
        words.append(f"{plain if plain.isidentifier() else ascii(plain)}={_describe_size(value)}")
    return " ".join(words) + (" ..." if len(arguments) > _MAX_ARGUMENTS else "")


def select_plain_arguments(arguments: Mapping[str, object], names: Collection[str]) -> Mapping[str, object]:
    """Return the arguments in `names`; long texts are cut, and only the sizes of lists and objects are given."""
    ##= man/spec/gateway.md#audit
    ##% The audit log MUST NOT contain tokens, or the text of files, notes and uploads.
    found: dict[str, object] = {}
    for name, value in arguments.items():
        if name in names:
            if isinstance(value, str):
                found[name] = text.shorten_text(value[:_MAX_READ], _MAX_QUOTED)
            else:
                found[name] = value if isinstance(value, bool | int | float | None) else _describe_size(value)
    return found


def _describe_size(value: object) -> str:
    match value:
        case bool() | None:
            return str(value).lower()
        case int() | float():
            return text.shorten_text(f"{value:g}")
        case str():
            return f"str({len(value)})"
        case list() | tuple() | dict():
            return f"{'object' if isinstance(value, dict) else 'array'}({len(value)})"
    return type(value).__name__


class AuditLog(Struct, frozen=True):
    places: Callable[[], location.StorePaths]
    now: Callable[[], datetime]
    on_entry: Callable[[feedback.AuditEntry], None]
    on_failure: Callable[[str], None]  # Called with the reason if an entry was not written in time.
    patience: float = 2 * feedback.APPEND_PATIENCE  # Time limit for writing an entry, in seconds.

    async def record_call(self, call: CallRecord) -> None:
        """Write an entry if the call may have changed something; a failure to write goes to `on_failure`."""
        # A refused caller has changed nothing, and must not be able to fill the disk.
        if not call.changes or call.code in (ErrorCode.FORBIDDEN, ErrorCode.UNAUTHORIZED):
            return
        entry = feedback.AuditEntry(
            timestamp=self.now().isoformat(timespec="milliseconds"),
            tool=call.tool,
            outcome=call.code or ("failure" if call.has_failed else _SUCCESS),
            face=call.face,
            who=call.holder or "local",
            scopes=call.scopes,
            request=call.request,
            duration_seconds=round(call.seconds, 3),
            arguments=call.arguments,
            parameters=call.given,
        )
        self.on_entry(entry)
        if entry.outcome != _SUCCESS and not call.holder and not os.path.isdir(self.places().folder):
            return
        import anyio

        # With a separate limiter, slow writes don't use up the threads of other work.
        limiter = get_loop_limiter("duvet_accounting_turn", 4)
        ##= man/spec/gateway.md#audit
        ##% Before answering a call to a tool that changes something, the server MUST write the time, the tool, the
        ##% outcome and the caller to `audit.jsonl`.
        with anyio.move_on_after(self.patience) as scope:
            try:
                write = partial(feedback.append_record, self.places(), entry)
                await run_blocking(write, limiter=limiter, abandon=True)
            except errors.DuvetError as error:
                self.on_failure(error.message)
        if scope.cancelled_caught:
            self.on_failure(f"writing takes longer than {self.patience:g} seconds")
