"""Where everything stands on the page: the anchors, and the links to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from duvet.queries.catalogue import SHOWN, CitationCard
from duvet.queries.links import fragment
from duvet.reports.html_anchors import Anchors
from duvet.reports.html_page import Page
from duvet.reports.html_text import attribute


class Spot(NamedTuple):
    """The name of a place and the link to it, both escaped."""

    anchor: str
    link: str


class SectionPlace(Struct, frozen=True):
    """Where a section stands, and what is said of it there."""

    name: str
    """Its anchor as it is."""
    spot: Spot
    requirements: list[int]
    others: list[int]
    """The numbers of the citations of its text that is no requirement."""
    cited: Spot
    """Where these are shown."""


class Places(Struct, frozen=True):
    """The places of specifications, of those of their sections that are shown, and of requirements."""

    specifications: dict[str, str]
    """Their anchors as they are, by the ids of those that are cited."""
    sections: list[dict[str, SectionPlace]]
    """By the ids of the sections."""
    requirements: list[Spot]
    notes: dict[str, Spot] = {}
    """Of pages, by their slugs."""
    notes_view: str = ""
    """The anchor of all of them."""

    def of(self, citation: CitationCard) -> Spot | None:
        """Where it is shown what a citation refers to; None where it leads nowhere."""
        ##= man/spec/page.md#places
        ##% Every link to the page itself MUST lead to a place on it.
        if citation.requirements:
            return self.requirements[citation.requirements[0]]
        return self.sections[citation.specification][citation.section].cited if citation.is_valid else None


def places_of(page: Page) -> Places:
    """Every place; a name depends on nothing but what it names, unless two were alike."""
    ##= man/spec/page.md#places
    ##% Every specification, every section that is shown and every requirement MUST have an anchor on the page.
    names = Anchors()
    cited = [coverage.specification for coverage in page.finished.trace.coverages]
    specifications = {one.id: names.new(one.id) for one in cited}
    sections = [
        {id: _section(names, f"{own}/{id}") for id in ids}
        for own, ids in zip(specifications.values(), _shown(page), strict=True)
    ]
    for number, card in enumerate(page.catalogue.citations):
        if card.is_valid and not card.requirements:
            sections[card.specification][card.section].others.append(number)
    requirements = _requirements(page, sections, names)
    if page.notes is None:
        return Places(specifications, sections, requirements)
    view = names.new("pages")
    anchors = {note.slug: names.new(f"{view}/{note.slug}") for note in page.notes.pages}
    notes = {slug: Spot(attribute(name), attribute(fragment(name))) for slug, name in anchors.items()}
    return Places(specifications, sections, requirements, notes, view)


def _shown(page: Page) -> Iterable[Iterable[str]]:
    """The ids of the sections of each specification that are shown."""
    # Much of what is cited here and there is a large standard: without requirements, only what is cited is shown.
    stating = {card.specification for card in page.catalogue.requirements}
    for number, coverage in enumerate(page.finished.trace.coverages):
        sections = coverage.specification.sections
        ##= man/spec/page.md#text
        ##% With `spec-text = "full"`, every section of every cited specification MUST be shown.
        whole = page.whole_text or number in stating
        yield (
            [section.id for section in sections]
            if whole
            else [sections[index].id for index in sorted(coverage.sections)]
        )


def _section(names: Anchors, wanted: str) -> SectionPlace:
    name = names.new(wanted)
    spot = Spot(attribute(name), attribute(fragment(name)))
    return SectionPlace(name, spot, [], [], _below(names, name, spot, "cited"))


def _requirements(page: Page, sections: list[dict[str, SectionPlace]], names: Anchors) -> list[Spot]:
    spots: list[Spot] = []
    for index, (card, id) in enumerate(zip(page.catalogue.requirements, page.catalogue.ids, strict=True)):
        place = sections[card.specification][card.section]
        place.requirements.append(index)
        ##= man/spec/page.md#places
        ##% The anchor of a requirement MUST be made of its specification, its section and the first 12 digits of its
        ##% id.
        spots.append(_below(names, place.name, place.spot, id[:SHOWN]))
    return spots


def _below(names: Anchors, name: str, spot: Spot, wanted: str) -> Spot:
    end = names.new(f"{name}/{wanted}")[len(name) :]
    return Spot(spot.anchor + end, spot.link + end)
