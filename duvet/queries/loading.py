"""The text behind a card of a specification."""

from __future__ import annotations

from duvet.errors import UnreadableError
from duvet.model import Format, Specification
from duvet.queries.catalogue import SpecificationCard
from duvet.specs.library import Library
from duvet.specs.resolve import locate


def specification_of(card: SpecificationCard, library: Library) -> Specification:
    """The specification of a card, with its text."""
    for format in Format:
        found = library.load_from(card.path, locate(card.locator, format))
        # One name may be read in several formats, and the file may be another one by now.
        if list(card.titles) == [section.id for section in found.sections]:
            return found
    raise UnreadableError("it has changed meanwhile", path=card.path, hint="ask again")
