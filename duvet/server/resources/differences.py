"""What is another after the project has changed."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter, ne

from msgspec import json

from duvet.errors import DuvetError
from duvet.queries.catalogue import Catalogue
from duvet.server.resources.addresses import asked
from duvet.server.resources.documents import document
from duvet.server.resources.finding import node_of
from duvet.server.resources.tree import tree_of
from duvet.tools.context import Context

NOTHING = ""
"""The digest where there is no document."""

_LISTED = (
    ("specifications", attrgetter("id", "name", "description", "sections")),
    ("requirements", attrgetter("specification", "section", "text", "citations")),
    ("citations", attrgetter("path", "line", "kind", "target")),
)


def digest(context: Context, uri: str) -> str:
    """Tells the document at a URI from any other that may stand there."""
    from blake3 import blake3

    try:
        node = node_of(tree_of(context), asked(uri))
        return blake3(json.encode(document(context, node))).hexdigest(16)
    except DuvetError:
        return NOTHING


def changed(digests: Mapping[str, str], after: Context) -> dict[str, str]:
    """The URIs among these whose document is another now, with the digests of these."""
    ##= man/spec/mcp.md#resources
    ##% A resource MUST count as changed only if its document is another.
    now = {uri: digest(after, uri) for uri in digests}
    return {uri: new for uri, new in now.items() if new != digests[uri]}


def lists_differ(before: Context, after: Context) -> bool:
    """Whether a list of all resources is another: some have come or gone, or are called otherwise."""
    return any(_differ(before.catalogue, after.catalogue, name, shown) for name, shown in _LISTED)


def _differ(before: Catalogue, after: Catalogue, name: str, shown: attrgetter[tuple[object, ...]]) -> bool:
    old, new = getattr(before, name), getattr(after, name)
    return old is not new and (len(old) != len(new) or any(map(ne, map(shown, old), map(shown, new))))
