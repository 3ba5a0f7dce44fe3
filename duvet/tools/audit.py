"""The audit log of calls that change something."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import partial

import anyio
from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge import feedback
from duvet.store import location
from duvet.tools.call_context import get_loop_limiter, run_blocking
from duvet.tools.dispatcher import CallRecord
from duvet.tools.tool import ErrorCode

_SUCCESS = "success"


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
        # With a separate limiter, slow writes don't use up the threads of other work.
        limiter = get_loop_limiter("duvet_accounting_turn", 4)
        ##= man/spec/gateway.md#audit
        ##% Before answering a call to a tool that changes something, the server MUST write the time, the tool, the
        ##% outcome and the caller to `audit.jsonl`.
        with anyio.move_on_after(self.patience) as scope:
            try:
                write = partial(feedback.append_record, self.places(), entry)
                await run_blocking(write, limiter=limiter, abandon=True)
            except DuvetError as error:
                self.on_failure(error.message)
        if scope.cancelled_caught:
            self.on_failure(f"writing takes longer than {self.patience:g} seconds")
