"""The calls of a wait that were not as wanted."""

from __future__ import annotations

from msgspec import Struct

_LAST_CALL = 0.5
"""Seconds that are kept for the last call at least."""
_MARGIN = 1.25
"""How much longer than the call before the last one may take."""


class Tries(Struct):
    """How many there were, and what was wrong with the last one."""

    calls: int = 0
    reason: str = ""

    def add(self, reason: str) -> None:
        self.calls, self.reason = self.calls + 1, reason

    def end(self) -> None:
        """The wait is over: there is nothing to be told of it."""
        self.calls, self.reason = 0, ""

    @property
    def fault(self) -> str:
        """Why the wait has failed; empty where no call has ended."""
        times = "one call" if self.calls == 1 else f"{self.calls} calls"
        return f"not as wanted after {times}: {self.reason}" if self.calls else ""


def before_last(took: float, left: float) -> float:
    """Seconds until a last call has to begin, so that it ends in the time that is left."""
    least = min(_MARGIN * took, left)
    return left - min(max(_LAST_CALL, 2 * took), max(left / 2, least))
