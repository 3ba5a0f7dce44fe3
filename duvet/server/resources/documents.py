"""Documents and descriptions of resources, the texts of pages, and the changes between two snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter, ne
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from blake3 import blake3
from msgspec import json

from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.model import RESOURCE_SCHEME
from duvet.queries.records import format_section_text
from duvet.server.resources import tree
from duvet.server.resources.templates import TEMPLATES, UriTemplate, match_values
from duvet.text import collapse_whitespace, quote_text, shorten_text
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import PageRequest, ResultPage, make_result_page
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageCollection
    from duvet.knowledge.pages.page import Page
    from duvet.tools.packs import Registry

PAGE_MIME_TYPE = "text/markdown"
_PREFIX = f"{RESOURCE_SCHEME}/pages/"
PAGE_TEMPLATE = UriTemplate(f"{_PREFIX}{{slug}}", "page", "Page", "Text of a page, as Markdown")


def list_templates(registry: Registry) -> Sequence[UriTemplate]:
    return [PAGE_TEMPLATE] if registry.has_only_pages else TEMPLATES if registry.has_trace else []


def is_page_uri(uri: str) -> bool:
    return uri.startswith(_PREFIX)


def list_page_resources(context: ProjectSnapshot, cursor: str | None) -> tuple[Sequence[dict[str, Any]], ResultPage]:
    request = PageRequest(("pages",), cursor, None, context.page_size)

    def make_row(page: Page) -> dict[str, Any]:
        uri = _PREFIX + quote(page.slug)
        return {"uri": uri, "name": page.slug, "title": page.title, "mime_type": PAGE_MIME_TYPE}

    return make_result_page(_load_pages(context).pages, request, key=attrgetter("slug"), row=make_row)


def read_page_resource(context: ProjectSnapshot, uri: str) -> str:
    from duvet.tools.pages import read_page_body

    ##= man/spec/pages.md#folders-of-notes
    ##% The server MUST answer `resources/read` of `duvet:///pages/SLUG` with the text of the page.
    page = _load_pages(context).require(unquote(uri.removeprefix(_PREFIX)))
    text = read_page_body(context, page)
    if text is None:
        raise NotFoundError(f"Page '{page.slug}' not found", hint="the page was just removed; list the pages again")
    return text


def have_pages_changed(before: ProjectSnapshot, after: ProjectSnapshot) -> bool:
    if not before.has_read(_import_loader()):
        return False
    old, new = ([(page.slug, page.title) for page in _load_pages(one).pages] for one in (before, after))
    return old != new


def complete_slug(context: ProjectSnapshot, prefix: str) -> Sequence[str]:
    return match_values(((page.slug, page.title) for page in _load_pages(context).pages), prefix)


def _load_pages(context: ProjectSnapshot) -> PageCollection:
    return context.read(_import_loader())


def _import_loader() -> Callable[[ProjectSnapshot], PageCollection]:
    from duvet.tools.pages import load_page_collection

    return load_page_collection


MIME_TYPE = "application/json"
_SIZED = (tree.NodeKind.SPECIFICATION, tree.NodeKind.REQUIREMENT)  # Their documents come from the catalogue alone.
COLLECTIONS = {  # Name, title and description of the collections that every project has.
    tree.NodeKind.SPECIFICATIONS: ("specifications", "Specifications", "All specifications"),
    tree.NodeKind.ALL_REQUIREMENTS: ("requirements", "Requirements", "All requirements; ?limit=N returns the first N"),
    tree.NodeKind.ALL_CITATIONS: ("citations", "Citations", "All citations; ?limit=N returns the first N"),
}
NO_DIGEST = ""  # The digest of a missing document.
_LISTED = (
    ("specifications", attrgetter("id", "name", "description", "sections")),
    ("requirements", attrgetter("specification", "section", "text", "citations")),
    ("citations", attrgetter("path", "line", "kind", "target")),
)


Document = dict[str, Any]


def make_document(context: ProjectSnapshot, node: tree.ResourceNode) -> Document | list[Document]:
    catalogue = context.catalogue
    match node.kind:
        case tree.NodeKind.SPECIFICATION:
            return _make_specification(catalogue, node)
        case tree.NodeKind.SECTION:
            specification = context.project.specification(catalogue.specifications[node.specification])
            section = specification.sections[specification.by_id[node.section]]
            return {"id": node.section, "title": section.title, "content": format_section_text(section)}
        case tree.NodeKind.REQUIREMENT:
            return _make_requirement(catalogue, node, status=catalogue.requirements[node.requirement].state.words)
        case tree.NodeKind.CITATION:
            (found, *_) = context.read_citations().by_type(node.citations)
            names = ("file_path", "line_number", "comment_text", "context_lines")
            return {name: getattr(found, name) for name in names}
    return [make_entry(context, node, child) for child in context.once(tree.make_resource_tree).children(node)]


def make_entry(context: ProjectSnapshot, collection: tree.ResourceNode, node: tree.ResourceNode) -> Document:
    catalogue = context.catalogue
    match collection.kind:
        case tree.NodeKind.SECTIONS:
            titles = catalogue.specifications[node.specification].titles
            return {"id": node.section, "title": titles[node.section]}
        case tree.NodeKind.REQUIREMENTS:
            return _make_requirement(catalogue, node)
        case tree.NodeKind.CITATIONS:
            return {"id": catalogue.citations[node.citations[0]].id}
        case tree.NodeKind.ALL_REQUIREMENTS:
            path = tree.make_node_path(context.once(tree.make_resource_tree), node)
            return {"full_path": path, **_make_requirement(catalogue, node)}
        case tree.NodeKind.ALL_CITATIONS:
            path = tree.make_node_path(context.once(tree.make_resource_tree), node)
            return {"full_path": path, "id": catalogue.citations[node.citations[0]].id}
    return _make_specification(catalogue, node)


def _make_specification(catalogue: Catalogue, node: tree.ResourceNode) -> Document:
    card = catalogue.specifications[node.specification]
    return {"id": card.id, "name": card.name, "url": card.cited_as, "description": card.description}


def _make_requirement(catalogue: Catalogue, node: tree.ResourceNode, **more: str) -> Document:
    card = catalogue.requirements[node.requirement]
    name = {"name": card.name} if card.name else {}  # The id that the specification gives it.
    return {"identifier": catalogue.ids[node.requirement][:SHORT_ID_DIGITS], "text": card.text, **more, **name}


def describe_resource(
    context: ProjectSnapshot, node: tree.ResourceNode, collection: tree.ResourceNode | None = None
) -> dict[str, Any]:
    name, title, description = _describe(context.catalogue, node)
    meta = None
    if collection is not None and node.kind in tree.SINGLE_KINDS:
        meta = {"duvet/object": make_entry(context, collection, node)}
    return {
        "uri": tree.make_node_uri(context.once(tree.make_resource_tree), node),
        "name": name,
        "title": title,
        "description": description,
        "mime_type": MIME_TYPE,
        "size": len(json.encode(make_document(context, node))) if node.kind in _SIZED else None,
        "_meta": meta,
    }


def _describe(catalogue: Catalogue, node: tree.ResourceNode) -> tuple[str, str, str]:
    if node.kind in COLLECTIONS:
        return COLLECTIONS[node.kind]
    if node.kind is tree.NodeKind.CITATION:
        citation = catalogue.citations[node.citations[0]]
        words = f"{citation.kind.name.lower()} of {collapse_whitespace(citation.target)}"
        return citation.id, collapse_whitespace(citation.id), shorten_text(words.capitalize())
    card = catalogue.specifications[node.specification]
    match node.kind:
        case tree.NodeKind.SPECIFICATION:
            return card.id, card.name, card.description or f"The specification at {card.cited_as}"
        case tree.NodeKind.SECTIONS:
            return f"{card.id}/sections", f"Sections of {card.name}", f"The sections of {card.name}"
        case tree.NodeKind.SECTION:
            return f"{card.id}#{node.section}", card.titles[node.section], f"A section of {card.name}, with its text"
        case tree.NodeKind.REQUIREMENTS:
            title = card.titles[node.section]
            return (
                f"{card.id}#{node.section}/requirements",
                f"Requirements of {title}",
                f"The requirements in the section {quote_text(title)} of {card.name}",
            )
    requirement = catalogue.requirements[node.requirement]
    id, text = requirement.id[:SHORT_ID_DIGITS], shorten_text(requirement.text)
    if node.kind is tree.NodeKind.CITATIONS:
        return f"{id}/citations", f"Citations of {id}", f"Citations of the requirement: {text}"
    named = f"{requirement.name}: {text}" if requirement.name else text
    return id, named, f"A requirement in the section {quote_text(card.titles[node.section])} of {card.name}"


def read_resource(
    context: ProjectSnapshot, request: tree.ResourceRequest
) -> tuple[Document | Sequence[Document], ResultPage | None]:
    resources = context.once(tree.make_resource_tree)
    node = tree.find_resource_node(resources, request)
    if node is tree.ROOT:
        raise NotFoundError("the root has no content", hint="list the resources with `resources/list`")
    ##= man/spec/mcp.md#resources
    ##% `resources/read` MUST return a resource of the pack `trace` as JSON, or only a part of a list if the URI has
    ##% `limit=` or `cursor=`.
    if request.limit is None and request.cursor is None:
        return make_document(context, node), None
    key = partial(tree.make_node_path, resources)
    page = PageRequest(("resources/read", key(node)), request.cursor, request.limit, context.page_size)
    return make_result_page(resources.children(node), page, key=key, row=partial(make_entry, context, node))


def list_resources(
    context: ProjectSnapshot, path: str | None, cursor: str | None
) -> tuple[Sequence[dict[str, Any]], ResultPage]:
    ##= man/spec/mcp.md#resources
    ##% `resources/list` MUST list every resource once, or with `path` only the resources directly below that path.
    resources = context.once(tree.make_resource_tree)
    key = partial(tree.make_node_path, resources)
    if path is None:
        page = PageRequest(("resources/list",), cursor, context.page_size or None)
        return make_result_page(resources.all, page, key=key, row=partial(describe_resource, context))
    request = tree.parse_resource_request(path)
    if request.cursor is not None:
        raise QueryError("the path contains a cursor", hint="pass `cursor` as a separate parameter")
    node = tree.find_resource_node(resources, request)
    page = PageRequest(("resources/list", key(node)), cursor, request.limit or context.page_size or None)
    row = partial(describe_resource, context, collection=node)
    return make_result_page(resources.children(node), page, key=key, row=row)


def digest_document(context: ProjectSnapshot, uri: str) -> str:
    try:
        if is_page_uri(uri):
            return blake3(read_page_resource(context, uri).encode()).hexdigest(16)
        node = tree.find_resource_node(context.once(tree.make_resource_tree), tree.parse_resource_request(uri))
        return blake3(json.encode(make_document(context, node))).hexdigest(16)
    except DuvetError:
        return NO_DIGEST


def find_changed_documents(digests: Mapping[str, str], after: ProjectSnapshot) -> dict[str, str]:
    return {uri: new for uri, old in digests.items() if (new := digest_document(after, uri)) != old}


def have_lists_changed(before: ProjectSnapshot, after: ProjectSnapshot) -> bool:
    for name, get in _LISTED:
        old, new = getattr(before.catalogue, name), getattr(after.catalogue, name)
        if old is not new and (len(old) != len(new) or any(map(ne, map(get, old), map(get, new)))):
            return True
    return False
