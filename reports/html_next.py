"""What to do next: the requirements that matter most, with the reason for their rank."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from duvet.reports.html_names import Names
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


def next_views(page: Page, places: Places, names: Names) -> list[NextView]:
    """The rows with their links."""
    wanted = {row.text for row in page.next}
    found = {
        (card.specification, card.section, card.text): Markup(spot.link)
        for card, spot in zip(page.catalogue.requirements, places.requirements, strict=True)
        if card.text in wanted
    }
    indexes = {one.id: index for index, one in enumerate(page.catalogue.specifications)}
    ##= man/spec/page.md#overview
    ##% What to do next MUST be listed with the reason for each rank.
    return [
        NextView(
            _LOOKS[row.state],
            found[index, row.section, row.text],
            Markup(names.section(index, row.section)),
            shortened(row.text, _WIDEST),
            row.reason,
        )
        for row, index in ((row, indexes[row.specification]) for row in page.next)
    ]
