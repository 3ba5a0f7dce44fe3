"""The table of all requirements, a line of HTML each."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape

from duvet.model import Kind
from duvet.queries.catalogue import Catalogue, CitationCard, RequirementCard
from duvet.reports.html_places import Places
from duvet.reports.html_states import LOOKS

_CODE = (Kind.CITATION, Kind.IMPLICATION)


def requirement_rows(catalogue: Catalogue, places: Places) -> Markup:
    """The requirements that are furthest from done first."""
    cards = catalogue.requirements
    order = sorted(range(len(cards)), key=lambda index: (cards[index].state, -cards[index].level))
    return Markup("\n".join(_row(catalogue, cards[index], places.links[index]) for index in order))


def _row(catalogue: Catalogue, card: RequirementCard, href: str) -> str:
    look = LOOKS[card.state]
    cited = [catalogue.citations[number] for number in card.citations]
    code = sum(one.kind in _CODE for one in cited)
    tests = sum(one.kind is Kind.TEST for one in cited)
    specification = catalogue.specification_of(card)
    place = escape(f"{specification.name}, {specification.titles[card.section]}")
    return (
        f'<tr class={look.mark}><td><a href="{href}">{look.badge}</a><td>{card.level.name if card.level else "-"}'
        f"<td>{place}<td>{escape(card.text)}<td class=n>{code}<td class=n>{tests}<td>{' '.join(_notes(cited))}"
    )


def _notes(cited: list[CitationCard]) -> Iterator[str]:
    notes: dict[str, None] = {}
    for one in cited:
        if one.feature:
            notes[f"<i class=f>{escape(one.feature)}</i>"] = None
        if one.tracking_issue:
            notes[f"<i class=i>{escape(one.tracking_issue)}</i>"] = None
    yield from notes
