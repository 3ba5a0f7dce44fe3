"""What clients read and list, whole or in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from duvet.errors import NotFoundError
from duvet.server.resources.addresses import Asked, path_of
from duvet.server.resources.descriptions import Described, described
from duvet.server.resources.documents import Document, Entry, document, entry
from duvet.server.resources.finding import node_of
from duvet.server.resources.nodes import ROOT, Node
from duvet.server.resources.tree import tree_of
from duvet.tools.context import Context
from duvet.tools.paging import Wish, page_of
from duvet.tools.tool import Page

_Row = TypeVar("_Row")


class Listed(Described, frozen=True):
    """A resource below a path, and what the list there says of it."""

    object: Entry | None


def read(context: Context, asked: Asked) -> tuple[Document | Sequence[Entry], Page | None]:
    """What is read at a place; of a list, the part that is asked for, or else all."""
    node = node_of(tree_of(context), asked)
    if node is ROOT:
        raise NotFoundError("the root can only be listed")
    ##= man/spec/mcp.md#resources
    ##% `resources/read` MUST give the JSON of an object or of a whole list, and with `?limit=&cursor=` that part of the
    ##% list.
    if not asked.is_part:
        return document(context, node), None
    path = path_of(tree_of(context), node)
    wish = Wish(("resources/read", path), asked.cursor, asked.limit, context.page_size)
    return _page(context, tree_of(context).children(node), wish, partial(entry, context, node))


def all_resources(context: Context, cursor: str | None) -> tuple[Sequence[Described], Page]:
    """A page of the list of all resources."""
    wish = Wish(("resources/list",), cursor, context.page_size or None)
    return _page(context, tree_of(context).all, wish, partial(described, context))


def resources_below(
    context: Context, node: Node, cursor: str | None, limit: int | None = None
) -> tuple[Sequence[Listed], Page]:
    """A page of the list of what stands right below a place."""
    tree = tree_of(context)
    wish = Wish(("resources/list", path_of(tree, node)), cursor, limit or context.page_size or None)
    return _page(context, tree.children(node), wish, partial(_listed, context, node))


def _listed(context: Context, above: Node, node: Node) -> Listed:
    one = described(context, node)
    object = None if node.kind.is_collection else entry(context, above, node)
    return Listed(one.uri, one.name, one.title, one.description, one.size, object)


def _page(
    context: Context, nodes: Sequence[Node], wish: Wish, row: Callable[[Node], _Row]
) -> tuple[Sequence[_Row], Page]:
    return page_of(nodes, wish, key=partial(path_of, tree_of(context)), row=row)
