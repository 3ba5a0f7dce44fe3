"""The audit log of calls, and records of calls for log and metrics."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.feedback import APPEND_PATIENCE, AuditEntry, append_audit_entry
from duvet.knowledge.settings import StorePaths
from duvet.text import escape_line_ends, shorten_text
from duvet.tools.tool import ErrorCode

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar


_MOST = 12
_LONGEST_TOLD = 300
_LONGEST = 1000
"""Characters that are looked at of a name that somebody has made up."""
_LONGEST_WARNING = 300
_WORDED = "knowledge"
"""The pack whose warnings quote no text."""


class CallRecord(Struct, frozen=True, kw_only=True):
    """One call of a tool."""

    tool: str
    """Its name, or what was taken for one."""
    pack: str
    face: str
    request: str
    scope: str
    arguments: str
    """Their names and sizes, never what they say."""
    seconds: float
    code: str = ""
    """How it failed; nothing where it didn't."""
    reason: str = ""
    """What was thrown, where nobody foresaw that."""
    bytes_in: int = 0
    bytes_out: int = 0
    warning: str = ""
    """What the caller was warned of, or how long that is where it may quote the project."""
    is_known: bool = True
    """Whether there is such a tool."""
    has_failed: bool = False
    """Whether nothing has come of it, be it that it was answered."""
    changes: bool = False
    """Whether it is one that changes something."""
    holder: str = ""
    """Whose token was shown; empty for who calls on this machine."""
    scopes: tuple[str, ...] = ()
    """Those of the caller."""
    given: Mapping[str, object] = {}
    """The arguments that tell nothing secret, of what changes something."""


CallObserver = Callable[[CallRecord], None]
CallKeeper = Callable[[CallRecord], Awaitable[None]]


def escape_tool_name(name: str) -> str:
    """The beginning of what was taken for the name of a tool, with everything escaped that is more than ASCII."""
    return shorten_text(name[:_LONGEST].encode("unicode_escape").decode())


def format_warning(pack: str, warning: str) -> str:
    """A warning in whole where its words are ours."""
    ##= man/spec/service.md#operations
    ##% The server MUST log each call of a tool as one line with time, request, tool, duration, outcome, sizes and
    ##% warnings.
    if not warning or pack == _WORDED:
        return shorten_text(escape_line_ends(warning), _LONGEST_WARNING)
    return f"str({len(warning)})"


def summarize_arguments(arguments: Mapping[str, object]) -> str:
    """The names of arguments and how large they are; numbers and truths tell nothing that is secret."""
    ##= man/spec/service.md#operations
    ##% A line of the log MUST have at most 4,000 bytes, contain no arguments or answers, and not be forgeable by
    ##% clients.
    shown = [f"{_name(name)}={_size(value)}" for name, value in list(arguments.items())[:_MOST]]
    return " ".join([*shown, *(["..."] if len(arguments) > _MOST else [])])


def select_plain_arguments(arguments: Mapping[str, object], names: Collection[str]) -> Mapping[str, object]:
    """The arguments of these names, as far as they are short and simple."""
    ##= man/spec/gateway.md#audit
    ##% The audit log MUST NOT contain tokens or the content of files, texts and notes.
    return {name: _brief(value) for name, value in arguments.items() if name in names}


def _brief(value: object) -> object:
    if isinstance(value, str):
        return shorten_text(value[:_LONGEST], _LONGEST_TOLD)
    return value if isinstance(value, bool | int | float | None) else _size(value)


def _name(name: str) -> str:
    plain = shorten_text(name)
    return plain if plain.isidentifier() else ascii(plain)


def _size(value: object) -> str:
    match value:
        case bool() | None:
            return str(value).lower()
        case int() | float():
            return shorten_text(f"{value:g}")
        case str():
            return f"str({len(value)})"
        case list() | tuple() | dict():
            return f"{'object' if isinstance(value, dict) else 'array'}({len(value)})"
    return type(value).__name__


LOCAL_CALLER, SUCCESS_OUTCOME = "local", "success"
_WRITERS = 4
_REFUSED = (ErrorCode.FORBIDDEN, ErrorCode.UNAUTHORIZED)


class AuditLog:
    """Hears of calls, and writes those down that a maintainer has made of tools which change something."""

    def __init__(
        self,
        places: Callable[[], StorePaths],
        now: Callable[[], datetime],
        told: Callable[[AuditEntry], None],
        failed: Callable[[str], None],
        patience: float = 2 * APPEND_PATIENCE,
    ) -> None:
        """`told` hears of each line, and `failed` why one could not be written within so many seconds."""
        self._places = places
        self._now = now
        self._told = told
        self._failed = failed
        self._patience = patience

    async def saw(self, call: CallRecord) -> None:
        """Write it down, if it is one; nobody else is kept waiting."""
        # Who is refused has done nothing, and must not be able to fill the disk.
        if not call.changes or call.code in _REFUSED:
            return
        deed = AuditEntry(
            timestamp=self._now().isoformat(timespec="milliseconds"),
            tool=call.tool,
            outcome=call.code or ("failure" if call.has_failed else SUCCESS_OUTCOME),
            face=call.face,
            who=call.holder or LOCAL_CALLER,
            scopes=call.scopes,
            request=call.request,
            duration_seconds=round(call.seconds, 3),
            arguments=call.arguments,
            parameters=call.given,
        )
        ##= man/spec/gateway.md#audit
        ##% For each call of a tool that changes something, the server MUST write time, tool, outcome and caller to
        ##% `audit.jsonl` and the log before it answers, or log a delay of more than 10 seconds.
        self._told(deed)
        if deed.outcome != SUCCESS_OUTCOME and not call.holder and not os.path.isdir(self._places().folder):
            return
        await self._write(deed)

    async def _write(self, deed: AuditEntry) -> None:
        import anyio
        from anyio import to_thread

        with anyio.move_on_after(self._patience) as waiting:
            try:
                await to_thread.run_sync(
                    lambda: append_audit_entry(self._places(), deed), abandon_on_cancel=True, limiter=_few()
                )
            except DuvetError as error:
                self._failed(error.message)
        if waiting.cancelled_caught:
            self._failed(f"it takes longer than {self._patience:g} seconds")


def _few() -> CapacityLimiter:
    """Who may write, of all that run in one loop: those who wait don't take the threads of others."""
    from anyio import CapacityLimiter

    turns = _turns()
    found = turns.get(None)
    if found is None:
        found = CapacityLimiter(_WRITERS)
        turns.set(found)
    return found


@cache
def _turns() -> RunVar[CapacityLimiter | None]:
    from anyio.lowlevel import RunVar

    return RunVar("duvet_accounting_turn")
