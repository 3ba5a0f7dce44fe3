"""The current caller, and limits on answers that wait for a slow client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from duvet.tools.tool import Scope

if TYPE_CHECKING:
    from duvet.server.stdio.session import UnreadAnswers

_SCOPES: ContextVar[frozenset[Scope]] = ContextVar("scopes", default=frozenset(Scope))
_HOLDER: ContextVar[str] = ContextVar("holder", default="")
_UNREAD: ContextVar[UnreadAnswers | None] = ContextVar("unread", default=None)


def current_scopes() -> frozenset[Scope]:
    """Return the caller's scopes: all of them for whoever started the server and uses its pipes."""
    return _SCOPES.get()


def current_token_holder() -> str:
    """Return whose token the caller shows; empty over pipes."""
    return _HOLDER.get()


@contextmanager
def set_caller(scopes: frozenset[Scope], holder: str = "") -> Iterator[None]:
    """Set scopes and holder of the caller within the block."""
    tokens = _SCOPES.set(scopes), _HOLDER.set(holder)
    try:
        yield
    finally:
        _SCOPES.reset(tokens[0])
        _HOLDER.reset(tokens[1])


def current_backpressure() -> UnreadAnswers | None:
    """Return the unread answers of the current client; None if each answer has a connection of its own."""
    return _UNREAD.get()


@contextmanager
def limit_answers(unread: UnreadAnswers) -> Iterator[None]:
    """Answer questions within the block only while there is room for their answers."""
    token = _UNREAD.set(unread)
    try:
        yield
    finally:
        _UNREAD.reset(token)
