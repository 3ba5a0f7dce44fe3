"""From what people call a specification or a section to the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue, SpecificationCard
from duvet.text import quoted

_MOST = 3
_LIKENESS = 60
_SOME = 20
_WEB = re.compile(r"https?://(?:www\.)?")
_EXTENSION = re.compile(r"(?:\.(?:txt|html?))?/?\Z")
_PREFIX = re.compile(r"(?:section-)?(?:appendix-)?")
_NUMBERED = ("section-", "appendix-")
_NEVER = 9
"""Further from its id than any name of a specification."""


def specifications_named(catalogue: Catalogue, name: str) -> list[int]:
    """The indexes of the specifications of that id, name, URL or path; of a URL elsewhere, those of its last part."""
    ##= man/spec/show.md#references
    ##% The specification of an id MUST be meant before one that is only called so, and the one at a URL or a path before
    ##% one at another spelling of it.
    written, wanted = name.strip(), plain(name)
    ranks = {
        index: min(card.names.get(one, _NEVER) for one in (written, wanted))
        for index, card in enumerate(catalogue.specifications)
    }
    best = min(ranks.values(), default=_NEVER)
    if best < _NEVER:
        return [index for index, rank in ranks.items() if rank == best]
    if "://" not in name:
        return []
    last = wanted.rpartition("/")[2]
    return [index for index, card in enumerate(catalogue.specifications) if last == card.id]


def specification_names(catalogue: Catalogue) -> dict[str, str]:
    """What the specifications are called, each name with the id that is meant."""
    return {name: card.id for card in catalogue.specifications for name in (card.id, card.name, card.locator)}


def section_named(card: SpecificationCard, name: str) -> str | None:
    """The id of the section of that id, number or title."""
    wanted = name.removeprefix("#")
    bare = _PREFIX.sub("", wanted, count=1)
    for id in (wanted, f"section-{bare}", f"appendix-{bare}"):
        if id in card.titles:
            return id
    return card.titled.get(wanted.casefold()) if wanted else None


def sections_named(card: SpecificationCard, name: str, *, below: bool = True) -> Iterator[str]:
    """The same, and the ids of the sections below it where they are numbered."""
    section = section_named(card, name)
    if section is None:
        return
    yield section
    if below and section.startswith(_NUMBERED):
        ##= man/spec/gates.md#not-applicable
        ##% A numbered section of IETF text MUST stand for the requirements of the sections below it, too.
        # No id of a section of Markdown has a dot in it.
        yield from (id for id in card.titles if id.startswith(f"{section}."))


class NoSectionError(NotFoundError):
    """A section is not there, and none is called like it; a list of all of them helps."""

    def __init__(self, message: str, specification: str) -> None:
        super().__init__(message, hint=f"`duvet show {specification or 'SPEC'}` lists the sections")
        self.specification = specification
        """The id of the one that was looked into; nothing where these were several."""


def no_section(cards: Iterable[SpecificationCard], name: str) -> NotFoundError:
    """The error about a section that none of the specifications has."""
    from duvet.specs.sections import SectionNames

    looked = list(cards)
    alone = looked[0] if len(looked) == 1 else None
    where = f" in {alone.locator}" if alone else ""
    near = SectionNames(*looked).nearest(name.removeprefix("#"))
    message = f"there is no section {quoted(name)}{where}"
    if near:
        return NotFoundError(message, hint=f"did you mean {' or '.join(near)}?")
    return NoSectionError(message, alone.id if alone else "")


def nearest_hint(wanted: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """A question that names what is most like the wanted one; nothing where nothing is.

    In a mapping stands how each of the known is called in full.
    """
    from rapidfuzz import fuzz, process

    names = known if isinstance(known, Mapping) else {name: name for name in known}
    hits = process.extract(
        wanted.lower(), list(names), scorer=fuzz.ratio, processor=str.lower, limit=_MOST, score_cutoff=_LIKENESS
    )
    near = dict.fromkeys(names[name] for name, _, _ in hits)
    return f"did you mean {' or '.join(near)}?" if hits else ""


def known_ids(catalogue: Catalogue) -> str:
    """The ids of the specifications, for a hint."""
    ids = [card.id for card in catalogue.specifications]
    more = f" and {len(ids) - _SOME} more" if len(ids) > _SOME else ""
    return f"there are {', '.join(ids[:_SOME])}{more}" if ids else "the project has no specifications"


def plain(name: str) -> str:
    """One spelling: that of a URL without its scheme and its extension, that of a path without a leading `./`."""
    folded = name.strip().removeprefix("./").casefold()
    web = _WEB.match(folded)
    return _EXTENSION.sub("", folded[web.end() :], count=1) if web else folded
