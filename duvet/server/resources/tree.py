"""Nodes of the resource tree and their URIs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cached_property, partial
from urllib.parse import parse_qsl, quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import NotFoundError, QueryError
from duvet.queries.references import CitationRef, RequirementRef, SectionRef, SpecRef, resolve_resource
from duvet.text import quote_text
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.locations import list_citation_spellings
from duvet.trace.names import RESOURCE_SCHEME, ResourcePath, parse_resource


class NodeKind(Enum):
    """What stands at a place."""

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

    @property
    def is_collection(self) -> bool:
        """Whether it is read as a list."""
        return self not in _SINGLE


_SINGLE = {NodeKind.SPECIFICATION, NodeKind.SECTION, NodeKind.REQUIREMENT, NodeKind.CITATION}


class ResourceNode(Struct, frozen=True, gc=False):
    """One place: its kind, and what it takes to find what it shows in the catalogue."""

    kind: NodeKind
    specification: int = -1
    """-1 above all of them, and where a citation stands below none."""
    section: str = ""
    """Its id, which is empty where its title has neither letters nor digits, and above all sections."""
    requirement: int = -1
    citations: tuple[int, ...] = ()
    """The annotations at one line."""


ROOT = ResourceNode(NodeKind.ROOT)
SPECIFICATIONS = ResourceNode(NodeKind.SPECIFICATIONS)
ALL_REQUIREMENTS = ResourceNode(NodeKind.ALL_REQUIREMENTS)
ALL_CITATIONS = ResourceNode(NodeKind.ALL_CITATIONS)


class ResourceTree:
    """The tree of a catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def children(self, node: ResourceNode) -> Sequence[ResourceNode]:
        """What stands right below a place."""
        match node.kind:
            case NodeKind.ROOT:
                return (SPECIFICATIONS, ALL_REQUIREMENTS, ALL_CITATIONS)
            case NodeKind.SPECIFICATIONS:
                return [
                    ResourceNode(NodeKind.SPECIFICATION, index) for index in range(len(self.catalogue.specifications))
                ]
            case NodeKind.SECTIONS:
                card = self.catalogue.specifications[node.specification]
                return [ResourceNode(NodeKind.SECTION, node.specification, section.id) for section in card.sections]
            case NodeKind.REQUIREMENTS:
                ids = self.requirement_ids(node.specification, node.section)
                return [self.requirement(index) for index in ids.values()]
            case NodeKind.CITATIONS:
                at = self.citations_of([node.requirement])
                return [replace(node, kind=NodeKind.CITATION, citations=numbers) for numbers in at.values()]
            case NodeKind.ALL_REQUIREMENTS:
                return self.requirements
            case NodeKind.ALL_CITATIONS:
                return self.citations
            case NodeKind.CITATION:
                return ()
        return (replace(node, kind=_COLLECTION_OF[node.kind]),)

    @cached_property
    def all(self) -> Sequence[ResourceNode]:
        """Every place once: the collections of everything, then what stands below specifications, level by level."""
        found = [*self.children(ROOT)]
        level = self.children(SPECIFICATIONS)
        while level:
            found += level
            level = [child for node in level for child in self.children(node)]
        return [*found, *(node for node in self.citations if node.requirement < 0)]

    @cached_property
    def requirements(self) -> Sequence[ResourceNode]:
        """Every requirement, in the order of the catalogue."""
        return [self.requirement(index) for index in range(len(self.catalogue.requirements))]

    @cached_property
    def citations(self) -> Sequence[ResourceNode]:
        """Every citation, below the first requirement that it refers to."""
        return [self.citation(numbers) for numbers in self.citation_ids.values()]

    @cached_property
    def specification_ids(self) -> dict[str, int]:
        """The indexes of the specifications by their ids."""
        return {card.id: index for index, card in enumerate(self.catalogue.specifications)}

    def requirement_ids(self, specification: int, section: str) -> dict[str, int]:
        """The requirements of a section by their ids, as they are shown."""
        return self._ids.get((specification, section), {})

    @cached_property
    def citation_ids(self) -> dict[str, tuple[int, ...]]:
        """All citations by their ids."""
        return self._by_id(range(len(self.catalogue.citations)))

    def citations_of(self, requirements: Iterable[int]) -> dict[str, tuple[int, ...]]:
        """Those of these requirements by their ids."""
        cards = self.catalogue.requirements
        return self._by_id(sorted({number for index in requirements for number in cards[index].citations}))

    def requirement(self, index: int) -> ResourceNode:
        """The place of a requirement."""
        card = self.catalogue.requirements[index]
        return ResourceNode(NodeKind.REQUIREMENT, card.specification, card.section, index)

    def citation(self, numbers: tuple[int, ...]) -> ResourceNode:
        """The place of the annotations at a line, below the first requirement that they refer to."""
        cards = self.catalogue.citations
        index = next((index for number in numbers for index in cards[number].requirements), None)
        if index is None:
            ##= man/spec/mcp.md#resources
            ##% `resources/list` MUST list every resource once, page by page, or with a `path` the resources right below
            ##% it with their objects.
            return ResourceNode(NodeKind.CITATION, citations=numbers)
        return replace(self.requirement(index), kind=NodeKind.CITATION, citations=numbers)

    @cached_property
    def _ids(self) -> dict[tuple[int, str], dict[str, int]]:
        found: dict[tuple[int, str], dict[str, int]] = {}
        for index, (card, id) in enumerate(zip(self.catalogue.requirements, self.catalogue.ids, strict=True)):
            found.setdefault((card.specification, card.section), {})[id[:SHORT_ID_DIGITS]] = index
        return found

    def _by_id(self, numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for number in numbers:
            id = self.catalogue.citations[number].id
            found[id] = (*found.get(id, ()), number)
        return found


_COLLECTION_OF = {
    NodeKind.SPECIFICATION: NodeKind.SECTIONS,
    NodeKind.SECTION: NodeKind.REQUIREMENTS,
    NodeKind.REQUIREMENT: NodeKind.CITATIONS,
}


def get_resource_tree(context: ProjectSnapshot) -> ResourceTree:
    """The tree of a reading, for as long as that is kept."""
    return context.once(_tree)


def _tree(context: ProjectSnapshot) -> ResourceTree:
    return ResourceTree(context.catalogue)


_LONGEST = 16_384
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")
# Lists alone are asked for in parts; a question mark elsewhere stands in the name of a file.
_QUERY = re.compile(
    r"(.*/(?:specifications|sections|requirements|citations))/?\?((?:limit|cursor)=[^?/]*)\Z", re.DOTALL
)
_LIMIT = re.compile(r"0*[1-9][0-9]{0,8}\Z")


class PathSpelling(Struct, frozen=True):
    """How names stand in a path."""

    section: Callable[[str], str] = str
    citation: Callable[[str], str] = str


_PLAIN = PathSpelling()


def make_node_path(tree: ResourceTree, node: ResourceNode, spelling: PathSpelling = _PLAIN) -> str:
    """Where a place is in the tree."""
    match node.kind:
        case NodeKind.ROOT:
            return "/"
        case NodeKind.SPECIFICATIONS:
            return "/specifications"
        case NodeKind.ALL_REQUIREMENTS:
            return "/requirements"
        case NodeKind.ALL_CITATIONS:
            return "/citations"
    above = _path_below_which(tree, node, spelling)
    match node.kind:
        case NodeKind.SECTIONS:
            return f"{above}/sections"
        case NodeKind.REQUIREMENTS:
            return f"{above}/requirements"
        case NodeKind.CITATIONS:
            return f"{above}/citations"
        case NodeKind.CITATION:
            return f"{above}/citations/{spelling.citation(tree.catalogue.citations[node.citations[0]].id)}"
    return above


def _path_below_which(tree: ResourceTree, node: ResourceNode, spelling: PathSpelling) -> str:
    """The specification, section or requirement that a place is, or stands right below."""
    if node.specification < 0:
        return ""
    card = tree.catalogue.specifications[node.specification]
    if node.kind in (NodeKind.SPECIFICATION, NodeKind.SECTIONS):
        return card.full_path
    section = spelling.section(node.section)
    if node.requirement < 0:
        return card.section_path(section)
    return card.requirement_path(section, tree.catalogue.ids[node.requirement])


def make_node_uri(tree: ResourceTree, node: ResourceNode) -> str:
    """What a place is called among all resources of the world."""
    return RESOURCE_SCHEME + make_node_path(tree, node, _ENCODED)


def _citation(id: str) -> str:
    # Clients take `.` and `..` between slashes for steps, and take them.
    return quote(id, safe=":@" if _STEPS & set(id.split("/")) else "/:@")


_STEPS = {"", ".", ".."}
_ENCODED = PathSpelling(partial(quote, safe=":@"), _citation)


class ResourceRequest(Struct, frozen=True):
    """What a client asks for."""

    spellings: tuple[tuple[str, bool], ...]
    """The path as it may be meant, the likelier one first, and whether it is percent-encoded."""
    limit: int | None = None
    cursor: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether not all of a list is wanted."""
        return self.limit is not None or self.cursor is not None


def parse_resource_request(reference: str) -> ResourceRequest:
    """What a URI, or a path, asks for; QueryError for what can be neither."""
    if len(reference) > _LONGEST:
        raise QueryError(f"a URI has no more than {_LONGEST} characters")
    is_uri = reference[: len(RESOURCE_SCHEME)].lower() == RESOURCE_SCHEME
    if is_uri and _CONTROLS.search(reference):
        raise QueryError("a URI has no control characters", hint="percent-encode them")
    path, options = _parted(reference[len(RESOURCE_SCHEME) :] if is_uri else reference)
    ##= man/spec/mcp.md#resources
    ##% The server MUST accept names in a URI plain or percent-encoded, and refuse a URI that is longer than 16,384
    ##% characters or contains control characters.
    return ResourceRequest(((path, is_uri), (path, not is_uri)), _limit(options.get("limit")), options.get("cursor"))


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


_FIXED = {"/": ROOT, "/requirements": ALL_REQUIREMENTS, "/citations": ALL_CITATIONS}
_CITATION = re.compile(r"/citations/(.+)\Z", re.DOTALL)
_FINDING_STEPS = re.compile(r"[/\\]")


def find_resource_node(tree: ResourceTree, asked: ResourceRequest) -> ResourceNode:
    """The place that is meant; NotFoundError with what is near where there is none."""
    failures = []
    for path, is_encoded in asked.spellings:
        try:
            return _node(tree, path, is_encoded)
        except NotFoundError as error:
            failures.append(error)
    raise failures[0]


def _node(tree: ResourceTree, path: str, is_encoded: bool) -> ResourceNode:
    fixed = _FIXED.get(path) or _FIXED.get(path.removesuffix("/"))
    if fixed is not None:
        return fixed
    citation = _CITATION.match(path)
    if citation is not None:
        return _finding_citation(tree, unquote(citation[1]) if is_encoded else citation[1])
    resource = parse_resource(path, is_encoded=is_encoded)
    if resource is None:
        hint = "begin with /specifications, /requirements or /citations"
        raise NotFoundError(f"there is no resource {quote_text(path)}", hint=hint)
    if resource.specification is None:
        return SPECIFICATIONS
    if _ends_with_a_slash(tree, resource):
        resource = replace(resource, section=None, is_collection=True)
    node = find_named_node(tree, resource)
    return tree.children(node)[0] if resource.is_collection else node


def _ends_with_a_slash(tree: ResourceTree, resource: ResourcePath) -> bool:
    """Whether that is the list of sections and not the section whose id is empty, for there is none."""
    if resource.section != "" or resource.is_collection or resource.id is not None:
        return False
    index = tree.specification_ids.get(resource.specification or "")
    return index is None or "" not in tree.catalogue.specifications[index].titles


def find_named_node(tree: ResourceTree, resource: ResourcePath) -> ResourceNode:
    """The single thing that these names mean; NotFoundError with what is near where they mean none."""
    return _exact(tree, resource) or _meant(tree, resource)


def _exact(tree: ResourceTree, resource: ResourcePath) -> ResourceNode | None:
    """The place whose names are just these, found without looking at any other."""
    index = tree.specification_ids.get(resource.specification or "")
    if index is None:
        return None
    if resource.section is None:
        return ResourceNode(NodeKind.SPECIFICATION, index)
    if resource.id is None:
        is_known = resource.section in tree.catalogue.specifications[index].titles
        return ResourceNode(NodeKind.SECTION, index, resource.section) if is_known else None
    requirement = tree.requirement_ids(index, resource.section).get(resource.id)
    if requirement is None:
        return None
    if resource.citation is None:
        return tree.requirement(requirement)
    citations = tree.citations_of([requirement]).get(resource.citation, ())
    return replace(tree.requirement(requirement), kind=NodeKind.CITATION, citations=citations) if citations else None


def _meant(tree: ResourceTree, resource: ResourcePath) -> ResourceNode:
    """The place that people may call so."""
    if resource.citation is not None:
        _refuse_steps(resource.citation)
    above = replace(resource, citation=None)
    match resolve_resource(tree.catalogue, above), resolve_resource(tree.catalogue, resource):
        case SpecRef(specification), _:
            return ResourceNode(NodeKind.SPECIFICATION, specification)
        case SectionRef(specification, section), _:
            return ResourceNode(NodeKind.SECTION, specification, section)
        case RequirementRef((index, *_)), CitationRef(numbers):
            return replace(tree.requirement(index), kind=NodeKind.CITATION, citations=numbers)
        case RequirementRef((index, *_)), _:
            return tree.requirement(index)
    raise AssertionError(resource)


def _finding_citation(tree: ResourceTree, id: str) -> ResourceNode:
    """The citation of that id, wherever it stands."""
    known = tree.citation_ids
    if id not in known:
        _refuse_steps(id)
    found = next((one for one in list_citation_spellings(id) if one in known), None)
    if found is None:
        raise NotFoundError(f"there is no citation {quote_text(id)}")
    return tree.citation(known[found])


def _refuse_steps(id: str) -> None:
    ##= man/spec/mcp.md#tools
    ##% The server MUST resolve a path from a client inside the project or refuse it, without revealing whether a file
    ##% outside exists.
    if ".." in _FINDING_STEPS.split(id):
        raise NotFoundError(f"there is no citation {quote_text(id)}")
