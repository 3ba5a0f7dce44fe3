"""Finds nodes by a part of what they are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from duvet.store.protocol import Store
from duvet.store.records import Label, Node
from duvet.text import one_line, shortened

_SCORES = {
    Label.SUBSYSTEM: 0.95,
    Label.SPECIFICATION: 0.9,
    Label.DESIGN_DOC: 0.85,
    Label.SOURCE_FILE: 0.8,
    Label.SECTION: 0.75,
    Label.REQUIREMENT: 0.7,
    Label.TEST_CASE: 0.65,
    Label.CONFIG_FILE: 0.6,
}
"""How much a hit counts, by what it is."""
_SNIPPETS = ("description", "text", "title")
"""The properties that say most of a node."""
LONGEST = 1000
"""Characters of a term that count."""


class FoundNode(Struct, frozen=True):
    """A node that was found."""

    id: str
    label: str
    score: float
    snippet: str


def search(store: Store, term: str, limit: int) -> tuple[FoundNode, ...]:
    """The nodes whose names or texts hold the term, in whatever case; the best first."""
    ##= man/spec/knowledge.md#graph
    ##% A term MUST be found in names of subsystems, specifications, sections and files, and in texts of requirements,
    ##% as it is written: in whatever case, and with no character standing for others.
    asked = term.strip()[:LONGEST]
    named = store.found_nodes(asked, tuple(_SCORES), limit)
    found = {node.id: node for node in (*named, *_by_text(store, asked, limit))}
    best = sorted(found.values(), key=lambda node: (-_SCORES[node.label], *_closeness(node, asked.casefold()), node.id))
    return tuple(FoundNode(node.id, node.label.value, _SCORES[node.label], _snippet(node)) for node in best[:limit])


def _by_text(store: Store, term: str, limit: int) -> Iterator[Node]:
    """Requirements; their names are only the beginnings of their texts."""
    wanted, count = term.casefold(), 0
    for node in store.nodes(Label.REQUIREMENT):
        if count < limit and wanted in str(node.properties.get("text", "")).casefold():
            count += 1
            yield node


def _closeness(node: Node, term: str) -> tuple[bool, bool]:
    """Who is called just so comes before who is called something that begins so, and that before others."""
    names = [name.casefold() for name in (node.name, node.key) if name]
    return term not in names, not any(name.startswith(term) for name in names)


def _snippet(node: Node) -> str:
    said: Any = next((node.properties[name] for name in _SNIPPETS if node.properties.get(name)), node.name or node.key)
    return shortened(one_line(str(said)), 200)
