"""The account of what maintainers have done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from duvet.knowledge.upkeep.lines import append
from duvet.knowledge.upkeep.places import Places


class Deed(Struct, frozen=True, kw_only=True):
    """Something that was done, or tried."""

    timestamp: str
    """In ISO 8601."""
    tool: str
    outcome: str
    """`success`, `failure`, or the code of an error."""
    face: str
    """By which way."""
    who: str
    """Whose token was shown; `local` where none was needed."""
    scopes: tuple[str, ...]
    request: str
    duration_seconds: float
    arguments: str
    """Their names and sizes."""
    parameters: Mapping[str, Any]
    """Those that tell nothing that is secret, as they were given."""


def account(places: Places, deed: Deed) -> None:
    """Write it down; DuvetError where that can't be done."""
    append(places.make(places.audit), deed)
