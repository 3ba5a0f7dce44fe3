"""What to do next: the requirements that matter most, with the reason for their rank."""

from __future__ import annotations

from typing import NamedTuple

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
        (card.specification, card.section, card.text): link
        for card, link in zip(page.catalogue.requirements, places.links, strict=True)
        if card.text in wanted
    }
    ##= man/spec/page.md#overview
    ##% What to do next MUST be listed with the reason for each rank.
    specifications = {one.id: index for index, one in enumerate(page.catalogue.specifications)}
    return [
        _view(row, page.catalogue.specifications[index].name, links[index, row.section, row.text])
        for row in page.next
        for index in (specifications[row.specification],)
    ]


def section_words(id: str) -> str:
    """`4.1.2` for `section-4.1.2`."""
    kind, _, number = id.partition("-")
    return number if kind == "section" and number else id


def _view(row: PriorityRow, specification: str, href: str) -> NextView:
    place = f"{specification}, {section_words(row.section)}"
    return NextView(_LOOKS[row.state], href, place, shortened(row.text, _WIDEST), row.reason)
