"""How a place is shown in a list of all resources."""

from __future__ import annotations

from msgspec import Struct, json

from duvet.queries.catalogue import SHOWN, SpecificationCard
from duvet.server.resources.addresses import uri_of
from duvet.server.resources.documents import document
from duvet.server.resources.nodes import Kind, Node
from duvet.server.resources.tree import tree_of
from duvet.text import one_line, shortened
from duvet.tools.context import Context

MIME_TYPE = "application/json"
_OF_THE_CATALOGUE = (Kind.SPECIFICATION, Kind.REQUIREMENT)
"""What is read there is at hand, so that its size is."""


class Described(Struct, frozen=True):
    """A resource for whoever chooses among them."""

    uri: str
    name: str
    title: str
    description: str
    size: int | None


def described(context: Context, node: Node) -> Described:
    """The description of a place."""
    name, title, description = _words(context, node)
    size = len(json.encode(document(context, node))) if node.kind in _OF_THE_CATALOGUE else None
    return Described(uri_of(tree_of(context), node), name, title, description, size)


def _words(context: Context, node: Node) -> tuple[str, str, str]:
    if node.kind in COLLECTIONS:
        return COLLECTIONS[node.kind]
    if node.kind is Kind.CITATION:
        return _citation(context, node)
    card = context.catalogue.specifications[node.specification]
    match node.kind:
        case Kind.SPECIFICATION:
            return card.id, card.name, card.description or f"A specification, at {card.cited_as}"
        case Kind.SECTIONS:
            return f"{card.id}/sections", f"Sections of {card.name}", f"The sections of {card.name}"
        case Kind.SECTION:
            return f"{card.id}#{node.section}", card.titles[node.section], f"A section of {card.name}, with its text"
        case Kind.REQUIREMENTS:
            title = card.titles[node.section]
            return (
                f"{card.id}#{node.section}/requirements",
                f"Requirements of {title}",
                f"What the section {title} of {card.name} requires",
            )
    return _requirement(context, node, card)


def _requirement(context: Context, node: Node, card: SpecificationCard) -> tuple[str, str, str]:
    """The words for a requirement, and for the list of its citations."""
    requirement = context.catalogue.requirements[node.requirement]
    id = requirement.id[:SHOWN]
    if node.kind is Kind.CITATIONS:
        return f"{id}/citations", f"Citations of {id}", f"Where code and tests cite: {shortened(requirement.text)}"
    section = card.titles[node.section]
    return id, shortened(requirement.text), f"A requirement of {card.name}, {section}"


def _citation(context: Context, node: Node) -> tuple[str, str, str]:
    card = context.catalogue.citations[node.citations[0]]
    words = f"{card.kind.name.lower()} of {one_line(card.target)}"
    return card.id, one_line(card.id), shortened(words.capitalize())


COLLECTIONS = {
    Kind.SPECIFICATIONS: ("specifications", "Specifications", "Every specification of the project"),
    Kind.ALL_REQUIREMENTS: ("requirements", "Requirements", "Every requirement, or a part with ?limit=&cursor="),
    Kind.ALL_CITATIONS: ("citations", "Citations", "Every citation, or a part with ?limit=&cursor="),
}
"""The lists that every project has: name, title and description, by their kind."""
