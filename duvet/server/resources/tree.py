"""What stands where, found out as it is asked for, and once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec.structs import replace

from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.server.resources.nodes import ALL_CITATIONS, ALL_REQUIREMENTS, ROOT, SPECIFICATIONS, Kind, Node
from duvet.tools.context import Context


class Tree:
    """The tree of a catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def children(self, node: Node) -> Sequence[Node]:
        """What stands right below a place."""
        match node.kind:
            case Kind.ROOT:
                return (SPECIFICATIONS, ALL_REQUIREMENTS, ALL_CITATIONS)
            case Kind.SPECIFICATIONS:
                return [Node(Kind.SPECIFICATION, index) for index in range(len(self.catalogue.specifications))]
            case Kind.SECTIONS:
                card = self.catalogue.specifications[node.specification]
                return [Node(Kind.SECTION, node.specification, section.id) for section in card.sections]
            case Kind.REQUIREMENTS:
                ids = self.requirement_ids(node.specification, node.section)
                return [self.requirement(index) for index in ids.values()]
            case Kind.CITATIONS:
                at = self.citations_of([node.requirement])
                return [replace(node, kind=Kind.CITATION, citations=numbers) for numbers in at.values()]
            case Kind.ALL_REQUIREMENTS:
                return self.requirements
            case Kind.ALL_CITATIONS:
                return self.citations
            case Kind.CITATION:
                return ()
        return (replace(node, kind=_COLLECTION_OF[node.kind]),)

    @cached_property
    def all(self) -> Sequence[Node]:
        """Every place once: the collections of everything, then what stands below specifications, level by level."""
        found = [*self.children(ROOT)]
        level = self.children(SPECIFICATIONS)
        while level:
            found += level
            level = [child for node in level for child in self.children(node)]
        return [*found, *(node for node in self.citations if node.requirement < 0)]

    @cached_property
    def requirements(self) -> Sequence[Node]:
        """Every requirement, in the order of the catalogue."""
        return [self.requirement(index) for index in range(len(self.catalogue.requirements))]

    @cached_property
    def citations(self) -> Sequence[Node]:
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

    def requirement(self, index: int) -> Node:
        """The place of a requirement."""
        card = self.catalogue.requirements[index]
        return Node(Kind.REQUIREMENT, card.specification, card.section, index)

    def citation(self, numbers: tuple[int, ...]) -> Node:
        """The place of the annotations at a line, below the first requirement that they refer to."""
        cards = self.catalogue.citations
        index = next((index for number in numbers for index in cards[number].requirements), None)
        if index is None:
            ##= man/spec/mcp.md#resources
            ##% A citation that refers to no requirement MUST be listed among all citations, and read there.
            return Node(Kind.CITATION, citations=numbers)
        return replace(self.requirement(index), kind=Kind.CITATION, citations=numbers)

    @cached_property
    def _ids(self) -> dict[tuple[int, str], dict[str, int]]:
        found: dict[tuple[int, str], dict[str, int]] = {}
        for index, (card, id) in enumerate(zip(self.catalogue.requirements, self.catalogue.ids, strict=True)):
            found.setdefault((card.specification, card.section), {})[id[:SHOWN]] = index
        return found

    def _by_id(self, numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for number in numbers:
            id = self.catalogue.citations[number].id
            found[id] = (*found.get(id, ()), number)
        return found


_COLLECTION_OF = {
    Kind.SPECIFICATION: Kind.SECTIONS,
    Kind.SECTION: Kind.REQUIREMENTS,
    Kind.REQUIREMENT: Kind.CITATIONS,
}


def tree_of(context: Context) -> Tree:
    """The tree of a reading, for as long as that is kept."""
    return context.once(_tree)


def _tree(context: Context) -> Tree:
    return Tree(context.catalogue)
