"""Paths of resources, as the server and `full_path` spell them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

_RESOURCE = re.compile(
    r"(?:duvet://)?/specifications/(?P<specification>[^/]+)"
    r"(?:/sections/(?P<section>[^/]+)(?:/requirements/(?P<id>[^/]+)(?:/citations/(?P<citation>.+))?)?)?/?\Z",
    re.DOTALL,
)


class Resource(Struct, frozen=True):
    """What a path names; what it leaves out is None."""

    specification: str
    section: str | None = None
    id: str | None = None
    citation: str | None = None


def resource_of(path: str) -> Resource | None:
    """What this path, or URI, names; None where it is none of a resource."""
    found = _RESOURCE.match(path)
    if found is None:
        return None
    return Resource(**{name: value and unquote(value) for name, value in found.groupdict().items()})
