"""The requirements that a query names, as references do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.names import section_named, sections_named
from duvet.queries.places import Files
from duvet.queries.references import Citations, File, Found, Requirements, Spot, Whole, find, placed
from duvet.queries.spellings import specifications_called

_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_REFERENCE = re.compile(r"\S+(?:#\S+|:\d+)\Z|[0-9a-fA-F]{12,64}\Z")


def named(catalogue: Catalogue, query: str, files: Files | None = None) -> list[int]:
    """Their indexes, in the order of the catalogue; with the files, lines of code that belong to an annotation count."""
    wanted = query.strip()
    ##= man/spec/search.md#references
    ##% Requirements that the query names by the beginning of an id, `file:line`, a file, a target, a section or a
    ##% specification MUST come before those that its words find.
    return sorted({index for one in _meant(catalogue, wanted, files) for index in _requirements(catalogue, one)})


def is_reference(query: str) -> bool:
    """Whether a query can only be meant as a reference: words of it that stand somewhere are not what is looked for."""
    return _REFERENCE.match(query.strip()) is not None


def near(catalogue: Catalogue, query: str, files: Files) -> str:
    """What a single word may be meant to name, for people; nothing where there is nothing like it."""
    ##= man/spec/search.md#references
    ##% Where a single word finds nothing, duvet MUST say which names are most like it.
    if len(query.split()) == 1:
        try:
            find(catalogue, query, files)
        except NotFoundError as error:
            if is_reference(query):
                return "; ".join(filter(None, [error.message, error.hint]))
            if error.hint.endswith("?"):
                return error.hint
    return ""


def _meant(catalogue: Catalogue, wanted: str, files: Files | None) -> Iterator[Found]:
    if not wanted:
        return
    if _ID.match(wanted):
        digits = wanted.lower()
        yield Requirements(tuple([index for index, id in enumerate(catalogue.ids) if id.startswith(digits)]))
    # Most queries name nothing, and to look for what is near takes long.
    if "#" in wanted or "/specifications/" in wanted:
        with suppress(NotFoundError):
            yield find(catalogue, wanted)
    yield from map(Whole, specifications_called(catalogue, wanted))
    for index, card in enumerate(catalogue.specifications):
        section = section_named(card, wanted)
        if section is not None:
            yield Spot(index, section)
    with suppress(NotFoundError):
        place = placed(catalogue, wanted, files)
        if place is not None:
            yield place


def _requirements(catalogue: Catalogue, found: Found) -> Iterable[int]:
    match found:
        case Requirements(indexes):
            return indexes
        case Citations(indexes) | File(_, indexes):
            return (index for number in indexes for index in catalogue.citations[number].requirements)
        case Whole(specification):
            return _where(catalogue, specification, catalogue.specifications[specification].titles)
        case Spot(specification, section):
            ##= man/spec/queries.md#filters
            ##% A numbered section MUST stand for the sections below it, too.
            below = sections_named(catalogue.specifications[specification], section)
            return _where(catalogue, specification, below)


def _where(catalogue: Catalogue, specification: int, sections: Iterable[str]) -> Iterable[int]:
    return (index for section in sections for index in catalogue.stated.get((specification, section), ()))
