"""Names of places on the page."""

from __future__ import annotations

from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.links import fragment
from duvet.trace.finished import Finished

_OWN = (
    "count filters help help-title keys main not-applicable notice overview panel panel-title problems requirements "
    "result settings source-count source-filter sources specifications theme"
)


class Anchors:
    """Gives names to places, no two of them alike; some belong to the page itself."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_OWN.split(), 1)

    def new(self, wanted: str) -> str:
        """The name wanted, with a number where it is taken."""
        # An id that is written in Markdown may have white space in it, and an anchor may not.
        name = wanted = "-".join(wanted.split())
        while name in self._counts:
            self._counts[wanted] = count = self._counts.get(wanted, 1) + 1
            name = f"{wanted}-{count}"
        self._counts[name] = 1
        return name


class Places:
    """The anchors of specifications, of their sections and of requirements."""

    def __init__(self, finished: Finished, catalogue: Catalogue) -> None:
        names = Anchors()
        cited = [coverage.specification for coverage in finished.trace.coverages]
        self.specifications = [names.new(one.id) for one in cited]
        """By index."""
        self.sections = [
            {section.id: names.new(f"{own}/{section.id}") for section in one.sections}
            for own, one in zip(self.specifications, cited, strict=True)
        ]
        """By the index of a specification and the id of a section."""
        self.others = [{id: names.new(f"{anchor}/cited") for id, anchor in found.items()} for found in self.sections]
        """Where it is shown what cites other text of a section."""
        self.requirements = [
            names.new(f"{self.sections[card.specification][card.section]}/{id[:SHOWN]}")
            for card, id in zip(catalogue.requirements, catalogue.ids, strict=True)
        ]
        self.links = [fragment(anchor) for anchor in self.requirements]
        """The links to requirements."""
