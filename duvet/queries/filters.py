"""Which requirements are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from duvet.model import Kind, Level
from duvet.queries.catalogue import Catalogue, RequirementCard
from duvet.trace.states import Status

LEVELS = {"must": Level.MUST, "should": Level.SHOULD, "may": Level.MAY, "none": Level.AUTO}
"""What levels are called where one is asked for."""

_Test = Callable[[RequirementCard], bool]


class Filter(Struct, frozen=True):
    """What a requirement has to be; several values of a kind are alternatives, none let everything through."""

    specifications: tuple[str, ...] = ()
    """By id, name, URL or path."""
    sections: tuple[str, ...] = ()
    """By id, number or title, of any specification, or as `spec#section`; numbered ones with those below them."""
    levels: tuple[Level, ...] = ()
    statuses: tuple[Status, ...] = ()
    kinds: tuple[Kind, ...] = ()
    """Those that have an annotation of such a type."""


def selected(catalogue: Catalogue, wanted: Filter) -> list[int]:
    """The indexes of the requirements that pass, in the order of the catalogue; NotFoundError for an unknown name."""
    cards = catalogue.requirements
    found = list(range(len(cards)))
    for test in _tests(catalogue, wanted):
        found = [index for index in found if test(cards[index])]
    return found


def _tests(catalogue: Catalogue, wanted: Filter) -> Iterator[_Test]:
    if wanted.specifications:
        from duvet.queries.spellings import specification_named

        named = {index for name in wanted.specifications for index in specification_named(catalogue, name)}
        yield lambda card: card.specification in named
    if wanted.sections:
        spots = {spot for name in wanted.sections for spot in _spots(catalogue, wanted.specifications, name)}
        yield lambda card: (card.specification, card.section) in spots
    if wanted.levels:
        yield lambda card: card.level in wanted.levels
    if wanted.statuses:
        yield lambda card: card.status in wanted.statuses
    if wanted.kinds:
        yield lambda card: any(catalogue.citations[number].kind in wanted.kinds for number in card.citations)


def _spots(catalogue: Catalogue, specifications: tuple[str, ...], name: str) -> list[tuple[int, str]]:
    """The sections of that name, each with its specification."""
    from duvet.queries.names import no_section, sections_named
    from duvet.queries.spellings import specification_named

    spec, _, wanted = name.rpartition("#")
    names = (spec,) if spec else specifications
    indexes = [index for one in names for index in specification_named(catalogue, one)]
    looked = indexes if names else range(len(catalogue.specifications))
    cards = [(index, catalogue.specifications[index]) for index in looked]
    ##= man/spec/queries.md#filters
    ##% A numbered section MUST stand for the sections below it, too.
    spots = [(index, id) for index, card in cards for id in sections_named(card, wanted)]
    if not spots:
        raise no_section([card for _, card in cards], wanted)
    return spots
