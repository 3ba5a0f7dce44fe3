"""What a change to a project means to those who have seen it before."""

from __future__ import annotations

from msgspec import Struct


class Change(Struct, frozen=True):
    """From one reading of the project to a later one."""

    uris: frozenset[str] = frozenset()
    """The resources whose content is another."""
    lists: bool = False
    """Whether specifications, requirements or citations have come or gone."""
