"""What is known of the server itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from duvet.tools.plugins import Unloaded

FACTS = "facts"
"""What handlers find them by among the services."""


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class Facts(Struct, frozen=True, kw_only=True):
    """Who serves, how, and with what."""

    name: str
    version: str
    mode: str
    packs: Sequence[str]
    tools: int
    unloaded: Sequence[Unloaded] = ()
    providers: Sequence[str] = ()
    workflows: Sequence[str] = ()
    faulty: Sequence[str] = ()
    """The workflows that can't be called."""
    clock: Callable[[], datetime] = now
