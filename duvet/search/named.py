"""The requirements that a query names, as references do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.names import section_named, specifications_named
from duvet.queries.references import Citations, File, Found, Requirements, Spot, Whole, find, placed

_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")


def named(catalogue: Catalogue, query: str) -> list[int]:
    """Their indexes, in the order of the catalogue."""
    wanted = query.strip()
    ##= man/spec/search.md#references
    ##% Requirements that the query names by the beginning of an id, `file:line`, a file, a target, a section or a
    ##% specification MUST come before those that its words find.
    return sorted({index for one in _meant(catalogue, wanted) for index in _requirements(catalogue, one)})


def _meant(catalogue: Catalogue, wanted: str) -> Iterator[Found]:
    if not wanted:
        return
    if _ID.match(wanted):
        digits = wanted.lower()
        yield Requirements(tuple([index for index, id in enumerate(catalogue.ids) if id.startswith(digits)]))
    if "#" in wanted or "/specifications/" in wanted:
        # Most queries name nothing, and what is near is not asked for.
        with suppress(NotFoundError):
            yield find(catalogue, wanted)
    yield from map(Whole, specifications_named(catalogue, wanted))
    for index, card in enumerate(catalogue.specifications):
        section = section_named(card, wanted)
        if section is not None:
            yield Spot(index, section)
    with suppress(NotFoundError):
        place = placed(catalogue, wanted)
        if place is not None:
            yield place


def _requirements(catalogue: Catalogue, found: Found) -> Iterable[int]:
    match found:
        case Requirements(indexes):
            return indexes
        case Citations(indexes) | File(_, indexes):
            return (index for number in indexes for index in catalogue.citations[number].requirements)
        case Whole(specification):
            return _where(catalogue, specification, None)
        case Spot(specification, section):
            return _where(catalogue, specification, section)


def _where(catalogue: Catalogue, specification: int, section: str | None) -> Iterable[int]:
    return (
        index
        for index, card in enumerate(catalogue.requirements)
        if card.specification == specification and section in (None, card.section)
    )
