"""The caller of the current request: its scopes, and the answers that it has not read yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.tools.tool import Scope

if TYPE_CHECKING:
    from duvet.server.stdio.session import UnreadAnswers


class CallerIdentity(Struct, frozen=True):
    scopes: frozenset[Scope] = frozenset(
        Scope
    )  # The process that started the server and uses its pipes has all scopes.
    holder: str = ""


_CALLER: ContextVar[CallerIdentity] = ContextVar("caller", default=CallerIdentity())  # noqa: B039 - it is immutable
_UNREAD: ContextVar[UnreadAnswers | None] = ContextVar("unread", default=None)
current_caller = _CALLER.get
current_backpressure = _UNREAD.get  # None if each answer has a separate connection.


@contextmanager
def set_caller(scopes: frozenset[Scope], holder: str = "") -> Iterator[None]:
    token = _CALLER.set(CallerIdentity(scopes, holder))
    try:
        yield
    finally:
        _CALLER.reset(token)


@contextmanager
def limit_answers(unread: UnreadAnswers) -> Iterator[None]:
    """Within the block, delay answers while the client has too many unread ones."""
    token = _UNREAD.set(unread)
    try:
        yield
    finally:
        _UNREAD.reset(token)
