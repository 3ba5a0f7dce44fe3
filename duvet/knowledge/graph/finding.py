"""Finds the node that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.knowledge.graph.identifiers import Identifier, identifier
from duvet.knowledge.graph.shapes import FILES
from duvet.store.protocol import Store
from duvet.store.records import Label, Node
from duvet.text import quoted, shortened

_MOST_LIKE = 50
"""Requirements that are looked at whose ids may begin with the digits that are given."""


def find(store: Store, text: str) -> Node:
    """The node; NotFoundError where there is none, IdentifierError where there can be none."""
    asked = identifier(text)
    for key in asked.keys:
        found = store.node(asked.label, key)
        if found is not None:
            return _with_text(store, found) if asked.label is Label.CHUNK else found
    ##= man/spec/knowledge.md#graph
    ##% What can't be the name of a node MUST be refused as `invalid_identifier`, and a node that isn't there as `not_found`,
    ##% with the file of another kind that has the same path, where there is one.
    if asked.digits:
        return _requirement(store, asked, text)
    raise _missing(text, _elsewhere(store, asked))


def _with_text(store: Store, node: Node) -> Node:
    """A piece of a file with what stands in it."""
    ##= man/spec/knowledge.md#graph
    ##% The pieces of a file MUST be nodes like all others: `Chunk:PATH::NUMBER`, with their text, to which `HAS_CHUNK` leads
    ##% from the file.
    path, _, ordinal = node.key.rpartition("::")
    numbers = store.chunk_numbers(path)[int(ordinal) :][:1]
    for chunk in store.chunks(numbers):
        more = {"text": chunk.text, "symbols": [symbol.qualified_name for symbol in chunk.symbols]}
        return replace(node, properties={**node.properties, **more})
    return node


def _requirement(store: Store, asked: Identifier, text: str) -> Node:
    """The one requirement whose id begins so."""
    ##= man/spec/knowledge.md#graph
    ##% A requirement MUST also be found by four or more of the first digits of its id; where these are those of several
    ##% nodes, the error MUST name them.
    alike = store.found_nodes(f"/{asked.digits}", [Label.REQUIREMENT], _MOST_LIKE)
    found = [node for node in alike if node.key.rpartition("/")[2].startswith(asked.digits)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise _missing(text, ())
    raise NotFoundError(
        f"{len(found)} requirements begin with {quoted(asked.digits)}", hint=f"give one of {_list(found)}"
    )


def _elsewhere(store: Store, asked: Identifier) -> Sequence[Node]:
    """The file, where it is one of another kind."""
    if asked.label not in FILES:
        return ()
    nodes = (store.node(label, key) for label in FILES for key in asked.keys)
    return [node for node in nodes if node is not None]


def _missing(text: str, instead: Sequence[Node]) -> NotFoundError:
    hint = f"there is {_list(instead)}" if instead else "km-graph-search finds nodes by a part of their names"
    return NotFoundError(f"Node '{shortened(text.strip())}' not found", hint=hint)


def _list(nodes: Sequence[Node]) -> str:
    return ", ".join(node.id for node in nodes[:5])
