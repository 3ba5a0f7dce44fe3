"""What the engine asks of the world outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Protocol

from msgspec import Struct

from duvet.runs import Run


class ModelAsked(Struct, frozen=True, kw_only=True):
    """What a model is asked."""

    model: str
    """PROVIDER/MODEL, PROVIDER, or a task."""
    prompt: str
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    time_limit: float | None = None


class ModelSaid(Struct, frozen=True, kw_only=True):
    """What it said."""

    text: str
    model: str
    """Which one has answered, maybe another one than was asked."""
    warnings: Sequence[str] = ()


class Came(Struct, frozen=True):
    """What comes of a tool, or of a step."""

    value: Any
    """As plain JSON."""
    warnings: Sequence[str] = ()


class Doing(Protocol):
    """Who calls tools and models."""

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> Came:
        """What the tool answers, and warns of; ToolError where it fails.

        A tool that can't be stopped is to be left when its time is up, whoever cancels: the engine waits for this call.
        """

    async def model(self, asked: ModelAsked) -> ModelSaid:
        """What the model says; ToolError, or another error of duvet, where it fails."""


Heard = Callable[[int, int, str], Awaitable[None]]
"""Who hears how many steps of how many are done, and what comes next."""

Log = Callable[[Run], None]
"""Where the record of each run goes, also of one that is cancelled."""


class Timing:
    """The time as it is."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def clock(self) -> float:
        """Seconds that only grow."""
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)


def nowhere(run: Run) -> None:
    """A log that keeps nothing."""
