"""What a reference gives to cite: one text with one target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.references import Citations, Found, Requirements, Spot
from duvet.text import quoted, shortened


class Citable(Struct, frozen=True):
    """A target, and the words to quote; none where the title of a section is meant."""

    target: str
    quote: str


def citable(catalogue: Catalogue, found: Found, part: str | None = None) -> Citable:
    """What is to be cited; NotFoundError where that is nothing, or not only one thing."""
    match found:
        case Spot(specification, section):
            if part is not None:
                raise NotFoundError("a title has no parts", hint="give the requirement that the words stand in")
            ##= man/spec/cite.md#what-is-written
            ##% For a section, the annotation MUST quote nothing, and so refer to its title.
            return Citable(f"{catalogue.specifications[specification].locator}#{section}", "")
        case Requirements(indexes):
            return _requirement(catalogue, indexes, part)
        case Citations(numbers):
            cited = {index for number in numbers for index in catalogue.citations[number].requirements}
            return _requirement(catalogue, sorted(cited), part)
    raise NotFoundError("only requirements and titles of sections can be cited", hint="give an id, or spec#section")


def _requirement(catalogue: Catalogue, indexes: Sequence[int], part: str | None) -> Citable:
    if len(indexes) != 1:
        raise _not_one(catalogue, indexes)
    card = catalogue.requirements[indexes[0]]
    quote = card.text if part is None else " ".join(part.split())
    if not quote or quote not in card.text:
        raise NotFoundError(f"{quoted(quote)} is no part of the requirement", hint=f"it reads: {card.text}")
    ##= man/spec/cite.md#what-is-written
    ##% With `--part`, only these words of the requirement MUST be quoted.
    return Citable(catalogue.target_of(card), quote)


def _not_one(catalogue: Catalogue, indexes: Iterable[int]) -> NotFoundError:
    """The error about a requirement in several places, or about several requirements."""
    cards = [catalogue.requirements[index] for index in indexes]
    if not cards:
        return NotFoundError("no requirement is cited there", hint="give an id, or spec#section")
    ##= man/spec/cite.md#what-is-refused
    ##% A requirement that stands in several places MUST NOT be cited by its id alone, and the places MUST be listed.
    ids = {card.id for card in cards}
    message = f"{len(ids)} requirements are cited there"
    if len(ids) == 1:
        message = f"{cards[0].id[:SHOWN]} stands in {len(cards)} places"
    lines = [f"{catalogue.full_path_of(card)}  {shortened(card.text, 60)}" for card in cards]
    return NotFoundError(message, hint="\n".join(["give the path of one:", *lines]))
