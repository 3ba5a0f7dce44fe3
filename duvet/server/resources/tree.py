"""The tree of resources: its nodes, their URIs, and how URIs are resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import NotFoundError, QueryError
from duvet.model import RESOURCE_SCHEME
from duvet.queries.references import CitationRef, RequirementRef, SectionRef, SpecRef, resolve_resource
from duvet.text import quote_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.locations import ProjectFiles, ResourcePath, list_citation_spellings, parse_resource

if TYPE_CHECKING:
    from duvet.tools.context import ProjectSnapshot

_MAX_URI_LENGTH = 16_384
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")
# Only lists have queries; elsewhere, a question mark is part of a file name.
_QUERY = re.compile(
    r"(.*/(?:specifications|sections|requirements|citations))/?\?((?:limit|cursor)=[^?/]*)\Z", re.DOTALL
)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,8}\Z")


class NodeKind(Enum):
    ROOT = auto()
    SPECIFICATIONS = auto()
    SPECIFICATION = auto()
    SECTIONS = auto()
    SECTION = auto()
    REQUIREMENTS = auto()
    REQUIREMENT = auto()
    CITATIONS = auto()
    CITATION = auto()
    ALL_REQUIREMENTS = auto()
    ALL_CITATIONS = auto()


SINGLE_KINDS = {NodeKind.SPECIFICATION, NodeKind.SECTION, NodeKind.REQUIREMENT, NodeKind.CITATION}
_COLLECTION_BELOW = {
    NodeKind.SPECIFICATION: NodeKind.SECTIONS,
    NodeKind.SECTION: NodeKind.REQUIREMENTS,
    NodeKind.REQUIREMENT: NodeKind.CITATIONS,
}


class ResourceNode(Struct, frozen=True, gc=False):
    kind: NodeKind
    specification: int = -1  # -1 for collections of everything, and for a citation without a specification.
    section: str = ""  # Its id; empty for a title without letters and digits, and for nodes above sections.
    requirement: int = -1
    citations: tuple[int, ...] = ()  # The annotations of one line.


ROOT = ResourceNode(NodeKind.ROOT)
SPECIFICATIONS = ResourceNode(NodeKind.SPECIFICATIONS)
ALL_REQUIREMENTS = ResourceNode(NodeKind.ALL_REQUIREMENTS)
ALL_CITATIONS = ResourceNode(NodeKind.ALL_CITATIONS)


class ResourceTree:
    def __init__(self, catalogue: Catalogue, files: ProjectFiles) -> None:
        self.catalogue = catalogue
        self.files = files  # The specifications, which are needed to resolve earlier requirement ids.

    def children(self, node: ResourceNode) -> Sequence[ResourceNode]:
        match node.kind:
            case NodeKind.ROOT:
                return (SPECIFICATIONS, ALL_REQUIREMENTS, ALL_CITATIONS)
            case NodeKind.SPECIFICATIONS:
                count = len(self.catalogue.specifications)
                return [ResourceNode(NodeKind.SPECIFICATION, index) for index in range(count)]
            case NodeKind.SECTIONS:
                card = self.catalogue.specifications[node.specification]
                return [ResourceNode(NodeKind.SECTION, node.specification, section.id) for section in card.sections]
            case NodeKind.REQUIREMENTS:
                ids = self.requirement_ids.get((node.specification, node.section), {})
                return [self.requirement(index) for index in ids.values()]
            case NodeKind.CITATIONS:
                lines = self.citations_of([node.requirement])
                return [replace(node, kind=NodeKind.CITATION, citations=numbers) for numbers in lines.values()]
            case NodeKind.ALL_REQUIREMENTS:
                return self.requirements
            case NodeKind.ALL_CITATIONS:
                return self.citations
            case NodeKind.CITATION:
                return ()
        return (replace(node, kind=_COLLECTION_BELOW[node.kind]),)

    @cached_property
    def all(self) -> Sequence[ResourceNode]:
        nodes = [*self.children(ROOT)]
        level = self.children(SPECIFICATIONS)
        while level:
            nodes += level
            level = [child for node in level for child in self.children(node)]
        return [*nodes, *(node for node in self.citations if node.requirement < 0)]

    @cached_property
    def requirements(self) -> Sequence[ResourceNode]:
        return [self.requirement(index) for index in range(len(self.catalogue.requirements))]

    @cached_property
    def citations(self) -> Sequence[ResourceNode]:
        return [self.citation(numbers) for numbers in self.citation_ids.values()]

    @cached_property
    def specification_ids(self) -> dict[str, int]:
        return {card.id: index for index, card in enumerate(self.catalogue.specifications)}

    @cached_property
    def requirement_ids(self) -> dict[tuple[int, str], dict[str, int]]:
        ids: dict[tuple[int, str], dict[str, int]] = {}
        for index, (card, id) in enumerate(zip(self.catalogue.requirements, self.catalogue.ids, strict=True)):
            ids.setdefault((card.specification, card.section), {})[id[:SHORT_ID_DIGITS]] = index
        return ids

    @cached_property
    def citation_ids(self) -> dict[str, tuple[int, ...]]:
        return self._group_by_id(range(len(self.catalogue.citations)))

    def citations_of(self, requirements: Iterable[int]) -> dict[str, tuple[int, ...]]:
        cards = self.catalogue.requirements
        return self._group_by_id(sorted({number for index in requirements for number in cards[index].citations}))

    def _group_by_id(self, numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
        groups: dict[str, tuple[int, ...]] = {}
        for number in numbers:
            id = self.catalogue.citations[number].id
            groups[id] = (*groups.get(id, ()), number)
        return groups

    def requirement(self, index: int) -> ResourceNode:
        card = self.catalogue.requirements[index]
        return ResourceNode(NodeKind.REQUIREMENT, card.specification, card.section, index)

    def citation(self, numbers: tuple[int, ...]) -> ResourceNode:
        cards = self.catalogue.citations
        index = next((index for number in numbers for index in cards[number].requirements), None)
        if index is None:
            return ResourceNode(NodeKind.CITATION, citations=numbers)
        return replace(self.requirement(index), kind=NodeKind.CITATION, citations=numbers)


def make_resource_tree(context: ProjectSnapshot) -> ResourceTree:
    return ResourceTree(context.catalogue, context.files)


_FIXED_PATHS = {
    NodeKind.ROOT: "/",
    NodeKind.SPECIFICATIONS: "/specifications",
    NodeKind.ALL_REQUIREMENTS: "/requirements",
    NodeKind.ALL_CITATIONS: "/citations",
}
_SUFFIXES = {NodeKind.SECTIONS: "/sections", NodeKind.REQUIREMENTS: "/requirements", NodeKind.CITATIONS: "/citations"}


def make_node_path(tree: ResourceTree, node: ResourceNode, *, is_encoded: bool = False) -> str:
    if node.kind in _FIXED_PATHS:
        return _FIXED_PATHS[node.kind]
    if node.specification < 0:
        path = ""
    else:
        card = tree.catalogue.specifications[node.specification]
        section = quote(node.section, safe=":@") if is_encoded else node.section
        if node.kind in (NodeKind.SPECIFICATION, NodeKind.SECTIONS):
            path = card.full_path
        elif node.requirement < 0:
            path = card.section_path(section)
        else:
            path = card.requirement_path(section, tree.catalogue.ids[node.requirement])
    if node.kind is not NodeKind.CITATION:
        return path + _SUFFIXES.get(node.kind, "")
    id = tree.catalogue.citations[node.citations[0]].id
    if is_encoded:
        # Clients resolve `.` and `..` between slashes.
        id = quote(id, safe=":@" if {"", ".", ".."} & set(id.split("/")) else "/:@")
    return f"{path}/citations/{id}"


def make_node_uri(tree: ResourceTree, node: ResourceNode) -> str:
    return RESOURCE_SCHEME + make_node_path(tree, node, is_encoded=True)


class ResourceRequest(Struct, frozen=True):
    # The path, and whether it is percent-encoded; the likelier interpretation comes first.
    spellings: tuple[tuple[str, bool], ...]
    limit: int | None = None
    cursor: str | None = None


def parse_resource_request(reference: str) -> ResourceRequest:
    if len(reference) > _MAX_URI_LENGTH:
        raise QueryError(f"the URI is too long: the limit is {_MAX_URI_LENGTH:,} characters")
    is_uri = reference[: len(RESOURCE_SCHEME)].lower() == RESOURCE_SCHEME
    if is_uri and _CONTROLS.search(reference):
        raise QueryError("the URI contains control characters", hint="percent-encode them")
    path, options = reference[len(RESOURCE_SCHEME) :] if is_uri else reference, {}
    if match := _QUERY.match(path):
        path, pairs = match[1], parse_qsl(match[2], keep_blank_values=True)
        options = dict(pairs)
        if len(pairs) != len(options) or not options.keys() <= {"limit", "cursor"}:
            raise QueryError("after `?`, only `limit` and `cursor` are allowed, each at most once")
    limit = options.get("limit")
    if limit is not None and not _LIMIT.match(limit):
        raise QueryError("`limit` must be a number from 1 to 999999999")
    spellings = ((path, is_uri), (path, not is_uri))
    return ResourceRequest(spellings, None if limit is None else int(limit), options.get("cursor"))


_FIXED_NODES = {"/": ROOT, "/requirements": ALL_REQUIREMENTS, "/citations": ALL_CITATIONS}
_CITATION = re.compile(r"/citations/(.+)\Z", re.DOTALL)
_SEPARATOR = re.compile(r"[/\\]")


def find_resource_node(tree: ResourceTree, request: ResourceRequest) -> ResourceNode:
    failures = []
    for path, is_encoded in request.spellings:
        try:
            fixed = _FIXED_NODES.get(path) or _FIXED_NODES.get(path.removesuffix("/"))
            if fixed is not None:
                return fixed
            citation = _CITATION.match(path)
            if citation is not None:
                id = unquote(citation[1]) if is_encoded else citation[1]
                ids = tree.citation_ids
                if id not in ids:
                    _refuse_parent_steps(id)
                spelling = next((spelling for spelling in list_citation_spellings(id) if spelling in ids), None)
                if spelling is None:
                    raise NotFoundError(f"unknown citation {quote_text(id)}")
                return tree.citation(ids[spelling])
            resource = parse_resource(path, is_encoded=is_encoded)
            if resource is None:
                hint = "list the resources with `resources/list`"
                raise NotFoundError(f"unknown resource {quote_text(path)}", hint=hint)
            if resource.specification is None:
                return SPECIFICATIONS
            if resource.section == "" and not resource.is_collection and resource.id is None:
                # A trailing slash requests all sections, unless one has an empty id.
                index = tree.specification_ids.get(resource.specification)
                if index is None or "" not in tree.catalogue.specifications[index].titles:
                    resource = replace(resource, section=None, is_collection=True)
            node = find_named_node(tree, resource)
            return tree.children(node)[0] if resource.is_collection else node
        except NotFoundError as error:
            failures.append(error)
    raise failures[0]


def _find_exact_node(tree: ResourceTree, resource: ResourcePath) -> ResourceNode | None:
    index = tree.specification_ids.get(resource.specification or "")
    if index is None:
        return None
    if resource.section is None:
        return ResourceNode(NodeKind.SPECIFICATION, index)
    if resource.id is None:
        is_known = resource.section in tree.catalogue.specifications[index].titles
        return ResourceNode(NodeKind.SECTION, index, resource.section) if is_known else None
    requirement = tree.requirement_ids.get((index, resource.section), {}).get(resource.id)
    if requirement is None:
        return None
    if resource.citation is None:
        return tree.requirement(requirement)
    citations = tree.citations_of([requirement]).get(resource.citation, ())
    return replace(tree.requirement(requirement), kind=NodeKind.CITATION, citations=citations) if citations else None


def find_named_node(tree: ResourceTree, resource: ResourcePath) -> ResourceNode:
    if exact := _find_exact_node(tree, resource):
        return exact
    if resource.citation is not None:
        _refuse_parent_steps(resource.citation)
    above = replace(resource, citation=None)
    match resolve_resource(tree.catalogue, above, tree.files), resolve_resource(tree.catalogue, resource, tree.files):
        case SpecRef(specification), _:
            return ResourceNode(NodeKind.SPECIFICATION, specification)
        case SectionRef(specification, section), _:
            return ResourceNode(NodeKind.SECTION, specification, section)
        case RequirementRef((index, *_)), CitationRef(numbers):
            return replace(tree.requirement(index), kind=NodeKind.CITATION, citations=numbers)
        case RequirementRef((index, *_)), _:
            return tree.requirement(index)
    raise AssertionError(resource)


def _refuse_parent_steps(id: str) -> None:
    if ".." in _SEPARATOR.split(id):
        raise NotFoundError(f"unknown citation {quote_text(id)}")
