"""Paths of resources, as the server and `full_path` spell them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

SCHEME = "duvet://"
"""What makes a URI of a path."""

_RESOURCE = re.compile(
    r"(?:duvet://)?/specifications(?:/(?P<specification>[^/]+)"
    r"(?:(?P<sections>/sections)(?:/(?P<section>.*?)"
    r"(?:(?P<requirements>/requirements)(?:/(?P<id>[^/]+)"
    r"(?:(?P<citations>/citations)(?:/(?P<citation>.+))?)?)?)?)?)?)?/?\Z",
    re.DOTALL,
)


class Resource(Struct, frozen=True):
    """What a path names; what it leaves out is None."""

    specification: str | None = None
    section: str | None = None
    id: str | None = None
    citation: str | None = None
    is_collection: bool = False
    """Whether not the last of these is meant, but all that stands right below it."""


def resource_of(path: str, *, is_encoded: bool = True) -> Resource | None:
    """What this path, or URI, names; None where it is none of a resource."""
    found = _RESOURCE.match(path)
    if found is None:
        return None
    groups = found.groupdict()
    names = {name: groups[name] for name in ("specification", "section", "id", "citation")}
    levels = (None, groups["sections"], groups["requirements"], groups["citations"])
    deepest = sum(name is not None for name in names.values())
    return Resource(
        **{name: value and unquote(value) if is_encoded else value for name, value in names.items()},
        is_collection=deepest == 0 or (deepest < len(levels) and levels[deepest] is not None),
    )
