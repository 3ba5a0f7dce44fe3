"""From a target to the requirements that it means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from duvet.errors import DuvetError
from duvet.model import Format, Specification
from duvet.queries.catalogue import Catalogue
from duvet.queries.cataloguing import further, specification_card
from duvet.queries.names import no_section, sections_named, specifications_named
from duvet.queries.spellings import specification_named
from duvet.specs.library import Library
from duvet.specs.resolve import resolve
from duvet.specs.urls import canonical_url
from duvet.trace.records import Trace
from duvet.trace.requirements import Requirement
from duvet.tree.protocol import Tree


class Scopes:
    """The requirements of a trace by specification and section."""

    def __init__(
        self,
        specifications: Iterable[Specification],
        requirements: Sequence[Requirement],
        tree: Tree,
        base: str,
        unavailable: Collection[str] = (),
    ) -> None:
        self.requirements = requirements
        self.tree = tree
        self.base = base
        self.unavailable = frozenset(map(canonical_url, unavailable))
        """What specifications are called that could not be loaded."""
        self._names = Catalogue(tuple(map(specification_card, specifications)), (), (), ())
        self._found: dict[str, list[int]] = {}
        """The specifications of the names that have been asked for."""
        self._stated: defaultdict[_Spot, list[int]] = defaultdict(list)
        for index, one in enumerate(requirements):
            self._stated[one.specification.id, one.section.id].append(index)

    def of(self, target: str, *, below: bool = True) -> list[int]:
        """The indexes of the requirements of a specification, or of a section and of those below it.

        NotFoundError, with the nearest names, where there is no such specification or section.
        """
        name, hash_sign, section = target.partition("#")
        cards = [self._names.specifications[index] for index in self._named(name)]
        if not hash_sign:
            ##= man/spec/gates.md#not-applicable
            ##% A specification as target MUST stand for all of its requirements, and a section for its own.
            return self._at((card.id, part.id) for card in cards for part in card.sections)
        spots = {(card.id, id) for card in cards for id in sections_named(card, section, below=below)}
        if not spots:
            raise no_section(cards, section)
        return self._at(spots)

    def _at(self, spots: Iterable[_Spot]) -> list[int]:
        return sorted({index for spot in spots if spot in self._stated for index in self._stated[spot]})

    def is_unavailable(self, target: str) -> bool:
        """Whether it names a specification that could not be loaded, which is told elsewhere."""
        name = target.partition("#")[0]
        return bool(self.unavailable) and not self.unavailable.isdisjoint((name, self._elsewhere(name)))

    def _named(self, name: str) -> list[int]:
        """The specifications of that name, however it is spelled."""
        known = self._found.get(name)
        if known is not None:
            return known
        found = specifications_named(self._names, name) or specifications_named(self._names, self._elsewhere(name))
        self._found[name] = found or specification_named(self._names, name)
        return self._found[name]

    def _elsewhere(self, name: str) -> str:
        """What the specification is called that an annotation means by that name."""
        try:
            return canonical_url(resolve(name, Format.AUTO, self.base, self.tree).name)
        except DuvetError:
            return name


def scopes_of(
    trace: Trace,
    requirements: Sequence[Requirement],
    configured: Iterable[Specification],
    library: Library,
    base: str,
) -> Scopes:
    """The requirements of a trace; of a specification that nothing refers to there are none."""
    cited = [coverage.specification for coverage in trace.coverages]
    unavailable = [locator.name for locator in library.failures]
    return Scopes((*cited, *further(configured, cited)), requirements, library.tree, base, unavailable)


_Spot = tuple[str, str]
"""The ids of a specification and of a section in it."""
