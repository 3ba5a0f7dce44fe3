"""Finds specifications and sections by any spelling of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.specs.locator import SectionNames
from duvet.text import quote_text
from duvet.trace.locations import list_possible_paths

if TYPE_CHECKING:
    from duvet.trace.catalogue import Catalogue, SpecificationCard

_MOST = 3
_LIKENESS = 60
_SOME = 20
_WEB = re.compile(r"https?://(?:www\.)?")
_EXTENSION = re.compile(r"(?:\.(?:txt|html?))?/?\Z")
_PREFIX = re.compile(r"(?:section-)?(?:appendix-)?")
_NUMBERED = ("section-", "appendix-")
_NEVER = 9
"""Greater than the rank of any name."""


def find_specifications(catalogue: Catalogue, name: str) -> list[int]:
    """The indexes of the specifications with that id, name, URL or path; for another URL, by its last part."""
    ##= man/spec/show.md#references
    ##% duvet MUST prefer an exact name of a specification, section or file to an id or to another spelling of a name.
    written, normal = name.strip(), normalise_name(name)
    ranks = {
        index: min(card.names.get(one, _NEVER) for one in (written, normal))
        for index, card in enumerate(catalogue.specifications)
    }
    best = min(ranks.values(), default=_NEVER)
    if best < _NEVER:
        return [index for index, rank in ranks.items() if rank == best]
    if "://" not in name:
        return []
    last = normal.rpartition("/")[2]
    return [index for index, card in enumerate(catalogue.specifications) if last == card.id]


def list_specification_names(catalogue: Catalogue) -> dict[str, str]:
    """All names of specifications with their ids."""
    return {name: card.id for card in catalogue.specifications for name in (card.id, card.name, card.locator)}


def find_section(card: SpecificationCard, name: str) -> str | None:
    """The id of the section with that id, number or title."""
    name = name.removeprefix("#")
    bare = _PREFIX.sub("", name, count=1)
    for id in (name, f"section-{bare}", f"appendix-{bare}"):
        if id in card.titles:
            return id
    return card.titled.get(name.casefold()) if name else None


def find_sections(card: SpecificationCard, name: str, *, below: bool = True) -> Iterator[str]:
    """The same, and the ids of the sections below it if they are numbered."""
    section = find_section(card, name)
    if section is None:
        return
    yield section
    if below and section.startswith(_NUMBERED):
        ##= man/spec/gates.md#not-applicable
        ##% An entry MUST apply to all requirements of its specification, to those of its section with the subsections
        ##% of IETF text, or to the one that it quotes.
        # The ids of Markdown sections contain no dot.
        yield from (id for id in card.titles if id.startswith(f"{section}."))


class NoSectionError(NotFoundError):
    """A section does not exist, and no section has a similar name; a list of all sections helps."""

    def __init__(self, message: str, specification: str) -> None:
        super().__init__(message, hint=f"`duvet show {specification or 'SPEC'}` lists the sections")
        self.specification = specification
        """The id of the specification; empty for several."""


def make_section_error(cards: Iterable[SpecificationCard], name: str) -> NotFoundError:
    """The error about a section that none of the specifications has."""
    looked = list(cards)
    alone = looked[0] if len(looked) == 1 else None
    where = f" in {alone.locator}" if alone else ""
    near = SectionNames(section for card in looked for section in card.sections).nearest(name.removeprefix("#"))
    message = f"there is no section {quote_text(name)}{where}"
    if near:
        return NotFoundError(message, hint=f"did you mean {' or '.join(near)}?")
    return NoSectionError(message, alone.id if alone else "")


def suggest_nearest(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """A question with the most similar names, or an empty text.

    The values of a mapping are the names to show.
    """
    from rapidfuzz import fuzz, process

    names = known if isinstance(known, Mapping) else {one: one for one in known}
    hits = process.extract(
        name.lower(), list(names), scorer=fuzz.ratio, processor=str.lower, limit=_MOST, score_cutoff=_LIKENESS
    )
    near = dict.fromkeys(names[hit] for hit, _, _ in hits)
    return f"did you mean {' or '.join(near)}?" if hits else ""


def list_known_ids(catalogue: Catalogue) -> str:
    ids = [card.id for card in catalogue.specifications]
    more = f" and {len(ids) - _SOME} more" if len(ids) > _SOME else ""
    return f"there are {', '.join(ids[:_SOME])}{more}" if ids else "the project has no specifications"


def normalise_name(name: str) -> str:
    """A URL without scheme and extension, or a path without a leading `./`, in lower case."""
    folded = name.strip().removeprefix("./").casefold()
    web = _WEB.match(folded)
    return _EXTENSION.sub("", folded[web.end() :], count=1) if web else folded


RESOURCE_SCHEME = "duvet://"

_RESOURCE = re.compile(
    r"(?:duvet://)?/specifications(?:/(?P<specification>[^/]+)"
    r"(?:(?P<sections>/sections)(?:/(?P<section>.*?)"
    r"(?:(?P<requirements>/requirements)(?:/(?P<id>[^/]+)"
    r"(?:(?P<citations>/citations)(?:/(?P<citation>.+))?)?)?)?)?)?)?/?\Z",
    re.DOTALL,
)


class ResourcePath(Struct, frozen=True):
    """The parts of a resource path; missing ones are None."""

    specification: str | None = None
    section: str | None = None
    id: str | None = None
    citation: str | None = None
    is_collection: bool = False
    """Whether it names everything below the last part."""


def parse_resource(path: str, *, is_encoded: bool = True) -> ResourcePath | None:
    """Parse a resource path or URI; None for other text."""
    found = _RESOURCE.match(path)
    if found is None:
        return None
    groups = found.groupdict()
    names = {name: groups[name] for name in ("specification", "section", "id", "citation")}
    collections = (None, groups["sections"], groups["requirements"], groups["citations"])
    deepest = sum(name is not None for name in names.values())
    is_collection = deepest == 0 or (deepest < len(collections) and collections[deepest] is not None)
    from urllib.parse import unquote

    parts = {name: value and unquote(value) if is_encoded else value for name, value in names.items()}
    return ResourcePath(**parts, is_collection=is_collection)


_RFC = re.compile(
    r"(?:(?:https?://)?[^/]*\b(?:rfc-editor|ietf)\.org(?::\d+)?/(?:\S*/)?|urn:ietf:|doi:10\.17487/)?"
    r"rfc[ :_-]?0*(?P<number>\d{1,6})(?:\.(?:txt|html?|pdf|xml|json))*\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"[?#]")
_FILE = "file://"


def match_specifications(catalogue: Catalogue, text: str, root: str = "") -> list[int]:
    """The indexes of the specifications with any spelling of this name, also as part of a longer path."""
    for name in _spellings(text.strip(), root):
        found = find_specifications(catalogue, name)
        if found:
            return found
    return []


def match_whole_specifications(catalogue: Catalogue, text: str, root: str = "") -> list[int]:
    """The same for a text that may name something else: the name of a part doesn't count."""
    found = find_specifications(catalogue, text)
    is_part = "#" in text or parse_resource(text.strip()) is not None
    return found or ([] if is_part else match_specifications(catalogue, text, root))


def require_specification(catalogue: Catalogue, name: str, root: str = "") -> list[int]:
    """The indexes of the specifications of that name; NotFoundError with the nearest ids if there are none."""
    ##= man/spec/queries.md#filters
    ##% duvet MUST recognise a specification by every spelling of its URL, as a URN, and by the path of its resource.
    found = match_specifications(catalogue, name, root)
    if not found:
        hint = suggest_nearest(name, list_specification_names(catalogue))
        raise NotFoundError(f"there is no specification {quote_text(name)}", hint=hint or list_known_ids(catalogue))
    return found


def _spellings(text: str, root: str) -> Iterator[str]:
    """The names that the project may use, the likeliest first."""
    resource = parse_resource(text)
    if resource and resource.specification:
        yield resource.specification
        return
    yield text
    ##= man/spec/mcp.md#tools
    ##% `resolve_spec_id` MUST resolve every spelling of an RFC's URL to the same specification, and answer for an
    ##% unknown URL with an `error` and the nearest names.
    bare = _BEHIND.split(text, maxsplit=1)[0].rstrip("/")
    yield bare
    rfc = _RFC.match(bare)
    if rfc:
        yield f"rfc{rfc['number']}"
        yield f"RFC {rfc['number']}"
    from urllib.parse import unquote

    path = unquote(bare.removeprefix(_FILE)) if bare.startswith(_FILE) else bare
    if "://" not in path:
        yield from list_possible_paths(path, root)
