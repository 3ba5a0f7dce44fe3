"""Documents and descriptions of resources, and what changed between two readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter, ne
from typing import TypeVar

from msgspec import Struct, json

from duvet.errors import DuvetError, NotFoundError
from duvet.queries.records import format_section_text
from duvet.server.resources.tree import (
    ROOT,
    NodeKind,
    ResourceNode,
    ResourceRequest,
    find_resource_node,
    get_resource_tree,
    make_node_path,
    make_node_uri,
    parse_resource_request,
)
from duvet.text import escape_line_ends, shorten_text
from duvet.tools.context import ProjectSnapshot
from duvet.tools.paging import PageRequest, make_result_page
from duvet.tools.tool import ResultPage
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, RequirementCard, SpecificationCard


class SpecificationDocument(Struct, frozen=True):
    id: str
    name: str
    url: str
    description: str


class SectionEntry(Struct, frozen=True):
    id: str
    title: str


class SectionDocument(SectionEntry, frozen=True):
    content: str


class RequirementEntry(Struct, frozen=True):
    identifier: str
    text: str


class RequirementDocument(RequirementEntry, frozen=True):
    status: str


class CitationEntry(Struct, frozen=True):
    id: str


class CitationDocument(Struct, frozen=True):
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


ResourceDocument = SpecificationDocument | SectionDocument | RequirementDocument | CitationDocument
CollectionEntry = (
    SpecificationDocument | SectionEntry | RequirementEntry | CitationEntry | PlacedRequirement | PlacedCitation
)


def make_document(context: ProjectSnapshot, node: ResourceNode) -> ResourceDocument | list[CollectionEntry]:
    """All that is read at a place."""
    match node.kind:
        case NodeKind.SPECIFICATION:
            return _specification(context, node)
        case NodeKind.SECTION:
            return _section(context, node)
        case NodeKind.REQUIREMENT:
            return _requirement(context, node)
        case NodeKind.CITATION:
            return _citation(context, node)
    return list(make_entries(context, node, get_resource_tree(context).children(node)))


def make_entries(
    context: ProjectSnapshot, above: ResourceNode, nodes: Iterable[ResourceNode]
) -> Iterable[CollectionEntry]:
    """What a list of a collection says of these below it."""
    return (make_entry(context, above, node) for node in nodes)


def make_entry(context: ProjectSnapshot, above: ResourceNode, node: ResourceNode) -> CollectionEntry:
    """What a list of a collection says of one below it."""
    match above.kind:
        case NodeKind.SECTIONS:
            return SectionEntry(node.section, context.catalogue.specifications[node.specification].titles[node.section])
        case NodeKind.REQUIREMENTS:
            return RequirementEntry(_identifier(context, node), _card(context, node).text)
        case NodeKind.CITATIONS:
            return CitationEntry(context.catalogue.citations[node.citations[0]].id)
        case NodeKind.ALL_REQUIREMENTS:
            path = make_node_path(get_resource_tree(context), node)
            return PlacedRequirement(path, _identifier(context, node), _card(context, node).text)
        case NodeKind.ALL_CITATIONS:
            return PlacedCitation(
                make_node_path(get_resource_tree(context), node), context.catalogue.citations[node.citations[0]].id
            )
    return _specification(context, node)


def _specification(context: ProjectSnapshot, node: ResourceNode) -> SpecificationDocument:
    card = context.catalogue.specifications[node.specification]
    return SpecificationDocument(card.id, card.name, card.cited_as, card.description)


def _section(context: ProjectSnapshot, node: ResourceNode) -> SectionDocument:
    loaded = context.project.specification(context.catalogue.specifications[node.specification])
    section = loaded.sections[loaded.by_id[node.section]]
    return SectionDocument(node.section, section.title, format_section_text(section))


def _requirement(context: ProjectSnapshot, node: ResourceNode) -> RequirementDocument:
    card = _card(context, node)
    return RequirementDocument(_identifier(context, node), card.text, card.status.words)


def _citation(context: ProjectSnapshot, node: ResourceNode) -> CitationDocument:
    (found, *_) = context.material().citations.by_type(node.citations)
    return CitationDocument(found.file_path, found.line_number, found.comment_text, found.context_lines)


def _card(context: ProjectSnapshot, node: ResourceNode) -> RequirementCard:
    return context.catalogue.requirements[node.requirement]


def _identifier(context: ProjectSnapshot, node: ResourceNode) -> str:
    return context.catalogue.ids[node.requirement][:SHORT_ID_DIGITS]


MIME_TYPE = "application/json"
_OF_THE_CATALOGUE = (NodeKind.SPECIFICATION, NodeKind.REQUIREMENT)
"""What is read there is at hand, so that its size is."""


class ResourceDescription(Struct, frozen=True):
    """A resource for whoever chooses among them."""

    uri: str
    name: str
    title: str
    description: str
    size: int | None


def describe_resource(context: ProjectSnapshot, node: ResourceNode) -> ResourceDescription:
    """The description of a place."""
    name, title, description = _words(context, node)
    size = len(json.encode(make_document(context, node))) if node.kind in _OF_THE_CATALOGUE else None
    return ResourceDescription(make_node_uri(get_resource_tree(context), node), name, title, description, size)


def _words(context: ProjectSnapshot, node: ResourceNode) -> tuple[str, str, str]:
    if node.kind in COLLECTIONS:
        return COLLECTIONS[node.kind]
    if node.kind is NodeKind.CITATION:
        return _descriptions_citation(context, node)
    card = context.catalogue.specifications[node.specification]
    match node.kind:
        case NodeKind.SPECIFICATION:
            return card.id, card.name, card.description or f"A specification, at {card.cited_as}"
        case NodeKind.SECTIONS:
            return f"{card.id}/sections", f"Sections of {card.name}", f"The sections of {card.name}"
        case NodeKind.SECTION:
            return f"{card.id}#{node.section}", card.titles[node.section], f"A section of {card.name}, with its text"
        case NodeKind.REQUIREMENTS:
            title = card.titles[node.section]
            return (
                f"{card.id}#{node.section}/requirements",
                f"Requirements of {title}",
                f"What the section {title} of {card.name} requires",
            )
    return _descriptions_requirement(context, node, card)


def _descriptions_requirement(
    context: ProjectSnapshot, node: ResourceNode, card: SpecificationCard
) -> tuple[str, str, str]:
    """The words for a requirement, and for the list of its citations."""
    requirement = context.catalogue.requirements[node.requirement]
    id = requirement.id[:SHORT_ID_DIGITS]
    if node.kind is NodeKind.CITATIONS:
        return f"{id}/citations", f"Citations of {id}", f"Where code and tests cite: {shorten_text(requirement.text)}"
    section = card.titles[node.section]
    return id, shorten_text(requirement.text), f"A requirement of {card.name}, {section}"


def _descriptions_citation(context: ProjectSnapshot, node: ResourceNode) -> tuple[str, str, str]:
    card = context.catalogue.citations[node.citations[0]]
    words = f"{card.kind.name.lower()} of {escape_line_ends(card.target)}"
    return card.id, escape_line_ends(card.id), shorten_text(words.capitalize())


COLLECTIONS = {
    NodeKind.SPECIFICATIONS: ("specifications", "Specifications", "Every specification of the project"),
    NodeKind.ALL_REQUIREMENTS: ("requirements", "Requirements", "Every requirement, or a part with ?limit=&cursor="),
    NodeKind.ALL_CITATIONS: ("citations", "Citations", "Every citation, or a part with ?limit=&cursor="),
}
"""The lists that every project has: name, title and description, by their kind."""


_Row = TypeVar("_Row")


class ListedResource(ResourceDescription, frozen=True):
    """A resource below a path, and what the list there says of it."""

    object: CollectionEntry | None


def read_resource(
    context: ProjectSnapshot, asked: ResourceRequest
) -> tuple[ResourceDocument | Sequence[CollectionEntry], ResultPage | None]:
    """What is read at a place; of a list, the part that is asked for, or else all."""
    node = find_resource_node(get_resource_tree(context), asked)
    if node is ROOT:
        raise NotFoundError("the root can only be listed")
    ##= man/spec/mcp.md#resources
    ##% `resources/read` MUST return the JSON of an object or a list, or with `?limit=&cursor=` a part of the list.
    if not asked.is_part:
        return make_document(context, node), None
    path = make_node_path(get_resource_tree(context), node)
    wish = PageRequest(("resources/read", path), asked.cursor, asked.limit, context.page_size)
    return _page(context, get_resource_tree(context).children(node), wish, partial(make_entry, context, node))


def list_all_resources(
    context: ProjectSnapshot, cursor: str | None
) -> tuple[Sequence[ResourceDescription], ResultPage]:
    """A page of the list of all resources."""
    wish = PageRequest(("resources/list",), cursor, context.page_size or None)
    return _page(context, get_resource_tree(context).all, wish, partial(describe_resource, context))


def list_resources_below(
    context: ProjectSnapshot, node: ResourceNode, cursor: str | None, limit: int | None = None
) -> tuple[Sequence[ListedResource], ResultPage]:
    """A page of the list of what stands right below a place."""
    tree = get_resource_tree(context)
    wish = PageRequest(("resources/list", make_node_path(tree, node)), cursor, limit or context.page_size or None)
    return _page(context, tree.children(node), wish, partial(_listed, context, node))


def _listed(context: ProjectSnapshot, above: ResourceNode, node: ResourceNode) -> ListedResource:
    one = describe_resource(context, node)
    object = None if node.kind.is_collection else make_entry(context, above, node)
    return ListedResource(one.uri, one.name, one.title, one.description, one.size, object)


def _page(
    context: ProjectSnapshot, nodes: Sequence[ResourceNode], wish: PageRequest, row: Callable[[ResourceNode], _Row]
) -> tuple[Sequence[_Row], ResultPage]:
    return make_result_page(nodes, wish, key=partial(make_node_path, get_resource_tree(context)), row=row)


NO_DIGEST = ""
"""The digest where there is no document."""

_LISTED = (
    ("specifications", attrgetter("id", "name", "description", "sections")),
    ("requirements", attrgetter("specification", "section", "text", "citations")),
    ("citations", attrgetter("path", "line", "kind", "target")),
)


def digest_document(context: ProjectSnapshot, uri: str) -> str:
    """Tells the document at a URI from any other that may stand there."""
    from blake3 import blake3

    try:
        node = find_resource_node(get_resource_tree(context), parse_resource_request(uri))
        return blake3(json.encode(make_document(context, node))).hexdigest(16)
    except DuvetError:
        return NO_DIGEST


def find_changed_documents(digests: Mapping[str, str], after: ProjectSnapshot) -> dict[str, str]:
    """The URIs among these whose document is another now, with the digests of these."""
    ##= man/spec/mcp.md#freshness
    ##% The server MUST notify a client when a resource that it has subscribed to changes, and when specifications,
    ##% requirements or citations come or go.
    now = {uri: digest_document(after, uri) for uri in digests}
    return {uri: new for uri, new in now.items() if new != digests[uri]}


def have_lists_changed(before: ProjectSnapshot, after: ProjectSnapshot) -> bool:
    """Whether a list of all resources is another: some have come or gone, or are called otherwise."""
    return any(_differ(before.catalogue, after.catalogue, name, shown) for name, shown in _LISTED)


def _differ(before: Catalogue, after: Catalogue, name: str, shown: attrgetter[tuple[object, ...]]) -> bool:
    old, new = getattr(before, name), getattr(after, name)
    return old is not new and (len(old) != len(new) or any(map(ne, map(shown, old), map(shown, new))))
