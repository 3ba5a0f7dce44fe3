"""Finds specifications and sections by name, in any spelling, and the annotations of a line of code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import DuvetError, NoSectionError, NotFoundError
from duvet.model import BREADCRUMB_SIGN
from duvet.specs.section_names import SectionNames, find_section_indexes, make_anchor, normalise_name
from duvet.text import find_line_index, join_names, line_starts, quote_text, suggest_nearest, trim
from duvet.tree.files import Tree

if TYPE_CHECKING:
    from duvet.trace.catalogue import Catalogue, SpecificationCard


class SourceText(Struct, frozen=True):
    lines: tuple[str, ...]
    starts: tuple[int, ...]

    def is_blank(self, number: int) -> bool:
        return not 0 < number <= len(self.lines) or not trim(self.lines[number - 1])

    def has_code(self, number: int) -> bool:
        return any(char.isalnum() for char in self.lines[number - 1])


def split_source_text(written: str) -> SourceText:
    lines = written.split("\n")
    if lines[-1] == "":
        lines.pop()
    return SourceText(tuple(line.removesuffix("\r") for line in lines), tuple(line_starts(written)))


def find_last_line(text: SourceText, first: int, end: int = 0) -> int:
    """Return the last line of the annotation that starts on line `first`; its text ends at offset `end`, if given."""
    last = first
    if text.is_blank(last) or not text.lines[last - 1].startswith("[["):
        return max(last, find_line_index(text.starts, end - 1) + 1 if end else 0)
    # An entry of a requirement file ends at a blank line or the next table, except inside a string.
    is_within = False
    while last < len(text.lines) and (is_within or not (text.is_blank(last + 1) or text.lines[last].startswith("["))):
        is_within ^= sum(map(text.lines[last].count, ("'''", '"""'))) % 2 == 1
        last += 1
    return last


def read_comment(text: SourceText, first: int, end: int) -> str:
    return "\n".join(trim(line) for line in text.lines[first - 1 : find_last_line(text, first, end)])


_PLACE = r"(?s)(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?:?\Z"
_REFERENCE = r"\S+(?:#\S+|:\d+)\Z|[0-9a-fA-F]{12,64}\Z"
_NEAR = 3


class ProjectFiles(Struct, frozen=True):
    tree: Tree
    root: str  # The folder that paths start at.

    def has(self, path: str) -> bool:
        return self.tree.is_file(path)

    def text(self, path: str) -> SourceText:
        try:
            return split_source_text(self.tree.read(path).decode(errors="replace"))
        except DuvetError:
            return split_source_text("")


class FileLine(Struct, frozen=True):
    path: str
    line: int


class AnnotationLines(Struct, frozen=True):
    number: int
    first: int
    last: int


def is_reference(query: str) -> bool:
    """Return True if a query can only be a reference, so that searching for its words makes no sense."""
    return re.match(_REFERENCE, query.strip()) is not None


def parse_file_line(reference: str) -> FileLine | None:
    found = re.match(_PLACE, reference)
    return FileLine(found["path"], int(found["line"])) if found else None


def list_possible_paths(path: str, root: str = "") -> tuple[str, ...]:
    plain = [posixpath.normpath(path), posixpath.normpath(path.replace("\\", "/"))]
    below = [one.removeprefix(f"{root.rstrip('/')}/") for one in plain] if root else []
    return tuple(dict.fromkeys([*plain, *below]))


def list_citation_spellings(id: str) -> list[str]:
    place = parse_file_line(id)
    return [id, *(f"{path}:{place.line}" for path in list_possible_paths(place.path))] if place else [id]


def find_annotations_in_file(catalogue: Catalogue, paths: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted({number for path in paths for number in catalogue.cited_in.get(path, ())}))


def find_annotation_lines(catalogue: Catalogue, numbers: Iterable[int], text: SourceText) -> list[AnnotationLines]:
    cards = sorted([(catalogue.citations[number].line, number) for number in numbers])
    ends = [find_last_line(text, line, catalogue.citations[number].span[1]) for line, number in cards]
    return [AnnotationLines(number, line, end) for (line, number), end in zip(cards, ends, strict=True)]


def find_covering_annotations(found: Sequence[AnnotationLines], text: SourceText, line: int) -> tuple[int, ...]:
    ##= man/spec/show.md#references
    ##% duvet MUST resolve a line of code to the annotations directly above it.
    if own := tuple(one.number for one in found if one.first <= line <= one.last):
        return own
    reached: list[int] = []
    below = line + 1
    for one in sorted(found, key=lambda one: one.last, reverse=True):
        if one.last > line:
            continue
        between = range(one.last + 1, below)
        if any(map(text.is_blank, between)) or (reached and any(map(text.has_code, between))):
            break
        reached.append(one.number)
        below = one.first
    return tuple(reversed(reached))


def find_nearest_lines(lines: Iterable[int], line: int) -> list[int]:
    return sorted(sorted(set(lines), key=lambda one: abs(one - line))[:_NEAR])


_SOME = 20
_BREADCRUMB = rf"{BREADCRUMB_SIGN}|/"
_NEVER = 9  # Greater than the rank of any name.


def find_specifications(catalogue: Catalogue, name: str) -> list[int]:
    ##= man/spec/show.md#references
    ##% If a reference is the exact name of a specification, section or file, duvet MUST NOT read it as anything else.
    written, normal = name.strip(), normalise_name(name)
    best, found = _NEVER, list[int]()
    for index, card in enumerate(catalogue.specifications):
        rank = min(card.names.get(written, _NEVER), card.names.get(normal, _NEVER))
        if rank < best:
            best, found = rank, [index]
        elif rank == best < _NEVER:
            found.append(index)
    if found:
        return found
    if "://" not in name:
        return []
    last = normal.rpartition("/")[2]
    return [index for index, card in enumerate(catalogue.specifications) if last == card.id]


def list_specification_names(catalogue: Catalogue) -> dict[str, str]:
    configured = [card for card in catalogue.specifications if card.is_configured]
    return {
        name: card.id for card in configured or catalogue.specifications for name in (card.id, card.name, card.locator)
    }


def match_sections(card: SpecificationCard, name: str) -> tuple[str, ...]:
    name = name.removeprefix("#")
    found = find_section_indexes(card, name, has_prefixes=True)
    if not found and re.search(_BREADCRUMB, name):
        path = "/".join(map(make_anchor, re.split(_BREADCRUMB, name)))
        found = find_section_indexes(card, path, has_prefixes=True)
    if found:
        return tuple([card.sections[index].id for index in found])
    titled = card.sections_by_title.get(name.casefold(), ()) if name else ()
    # Without paths, only the first section with a title can be named by it.
    return titled if any(section.anchors for section in card.sections) else titled[:1]


def find_section(card: SpecificationCard, name: str) -> str | None:
    found = match_sections(card, name)
    if len(found) > 1:
        message, hint = describe_ambiguous_section(card, name, found)
        raise NotFoundError(message, hint=hint)
    return found[0] if found else None


def describe_ambiguous_section(card: SpecificationCard, name: str, ids: Iterable[str]) -> tuple[str, str]:
    names = [f"#{card.section_names[id]}" for id in ids]
    message = f"{quote_text(name.removeprefix('#'))} names {len(names)} sections of {card.locator}"
    return message, f"use one of these: {join_names(names, _SOME)}"


def find_section_by_title_id(card: SpecificationCard, name: str) -> str | None:
    index = card.title_ids.get(name, card.title_ids.get(name.casefold()))
    return None if index is None else card.sections[index].id


def list_section_tree(card: SpecificationCard, section: str, *, below: bool = True) -> Iterator[str]:
    yield section
    if below and section.startswith(("section-", "appendix-")):
        # The ids of Markdown sections contain no dot.
        yield from (id for id in card.titles if id.startswith(f"{section}."))


def find_requirements_in(
    catalogue: Catalogue, section: str, specifications: Collection[int], *, below: bool = True
) -> list[int]:
    """`section` may be the id of a requirement."""
    cards = [(index, catalogue.specifications[index]) for index in specifications]
    ##= man/spec/queries.md#filters
    ##% A filter for a section of an IETF document MUST include its subsections.
    spots = [
        (index, id)
        for index, card in cards
        if (found := find_section(card, section)) is not None
        for id in list_section_tree(card, found, below=below)
    ]
    if not spots:
        if named := catalogue.find_named(section, specifications):
            return list(named)
        spots = [(index, id) for index, card in cards if (id := find_section_by_title_id(card, section))]
    if not spots:
        raise make_section_error(catalogue, section, specifications)
    return sorted({index for spot in spots for index in catalogue.stated.get(spot, ())})


def make_section_error(catalogue: Catalogue, name: str, specifications: Collection[int]) -> NotFoundError:
    cards = [catalogue.specifications[index] for index in specifications]
    alone = cards[0] if len(cards) == 1 else None
    names = {one.name: None for one in catalogue.requirements if one.name and one.specification in specifications}
    sections = (section for card in cards for section in card.sections)
    near = SectionNames(sections, names).find_nearest(name.removeprefix("#"))
    message = f"unknown section {quote_text(name)}" + (f" of {alone.locator}" if alone else "")
    if near:
        return NotFoundError(message, hint=f"did you mean {' or '.join(near)}?")
    return NoSectionError(message, alone.id if alone else "")


def list_known_ids(catalogue: Catalogue) -> str:
    ids = [card.id for card in catalogue.specifications]
    return f"available: {join_names(ids, _SOME)}" if ids else "the project has no specifications"


_RESOURCE = (
    r"(?s)(?:duvet://)?/specifications(?:/(?P<specification>[^/]+)"
    r"(?:(?P<sections>/sections)(?:/(?P<section>.*?)"
    r"(?:(?P<requirements>/requirements)(?:/(?P<id>[^/]+)"
    r"(?:(?P<citations>/citations)(?:/(?P<citation>.+))?)?)?)?)?)?)?/?\Z"
)


class ResourcePath(Struct, frozen=True):
    specification: str | None = None
    section: str | None = None
    id: str | None = None
    citation: str | None = None
    is_collection: bool = False  # Whether it names everything below the last part.


def parse_resource(path: str, *, is_encoded: bool = True) -> ResourcePath | None:
    found = re.match(_RESOURCE, path)
    if found is None:
        return None
    groups = found.groupdict()
    names = {name: groups[name] for name in ("specification", "section", "id", "citation")}
    collections = (None, groups["sections"], groups["requirements"], groups["citations"])
    deepest = sum(name is not None for name in names.values())
    is_collection = deepest == 0 or (deepest < len(collections) and collections[deepest] is not None)

    parts = {name: value and _unquote(value) if is_encoded else value for name, value in names.items()}
    return ResourcePath(**parts, is_collection=is_collection)


def _unquote(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)


_RFC = (
    r"(?i)(?:(?:https?://)?[^/]*\b(?:rfc-editor|ietf)\.org(?::\d+)?/(?:\S*/)?|urn:ietf:|doi:10\.17487/)?"
    r"rfc[ :_-]?0*(?P<number>\d{1,6})(?:\.(?:txt|html?|pdf|xml|json))*\Z"
)
_FILE = "file://"


def match_specifications(catalogue: Catalogue, text: str, root: str = "", *, is_whole: bool = False) -> list[int]:
    name = text.strip()
    if found := find_specifications(catalogue, name):
        return found
    resource = parse_resource(name)
    if is_whole and (resource is not None or "#" in name):
        return []
    if resource and resource.specification:
        return find_specifications(catalogue, resource.specification)
    bare = re.split(r"[?#]", name, maxsplit=1)[0].rstrip("/")
    spellings = [bare]
    if rfc := re.match(_RFC, bare):
        spellings += [f"rfc{rfc['number']}", f"RFC {rfc['number']}"]
    path = _unquote(bare.removeprefix(_FILE)) if bare.startswith(_FILE) else bare
    if "://" not in path:
        spellings += list_possible_paths(path, root)
    return next(filter(None, (find_specifications(catalogue, one) for one in dict.fromkeys(spellings))), [])


def require_specification(catalogue: Catalogue, name: str) -> list[int]:
    found = match_specifications(catalogue, name)
    if not found:
        hint = suggest_nearest(name, list_specification_names(catalogue))
        raise NotFoundError(f"unknown specification {quote_text(name)}", hint=hint or list_known_ids(catalogue))
    return found
