"""Keeps an account of every call that changes something."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duvet.errors import DuvetError
from duvet.knowledge.upkeep.audit import Deed, account
from duvet.knowledge.upkeep.places import Places
from duvet.tools.errors import Code
from duvet.tools.seen import Seen

LOCAL = "local"
_REFUSED = (Code.FORBIDDEN, Code.UNAUTHORIZED)


class Accountant:
    """Hears of calls, and writes those down that a maintainer has made of tools which change something."""

    def __init__(
        self,
        places: Callable[[], Places],
        now: Callable[[], datetime],
        told: Callable[[Deed], None],
        failed: Callable[[str], None],
    ) -> None:
        """`told` hears of each line, and `failed` why one could not be written."""
        self._places = places
        self._now = now
        self._told = told
        self._failed = failed

    def saw(self, call: Seen) -> None:
        """Write it down, if it is one."""
        # Who is refused has done nothing, and must not be able to fill the disk.
        if not call.changes or call.code in _REFUSED:
            return
        deed = Deed(
            timestamp=self._now().isoformat(timespec="milliseconds"),
            tool=call.tool,
            outcome=call.code or ("failure" if call.has_failed else "success"),
            face=call.face,
            who=call.holder or LOCAL,
            scopes=call.scopes,
            request=call.request,
            duration_seconds=round(call.seconds, 3),
            arguments=call.arguments,
            parameters=call.given,
        )
        ##= man/spec/gateway.md#maintenance
        ##% Each call of a tool that changes something, by a caller who may, MUST be a line of `audit.jsonl` beside the store
        ##% and of the log, with its time, its tool, what came of it, and who has made it in which way.
        self._told(deed)
        try:
            account(self._places(), deed)
        except DuvetError as error:
            self._failed(error.message)
