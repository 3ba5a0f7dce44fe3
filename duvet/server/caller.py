"""Who calls, for as long as a call lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duvet.tools.tool import Scope

_SCOPES: ContextVar[frozenset[Scope]] = ContextVar("scopes", default=frozenset(Scope))


def scopes() -> frozenset[Scope]:
    """What the caller may do. Whoever starts the server and speaks to it through its pipes may do everything."""
    return _SCOPES.get()


@contextmanager
def calling(granted: frozenset[Scope]) -> Iterator[None]:
    """Within it, the caller has these scopes alone."""
    token = _SCOPES.set(granted)
    try:
        yield
    finally:
        _SCOPES.reset(token)
