"""From places to URIs, and what of a URI says which part of a list is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qsl, quote

from msgspec import Struct

from duvet.errors import QueryError
from duvet.queries.resources import SCHEME
from duvet.server.resources.nodes import Kind, Node
from duvet.server.resources.tree import Tree

_LONGEST = 16_384
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")
# Lists alone are asked for in parts; a question mark elsewhere stands in the name of a file.
_QUERY = re.compile(
    r"(.*/(?:specifications|sections|requirements|citations))/?\?((?:limit|cursor)=[^?/]*)\Z", re.DOTALL
)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,8}\Z")


class Spelling(Struct, frozen=True):
    """How names stand in a path."""

    section: Callable[[str], str] = str
    citation: Callable[[str], str] = str


_PLAIN = Spelling()


def path_of(tree: Tree, node: Node, spelling: Spelling = _PLAIN) -> str:
    """Where a place is in the tree."""
    match node.kind:
        case Kind.ROOT:
            return "/"
        case Kind.SPECIFICATIONS:
            return "/specifications"
        case Kind.ALL_REQUIREMENTS:
            return "/requirements"
        case Kind.ALL_CITATIONS:
            return "/citations"
    above = _path_below_which(tree, node, spelling)
    match node.kind:
        case Kind.SECTIONS:
            return f"{above}/sections"
        case Kind.REQUIREMENTS:
            return f"{above}/requirements"
        case Kind.CITATIONS:
            return f"{above}/citations"
        case Kind.CITATION:
            return f"{above}/citations/{spelling.citation(tree.catalogue.citations[node.citations[0]].id)}"
    return above


def _path_below_which(tree: Tree, node: Node, spelling: Spelling) -> str:
    """The specification, section or requirement that a place is, or stands right below."""
    if node.specification < 0:
        return ""
    card = tree.catalogue.specifications[node.specification]
    if node.kind in (Kind.SPECIFICATION, Kind.SECTIONS):
        return card.full_path
    section = spelling.section(node.section)
    if node.requirement < 0:
        return card.section_path(section)
    return card.requirement_path(section, tree.catalogue.ids[node.requirement])


def uri_of(tree: Tree, node: Node) -> str:
    """What a place is called among all resources of the world."""
    return SCHEME + path_of(tree, node, _ENCODED)


def _citation(id: str) -> str:
    # Clients take `.` and `..` between slashes for steps, and take them.
    return quote(id, safe=":@" if _STEPS & set(id.split("/")) else "/:@")


_STEPS = {"", ".", ".."}
_ENCODED = Spelling(partial(quote, safe=":@"), _citation)


class Asked(Struct, frozen=True):
    """What a client asks for."""

    spellings: tuple[tuple[str, bool], ...]
    """The path as it may be meant, the likelier one first, and whether it is percent-encoded."""
    limit: int | None = None
    cursor: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether not all of a list is wanted."""
        return self.limit is not None or self.cursor is not None


def asked(reference: str) -> Asked:
    """What a URI, or a path, asks for; QueryError for what can be neither."""
    ##= man/spec/mcp.md#resources
    ##% A URI that is longer than 16,384 characters, or has a control character in it, MUST be refused as wrong.
    if len(reference) > _LONGEST:
        raise QueryError(f"a URI has no more than {_LONGEST} characters")
    is_uri = reference[: len(SCHEME)].lower() == SCHEME
    if is_uri and _CONTROLS.search(reference):
        raise QueryError("a URI has no control characters", hint="percent-encode them")
    path, options = _parted(reference[len(SCHEME) :] if is_uri else reference)
    ##= man/spec/mcp.md#resources
    ##% The names in a URI MUST be found percent-encoded, once, and plain.
    return Asked(((path, is_uri), (path, not is_uri)), _limit(options.get("limit")), options.get("cursor"))


def _parted(written: str) -> tuple[str, dict[str, str]]:
    """The path of a list, and what a query says."""
    found = _QUERY.match(written)
    if found is None:
        return written, {}
    pairs = parse_qsl(found[2], keep_blank_values=True)
    options = dict(pairs)
    if len(pairs) != len(options) or not options.keys() <= {"limit", "cursor"}:
        raise QueryError("a list is asked for with `limit` and `cursor`, each once")
    return found[1], options


def _limit(written: str | None) -> int | None:
    if written is None:
        return None
    if not _LIMIT.match(written):
        raise QueryError("`limit` is a number from 1 to 999999999")
    return int(written)
