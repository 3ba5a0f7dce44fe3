"""What may be meant by the beginning of an argument of a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.filters import LEVELS


def completions(catalogue: Catalogue, argument: str, value: str) -> list[str]:
    """What the argument of that name can be that begins so, in the order of the catalogue."""
    ##= man/spec/mcp.md#prompts
    ##% Arguments MUST be completed with the ids, sections, files and levels that the project has.
    begin = value.lower()
    return list(dict.fromkeys(one for one in _known(catalogue, argument) if one.lower().startswith(begin)))


def _known(catalogue: Catalogue, argument: str) -> Iterable[str]:
    match argument:
        case "requirement":
            return (id[:SHOWN] for id in catalogue.ids)
        case "spec":
            return (card.id for card in catalogue.specifications)
        case "section":
            return (f"{card.id}#{section.id}" for card in catalogue.specifications for section in card.sections)
        case "file":
            return (card.path for card in catalogue.citations)
        case "level":
            return LEVELS
    return ()
