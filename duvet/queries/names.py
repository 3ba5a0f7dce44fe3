"""From what people call a specification or a section to the one that is meant."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue, SpecificationCard
from duvet.text import quoted

_MOST = 3
_LIKENESS = 60


def specifications_named(catalogue: Catalogue, name: str) -> list[int]:
    """The indexes of the specifications of that id, name, URL or path."""
    wanted = _plain(name)
    return [index for index, card in enumerate(catalogue.specifications) if wanted in _names(card)]


def specification_named(catalogue: Catalogue, name: str) -> list[int]:
    """The same, or an error with the nearest ids."""
    found = specifications_named(catalogue, name)
    if not found:
        hint = nearest_hint(name, [known for card in catalogue.specifications for known in (card.id, card.name)])
        raise NotFoundError(f"there is no specification {quoted(name)}", hint=hint or known_ids(catalogue))
    return found


def section_named(card: SpecificationCard, name: str) -> str | None:
    """The id of the section of that id or number."""
    wanted = name.removeprefix("#")
    for id in (wanted, f"section-{wanted}", f"appendix-{wanted}"):
        if id in card.titles:
            return id
    return None


def no_section(cards: Iterable[SpecificationCard], name: str) -> NotFoundError:
    """The error about a section that none of the specifications has."""
    looked = list(cards)
    known = [id for card in looked for id in card.titles]
    where = f" in {looked[0].locator}" if len(looked) == 1 else ""
    return NotFoundError(f"there is no section {quoted(name)}{where}", hint=nearest_hint(name, known))


def nearest_hint(wanted: str, known: Iterable[str]) -> str:
    """A question that names what is most like the wanted one; nothing where nothing is."""
    from rapidfuzz import fuzz, process

    names = list(dict.fromkeys(known))
    hits = process.extract(
        wanted.lower(), names, scorer=fuzz.ratio, processor=str.lower, limit=_MOST, score_cutoff=_LIKENESS
    )
    return f"did you mean {' or '.join(name for name, _, _ in hits)}?" if hits else ""


def known_ids(catalogue: Catalogue) -> str:
    """The ids of the specifications, for a hint."""
    ids = [card.id for card in catalogue.specifications]
    more = f" and {len(ids) - _SOME} more" if len(ids) > _SOME else ""
    return f"there are {', '.join(ids[:_SOME])}{more}" if ids else "the project has no specifications"


_SOME = 20


def _plain(name: str) -> str:
    """One spelling: that of a URL without its scheme and its extension, that of a path without a leading `./`."""
    return name.strip().removeprefix("./").casefold()


def _names(card: SpecificationCard) -> set[str]:
    return {_plain(name) for name in (card.id, card.name, card.url, card.locator, card.path)}
