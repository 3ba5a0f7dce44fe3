"""How else a specification may be called than the project calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.names import known_ids, nearest_hint, specification_names, specifications_named
from duvet.queries.places import plain_paths
from duvet.queries.resources import resource_of
from duvet.text import quoted

_RFC = re.compile(
    r"(?:(?:https?://)?[^/]*\b(?:rfc-editor|ietf)\.org(?::\d+)?/(?:\S*/)?|urn:ietf:|doi:10\.17487/)?"
    r"rfc[ :_-]?0*(?P<number>\d{1,6})(?:\.(?:txt|html?|pdf|xml|json))*\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[?#]")
_FILE = "file://"


def specifications_meant(catalogue: Catalogue, text: str, root: str = "") -> list[int]:
    """The indexes of the specifications that are called so, in any spelling, whatever part of them is named."""
    for name in _spellings(text.strip(), root):
        found = specifications_named(catalogue, name)
        if found:
            return found
    return []


def specifications_called(catalogue: Catalogue, text: str, root: str = "") -> list[int]:
    """The same for a text that may name something else: a part of a specification is no name of it."""
    found = specifications_named(catalogue, text)
    is_part = "#" in text or resource_of(text.strip()) is not None
    return found or ([] if is_part else specifications_meant(catalogue, text, root))


def specification_named(catalogue: Catalogue, name: str, root: str = "") -> list[int]:
    """The indexes of the specifications that are meant; NotFoundError with the nearest ids where none is."""
    ##= man/spec/queries.md#filters
    ##% A specification MUST be found by every spelling of its URL, as a URN, and by the path of its resource, wherever one can
    ##% be named.
    found = specifications_meant(catalogue, name, root)
    if not found:
        hint = nearest_hint(name, specification_names(catalogue))
        raise NotFoundError(f"there is no specification {quoted(name)}", hint=hint or known_ids(catalogue))
    return found


def _spellings(text: str, root: str) -> Iterator[str]:
    """What the project may call it, the likeliest first."""
    resource = resource_of(text)
    if resource and resource.specification:
        yield resource.specification
        return
    yield text
    ##= man/spec/mcp.md#tools
    ##% Each spelling of the URL of an RFC, with or without a section, MUST be resolved to the same specification.
    bare = _BEHIND.split(text, maxsplit=1)[0].rstrip("/")
    yield bare
    rfc = _RFC.match(bare)
    if rfc:
        yield f"rfc{rfc['number']}"
        yield f"RFC {rfc['number']}"
    path = unquote(bare.removeprefix(_FILE)) if bare.startswith(_FILE) else bare
    if "://" not in path:
        yield from plain_paths(path, root)
