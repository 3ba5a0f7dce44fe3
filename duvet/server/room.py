"""How many answers may wait for a client to read them, for as long as a conversation lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Room(Protocol):
    """Is taken by what a client has not read."""

    @property
    def is_left(self) -> bool:
        """Whether there is any for another answer."""

    async def eased(self) -> None:
        """Wait until some is given back."""


_ROOM: ContextVar[Room | None] = ContextVar("room", default=None)


def room() -> Room | None:
    """That of the client that asks; None where each answer has a connection of its own."""
    return _ROOM.get()


@contextmanager
def answering_within(room: Room) -> Iterator[None]:
    """Within it, questions are answered while that has some left."""
    token = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(token)
