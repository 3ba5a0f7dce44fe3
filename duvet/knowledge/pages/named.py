"""What pages say of the trace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import Page
from duvet.queries.catalogue import SHOWN

_MOST = 50
_MOST_CITATIONS = 20


class Citation(Struct, frozen=True):
    """A place in the code."""

    file_path: str
    line_number: int
    type: str


class Requirement(Struct, frozen=True):
    """A requirement that a page names."""

    identifier: str
    full_path: str
    target: str
    text: str
    status: str
    citations: tuple[Citation, ...]


def requirements_of(notes: Notes, page: Page) -> tuple[Requirement, ...] | None:
    """The requirements that a page names, and the code that cites them; None where there are none."""
    ##= man/spec/pages.md#tools
    ##% A page MUST be answered with the requirements that it names, and the code that cites them.
    indexes = dict.fromkeys(index for named in notes.requirements(page) for index in named.indexes)
    return tuple(_requirement(notes, index) for index in islice(indexes, _MOST)) or None


def _requirement(notes: Notes, index: int) -> Requirement:
    catalogue = notes.references.catalogue
    card = catalogue.requirements[index]
    return Requirement(
        identifier=card.id[:SHOWN],
        full_path=catalogue.full_path_of(card),
        target=catalogue.target_of(card),
        text=card.text,
        status=card.status.words,
        citations=tuple(islice(_citations(notes, index), _MOST_CITATIONS)),
    )


def _citations(notes: Notes, index: int) -> Iterator[Citation]:
    catalogue = notes.references.catalogue
    for number in catalogue.requirements[index].citations:
        card = catalogue.citations[number]
        yield Citation(card.path, card.line, card.kind.name.lower())
