"""What to do next: the requirements that matter most, with the reason for their rank."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from duvet.queries.catalogue import SpecificationCard
from duvet.queries.reasons import PriorityRow
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_states import LOOKS, Look
from duvet.text import shortened
from duvet.trace.states import State

_WIDEST = 160

_LOOKS = {state.words: LOOKS[state] for state in State}


class NextView(NamedTuple):
    """A requirement to see to."""

    look: Look
    href: str
    place: str
    text: str
    reason: str


def next_views(page: Page, places: Places) -> list[NextView]:
    """The rows with their links."""
    wanted = {row.text for row in page.next}
    links = {
        (card.specification, card.section, card.text): Markup(spot.link)
        for card, spot in zip(page.catalogue.requirements, places.requirements, strict=True)
        if card.text in wanted
    }
    ##= man/spec/page.md#overview
    ##% What to do next MUST be listed with the reason for each rank.
    specifications = {one.id: index for index, one in enumerate(page.catalogue.specifications)}
    return [
        _view(row, page.catalogue.specifications[index], links[index, row.section, row.text])
        for row in page.next
        for index in (specifications[row.specification],)
    ]


def place_words(specification: SpecificationCard, section: str) -> str:
    """`RFC 8446, 4.1.2`, or the title of a section that has no number."""
    kind, _, number = section.partition("-")
    return f"{specification.name}, {number if kind == 'section' and number else specification.titles.get(section, section)}"


def _view(row: PriorityRow, specification: SpecificationCard, href: str) -> NextView:
    place = place_words(specification, row.section)
    return NextView(_LOOKS[row.state], href, place, shortened(row.text, _WIDEST), row.reason)
