"""Time, for those who wait."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Tells the time, and waits."""

    def now(self) -> float:
        """Seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        import time

        return time.time()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)
