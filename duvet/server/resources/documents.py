"""What is read at a place: its document, or a list of what stands right below it. Their keys are fixed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from duvet.queries.catalogue import SHOWN, RequirementCard
from duvet.queries.sections import section_text
from duvet.server.resources.addresses import path_of
from duvet.server.resources.nodes import Kind, Node
from duvet.server.resources.tree import tree_of
from duvet.tools.context import Context


class Specification(Struct, frozen=True):
    id: str
    name: str
    url: str
    description: str


class SectionEntry(Struct, frozen=True):
    id: str
    title: str


class Section(SectionEntry, frozen=True):
    content: str


class RequirementEntry(Struct, frozen=True):
    identifier: str
    text: str


class Requirement(RequirementEntry, frozen=True):
    status: str


class CitationEntry(Struct, frozen=True):
    id: str


class Citation(Struct, frozen=True):
    file_path: str
    line_number: int
    comment_text: str
    context_lines: tuple[str, ...]


class PlacedRequirement(Struct, frozen=True):
    full_path: str
    identifier: str
    text: str


class PlacedCitation(Struct, frozen=True):
    full_path: str
    id: str


Document = Specification | Section | Requirement | Citation
Entry = Specification | SectionEntry | RequirementEntry | CitationEntry | PlacedRequirement | PlacedCitation


def document(context: Context, node: Node) -> Document | list[Entry]:
    """All that is read at a place."""
    match node.kind:
        case Kind.SPECIFICATION:
            return _specification(context, node)
        case Kind.SECTION:
            return _section(context, node)
        case Kind.REQUIREMENT:
            return _requirement(context, node)
        case Kind.CITATION:
            return _citation(context, node)
    return list(entries(context, node, tree_of(context).children(node)))


def entries(context: Context, above: Node, nodes: Iterable[Node]) -> Iterable[Entry]:
    """What a list of a collection says of these below it."""
    return (entry(context, above, node) for node in nodes)


def entry(context: Context, above: Node, node: Node) -> Entry:
    """What a list of a collection says of one below it."""
    match above.kind:
        case Kind.SECTIONS:
            return SectionEntry(node.section, context.catalogue.specifications[node.specification].titles[node.section])
        case Kind.REQUIREMENTS:
            return RequirementEntry(_identifier(context, node), _card(context, node).text)
        case Kind.CITATIONS:
            return CitationEntry(context.catalogue.citations[node.citations[0]].id)
        case Kind.ALL_REQUIREMENTS:
            path = path_of(tree_of(context), node)
            return PlacedRequirement(path, _identifier(context, node), _card(context, node).text)
        case Kind.ALL_CITATIONS:
            return PlacedCitation(path_of(tree_of(context), node), context.catalogue.citations[node.citations[0]].id)
    return _specification(context, node)


def _specification(context: Context, node: Node) -> Specification:
    card = context.catalogue.specifications[node.specification]
    ##= man/spec/mcp.md#resources
    ##% The `url` of a specification MUST be the one that targets name it by.
    return Specification(card.id, card.name, card.cited_as, card.description)


def _section(context: Context, node: Node) -> Section:
    loaded = context.project.specification(context.catalogue.specifications[node.specification])
    section = loaded.sections[loaded.by_id[node.section]]
    return Section(node.section, section.title, section_text(section))


def _requirement(context: Context, node: Node) -> Requirement:
    card = _card(context, node)
    return Requirement(_identifier(context, node), card.text, card.status.words)


def _citation(context: Context, node: Node) -> Citation:
    (found, *_) = context.material().citations.by_type(node.citations)
    return Citation(found.file_path, found.line_number, found.comment_text, found.context_lines)


def _card(context: Context, node: Node) -> RequirementCard:
    return context.catalogue.requirements[node.requirement]


def _identifier(context: Context, node: Node) -> str:
    return context.catalogue.ids[node.requirement][:SHOWN]
