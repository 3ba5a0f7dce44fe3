"""The current caller, and limits on answers that wait for a slow client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from duvet.tools.tool import Scope

_SCOPES: ContextVar[frozenset[Scope]] = ContextVar("scopes", default=frozenset(Scope))
_HOLDER: ContextVar[str] = ContextVar("holder", default="")


def current_scopes() -> frozenset[Scope]:
    """What the caller may do. Whoever starts the server and speaks to it through its pipes may do everything."""
    return _SCOPES.get()


def current_token_holder() -> str:
    """Whose token the caller shows; empty for who speaks to the server through its pipes."""
    return _HOLDER.get()


@contextmanager
def set_caller(granted: frozenset[Scope], holder: str = "") -> Iterator[None]:
    """Within it, the caller has these scopes alone."""
    tokens = _SCOPES.set(granted), _HOLDER.set(holder)
    try:
        yield
    finally:
        _SCOPES.reset(tokens[0])
        _HOLDER.reset(tokens[1])


class Backpressure(Protocol):
    """Is taken by what a client has not read."""

    @property
    def is_left(self) -> bool:
        """Whether there is any for another answer."""

    async def eased(self) -> None:
        """Wait until some is given back."""


_ROOM: ContextVar[Backpressure | None] = ContextVar("room", default=None)


def current_backpressure() -> Backpressure | None:
    """That of the client that asks; None where each answer has a connection of its own."""
    return _ROOM.get()


@contextmanager
def limit_answers(room: Backpressure) -> Iterator[None]:
    """Within it, questions are answered while that has some left."""
    token = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(token)
