"""What the tools have in common that change what is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace

from duvet.errors import DuvetError, QueryError
from duvet.knowledge.ingest.taking import Outcome, Wishes
from duvet.knowledge.upkeep.upkeep import Upkeep
from duvet.progress import Counted, Progress
from duvet.store.errors import StoreError
from duvet.store.records import Run
from duvet.tools.ctx import Ctx, nobody
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import store_refusal
from duvet.tools.services import UPKEEP

Result = TypeVar("Result")

SUCCESS, FAILURE = "success", "failure"
_MANUAL = "manual"
_OFTEN = 0.1
"""Seconds between two accounts of how far a step is."""


def upkeep_of(ctx: Ctx) -> Upkeep:
    """What does it; ToolError where there is nothing of the kind."""
    found: Upkeep | None = ctx.services.get(UPKEEP)
    if found is None:
        raise ToolError(Code.UPSTREAM_ERROR, "nothing is kept here of what is known of projects")
    return found


async def at_work(ctx: Ctx, work: Callable[[], Result]) -> Result:
    """What comes of work in a thread of its own, while others are answered; ToolError where it can't be done."""
    from anyio import to_thread

    try:
        return await to_thread.run_sync(work)
    except StoreError as error:
        raise store_refusal(error, ctx) from error


async def taken_in(ctx: Ctx, upkeep: Upkeep, wishes: Wishes) -> Run:
    """The run, be it that it has failed; ToolError where there is nothing to tell of it."""
    from uuid import uuid4

    ##= man/spec/gateway.md#maintenance
    ##% A run that a tool begins without a `profile` MUST be called by `ingest.profile`, or `manual` where that is not said.
    wishes = replace(wishes, run_id=uuid4().hex, otherwise=_MANUAL)

    def work() -> Run:
        try:
            found: Outcome = upkeep.take_in(wishes, _Telling(ctx))
            return found.run
        except (StoreError, QueryError):
            raise
        except DuvetError:
            failed = None if wishes.dry_run else upkeep.failed_run(wishes.run_id)
            if failed is None:
                raise
            return failed

    ##= man/spec/gateway.md#maintenance
    ##% While the project is taken in, the server MUST go on answering, MUST tell the caller how far it is where that is
    ##% wanted, and MUST leave what is known as it was where the call is cancelled.
    return await at_work(ctx, work)


class _Telling(Progress):
    """Tells the caller of each step, and stops the work once the call is cancelled."""

    def __init__(self, ctx: Ctx) -> None:
        self._ctx = ctx
        self._steps = 0
        self._last = 0.0

    def begin(self, step: str) -> None:
        self._steps += 1
        self.tell(0.0, step)

    def counted(self, step: str, count: int) -> Counted:
        self.begin(step)
        return _Parts(self, step, count)

    def tell(self, share: float, step: str) -> None:
        """So much of the step is done."""
        from anyio import from_thread

        # A run is long, and whoever has called may have left.
        from_thread.check_cancelled()
        now = time.monotonic()
        if self._ctx.caller.progress is nobody or (share and now - self._last < _OFTEN):
            return
        self._last = now
        with suppress(Exception):
            # What goes wrong there is no reason to stop.
            from_thread.run(self._ctx.progress, self._steps + min(share, 0.999), None, step)


class _Parts(Counted):
    """Tells how many parts of a step are done."""

    def __init__(self, telling: _Telling, step: str, count: int) -> None:
        super().__init__(telling)
        self._telling = telling
        self._step = step
        self._count = count
        self._done = 0

    def advance(self, count: int = 1) -> None:
        self._done += count
        share = self._done / self._count if self._count else 0.0
        self._telling.tell(share, f"{self._step}: {self._done} of {self._count}")
