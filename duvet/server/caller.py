"""Who calls, for as long as a call lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duvet.tools.tool import Scope

_SCOPES: ContextVar[frozenset[Scope]] = ContextVar("scopes", default=frozenset(Scope))
_HOLDER: ContextVar[str] = ContextVar("holder", default="")


def scopes() -> frozenset[Scope]:
    """What the caller may do. Whoever starts the server and speaks to it through its pipes may do everything."""
    return _SCOPES.get()


def holder() -> str:
    """Whose token the caller shows; empty for who speaks to the server through its pipes."""
    return _HOLDER.get()


@contextmanager
def calling(granted: frozenset[Scope], holder: str = "") -> Iterator[None]:
    """Within it, the caller has these scopes alone."""
    tokens = _SCOPES.set(granted), _HOLDER.set(holder)
    try:
        yield
    finally:
        _SCOPES.reset(tokens[0])
        _HOLDER.reset(tokens[1])
