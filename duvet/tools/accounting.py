"""Keeps an account of every call that changes something."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from duvet.errors import DuvetError
from duvet.knowledge.upkeep.audit import Deed, account
from duvet.knowledge.upkeep.lines import PATIENCE
from duvet.knowledge.upkeep.places import Places
from duvet.tools.errors import Code
from duvet.tools.seen import Seen

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

LOCAL, SUCCESS = "local", "success"
_WRITERS = 4
_REFUSED = (Code.FORBIDDEN, Code.UNAUTHORIZED)


class Accountant:
    """Hears of calls, and writes those down that a maintainer has made of tools which change something."""

    def __init__(
        self,
        places: Callable[[], Places],
        now: Callable[[], datetime],
        told: Callable[[Deed], None],
        failed: Callable[[str], None],
        patience: float = 2 * PATIENCE,
    ) -> None:
        """`told` hears of each line, and `failed` why one could not be written within so many seconds."""
        self._places = places
        self._now = now
        self._told = told
        self._failed = failed
        self._patience = patience

    async def saw(self, call: Seen) -> None:
        """Write it down, if it is one; nobody else is kept waiting."""
        # Who is refused has done nothing, and must not be able to fill the disk.
        if not call.changes or call.code in _REFUSED:
            return
        deed = Deed(
            timestamp=self._now().isoformat(timespec="milliseconds"),
            tool=call.tool,
            outcome=call.code or ("failure" if call.has_failed else SUCCESS),
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
        ##= man/spec/gateway.md#maintenance
        ##% Neither a restore nor a call without a token that fails MUST make the folder of the store where there is none.
        if deed.outcome != SUCCESS and not call.holder and not os.path.isdir(self._places().folder):
            return
        await self._write(deed)

    async def _write(self, deed: Deed) -> None:
        import anyio
        from anyio import to_thread

        ##= man/spec/gateway.md#maintenance
        ##% That line MUST be on the disk before the call is answered, and where that takes longer than 10 seconds, the call
        ##% MUST be answered all the same and the log MUST say so; others MUST be answered meanwhile.
        with anyio.move_on_after(self._patience) as waiting:
            try:
                await to_thread.run_sync(lambda: account(self._places(), deed), abandon_on_cancel=True, limiter=_few())
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
