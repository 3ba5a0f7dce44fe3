"""Resolves what a user names: an id, a path, `file:line`, or a specification and section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.text import quote_text, shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, CitationCard
from duvet.trace.locations import (
    FileLine,
    ProjectFiles,
    find_annotation_lines,
    find_annotations_in_file,
    find_covering_annotations,
    find_nearest_lines,
    list_citation_spellings,
    list_possible_paths,
    parse_file_line,
)
from duvet.trace.names import (
    ResourcePath,
    find_section,
    list_specification_names,
    make_section_error,
    match_whole_specifications,
    parse_resource,
    require_specification,
    suggest_nearest,
)

_LIKE_ID = re.compile(r"(?=.*\d)[0-9a-zA-Z]{4,64}\Z")


def make_unknown_reference_error(catalogue: Catalogue, wanted: str, files: ProjectFiles | None) -> NotFoundError:
    """The error that says what is like it."""
    place = parse_file_line(wanted)
    path = place.path if place else wanted
    if files and any(map(files.has, list_possible_paths(path, files.root))):
        return NotFoundError(f"there is no annotation in {quote_text(path)}")
    # Words are like some of thousands of ids by chance.
    ids = {id[: len(path)]: id[:SHORT_ID_DIGITS] for id in catalogue.ids} if _LIKE_ID.match(path) else {}
    paths = {card.path: card.path for card in catalogue.citations}
    hint = suggest_nearest(path, ids | list_specification_names(catalogue) | paths)
    return NotFoundError(
        f"nothing is called {quote_text(wanted)}",
        hint=hint or "give the beginning of an id, spec#section, a specification, file:line or a file",
    )


_SHORTEST = 4
_ID = re.compile(r"[0-9a-fA-F]{1,64}\Z")
_SHOWN_CANDIDATES = 10
_RENAMED = "an id is that of its words, and another when these change: search for them"


class RequirementRef(Struct, frozen=True):
    """One requirement, in every place where its sentence stands."""

    indexes: tuple[int, ...]


class SectionRef(Struct, frozen=True):
    """A section of a specification."""

    specification: int
    section: str


class SpecRef(Struct, frozen=True):
    """A specification."""

    specification: int


class CitationRef(Struct, frozen=True):
    """The annotations at a line of a file."""

    indexes: tuple[int, ...]


class FileRef(Struct, frozen=True):
    """All annotations in a file."""

    path: str
    indexes: tuple[int, ...]


ResolvedReference = RequirementRef | SectionRef | SpecRef | CitationRef | FileRef


def resolve_reference(catalogue: Catalogue, reference: str, files: ProjectFiles | None = None) -> ResolvedReference:
    """What a reference means; NotFoundError with what is near where it means nothing or too much.

    References are the beginning of an id, a path of a resource, `spec#section`, a specification, `file:line`, a file.
    With the files, absolute paths are known, and lines of code that belong to an annotation.
    """
    ##= man/spec/show.md#references
    ##% duvet MUST prefer an exact name of a specification, section or file to an id or to another spelling of a name.
    wanted = reference.strip()
    resource = parse_resource(wanted)
    if resource is not None and not resource.is_collection:
        return resolve_resource(catalogue, resource)
    found = _specification(catalogue, wanted) or resolve_place(catalogue, wanted, files) or _target(catalogue, wanted)
    if found is not None:
        return found
    if _ID.match(wanted):
        return RequirementRef(find_requirements_by_id(catalogue, wanted))
    raise make_unknown_reference_error(catalogue, wanted, files)


def find_requirements_by_id(catalogue: Catalogue, digits: str) -> tuple[int, ...]:
    """Every place of the one requirement whose id begins so."""
    ##= man/spec/show.md#references
    ##% duvet MUST accept any unambiguous prefix of an id with four or more digits.
    wanted = digits.lower()
    if len(wanted) < _SHORTEST:
        raise NotFoundError(f"{quote_text(digits)} is too short for an id", hint=f"give at least {_SHORTEST} digits")
    found = [index for index, id in enumerate(catalogue.ids) if id.startswith(wanted)]
    ids = dict.fromkeys(catalogue.ids[index] for index in found)
    if not found:
        near = suggest_nearest(wanted, {id[: len(wanted)]: id[:SHORT_ID_DIGITS] for id in catalogue.ids})
        raise NotFoundError(f"there is no requirement {quote_text(digits)}", hint=near or _RENAMED)
    if len(ids) > 1:
        raise _ambiguous(catalogue, digits, found)
    return tuple(found)


def _ambiguous(catalogue: Catalogue, wanted: str, indexes: list[int]) -> NotFoundError:
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list all matches of an ambiguous reference, and similar names for an unknown one.
    found = {catalogue.ids[index]: index for index in indexes}
    lines = [
        f"{id[:SHORT_ID_DIGITS]}  {shorten_text(catalogue.requirements[index].text)}" for id, index in found.items()
    ]
    return NotFoundError(
        f"{quote_text(wanted)} could mean {len(found)} requirements", hint=_listed("give one of these ids:", lines)
    )


def _listed(intro: str, lines: list[str]) -> str:
    more = [f"and {len(lines) - _SHOWN_CANDIDATES} more"] if len(lines) > _SHOWN_CANDIDATES else []
    return "\n".join([intro, *lines[:_SHOWN_CANDIDATES], *more])


def resolve_resource(catalogue: Catalogue, resource: ResourcePath) -> ResolvedReference:
    """What the names in a path of a resource mean; NotFoundError with what is near where they mean nothing."""
    (specification, *_) = require_specification(catalogue, resource.specification or "")
    if resource.section is None:
        return SpecRef(specification)
    spot = _section(catalogue, specification, resource.section)
    if resource.id is None:
        return spot
    places = find_requirements_by_id(catalogue, resource.id)
    indexes = tuple(index for index in places if _spot_of(catalogue, index) == spot)
    if not indexes:
        paths = [catalogue.full_path_of(catalogue.requirements[index]) for index in places]
        message = f"there is no requirement {quote_text(resource.id)} in {quote_text(spot.section)}"
        raise NotFoundError(message, hint=_listed("it stands at", paths) if len(paths) > 1 else f"it is {paths[0]}")
    if resource.citation is None:
        return RequirementRef(indexes)
    cited = {number for index in indexes for number in catalogue.requirements[index].citations}
    ids = list_citation_spellings(resource.citation)
    numbers = tuple(number for number in sorted(cited) if catalogue.citations[number].id in ids)
    if not numbers:
        known = ", ".join(catalogue.citations[number].id for number in sorted(cited)[:_SHOWN_CANDIDATES])
        hint = f"it is cited at {known}" if known else "nothing cites it"
        raise NotFoundError(f"there is no citation {quote_text(resource.citation)} of that requirement", hint=hint)
    return CitationRef(numbers)


def _spot_of(catalogue: Catalogue, index: int) -> SectionRef:
    card = catalogue.requirements[index]
    return SectionRef(card.specification, card.section)


def _section(catalogue: Catalogue, specification: int, name: str) -> SectionRef:
    card = catalogue.specifications[specification]
    id = find_section(card, name)
    if id is None:
        raise make_section_error([card], name)
    return SectionRef(specification, id)


def _specification(catalogue: Catalogue, wanted: str) -> SpecRef | None:
    found = match_whole_specifications(catalogue, wanted)
    return SpecRef(found[0]) if found else None


def _target(catalogue: Catalogue, wanted: str) -> SectionRef | None:
    """The section of a target, or the one section of all specifications that is called so."""
    spec, hash_sign, section = wanted.partition("#")
    if spec and hash_sign:
        (specification, *_) = require_specification(catalogue, spec)
        return _section(catalogue, specification, section)
    named = [(index, find_section(card, wanted)) for index, card in enumerate(catalogue.specifications)]
    spots = [SectionRef(index, id) for index, id in named if id is not None]
    if len(spots) > 1 and not any(id.startswith(wanted.lower()) for id in catalogue.ids):
        targets = [f"{catalogue.specifications[spot.specification].id}#{spot.section}" for spot in spots]
        raise NotFoundError(
            f"{quote_text(wanted)} could mean {len(targets)} sections", hint=_listed("give one of these:", targets)
        )
    return spots[0] if len(spots) == 1 else None


def resolve_place(catalogue: Catalogue, wanted: str, files: ProjectFiles | None = None) -> ResolvedReference | None:
    """What stands in a file or at a line of it; NotFoundError where nothing stands at a line of a file that is known."""
    root = files.root if files else ""
    paths = list_possible_paths(wanted, root)
    inside = find_annotations_in_file(catalogue, paths)
    if inside:
        return FileRef(catalogue.citations[inside[0]].path, inside)
    place = parse_file_line(wanted)
    if place is None:
        return None
    paths = list_possible_paths(place.path, root)
    return _at_line(catalogue, paths, place.line, files) or _in_specification(catalogue, paths, place)


def _at_line(catalogue: Catalogue, paths: tuple[str, ...], line: int, files: ProjectFiles | None) -> CitationRef | None:
    inside = find_annotations_in_file(catalogue, paths)
    if not inside:
        return None
    if files is None:
        # Without a text, what begins last has to do.
        last = max([card.line for card in _cards(catalogue, inside) if card.line <= line], default=0)
        numbers = tuple(number for number in inside if catalogue.citations[number].line == last)
    else:
        text = files.text(catalogue.citations[inside[0]].path)
        numbers = find_covering_annotations(find_annotation_lines(catalogue, inside, text), text, line)
    if numbers:
        return CitationRef(numbers)
    ##= man/spec/show.md#references
    ##% For a line without an annotation, duvet MUST name the nearest annotations in its file.
    path = catalogue.citations[inside[0]].path
    near = find_nearest_lines([card.line for card in _cards(catalogue, inside)], line)
    raise NotFoundError(f"no annotation belongs to {path}:{line}", hint=_near(path, near))


def _cards(catalogue: Catalogue, numbers: Iterable[int]) -> Iterator[CitationCard]:
    return (catalogue.citations[number] for number in numbers)


def _near(path: str, lines: Iterable[int]) -> str:
    return f"near are {', '.join(f'{path}:{line}' for line in lines)}"


def _in_specification(catalogue: Catalogue, paths: tuple[str, ...], place: FileLine) -> RequirementRef | None:
    """The requirement that begins on that line of a specification."""
    inside = [
        index for index, card in enumerate(catalogue.requirements) if catalogue.specification_of(card).path in paths
    ]
    if not inside:
        return None
    ##= man/spec/show.md#references
    ##% duvet MUST read a line of code as the annotations right above it, and a line of a specification as the
    ##% requirement that begins there.
    found = [index for index in inside if catalogue.requirements[index].line == place.line]
    path = catalogue.specification_of(catalogue.requirements[inside[0]]).path
    if not found:
        near = find_nearest_lines([catalogue.requirements[index].line for index in inside], place.line)
        raise NotFoundError(f"no requirement begins at {path}:{place.line}", hint=_near(path, near))
    if len({catalogue.ids[index] for index in found}) > 1:
        raise _ambiguous(catalogue, f"{path}:{place.line}", found)
    return RequirementRef(tuple(found))


class CitableText(Struct, frozen=True):
    """A target, and the words to quote; none where the title of a section is meant."""

    target: str
    quote: str


def find_citable(catalogue: Catalogue, found: ResolvedReference, part: str | None = None) -> CitableText:
    """What is to be cited; NotFoundError where that is nothing, or not only one thing."""
    match found:
        case SectionRef(specification, section):
            if part is not None:
                raise NotFoundError("a title has no parts", hint="give the requirement that the words stand in")
            return CitableText(f"{catalogue.specifications[specification].locator}#{section}", "")
        case RequirementRef(indexes):
            return _requirement(catalogue, indexes, part)
        case CitationRef(numbers):
            cited = {index for number in numbers for index in catalogue.citations[number].requirements}
            return _requirement(catalogue, sorted(cited), part)
    raise NotFoundError("only requirements and titles of sections can be cited", hint="give an id, or spec#section")


def _requirement(catalogue: Catalogue, indexes: Sequence[int], part: str | None) -> CitableText:
    if len(indexes) != 1:
        raise _not_one(catalogue, indexes)
    card = catalogue.requirements[indexes[0]]
    quote = card.text if part is None else " ".join(part.split())
    if not quote or quote not in card.text:
        raise NotFoundError(f"{quote_text(quote)} is no part of the requirement", hint=f"it reads: {card.text}")
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST wrap the citation at the requested width, and quote the whole requirement, only the words of
    ##% `--part`, or nothing for a section.
    return CitableText(catalogue.target_of(card), quote)


def _not_one(catalogue: Catalogue, indexes: Iterable[int]) -> NotFoundError:
    """The error about a requirement in several places, or about several requirements."""
    cards = [catalogue.requirements[index] for index in indexes]
    if not cards:
        return NotFoundError("no requirement is cited there", hint="give an id, or spec#section")
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse the id of a requirement that occurs in several places, and list these places.
    ids = {card.id for card in cards}
    message = f"{len(ids)} requirements are cited there"
    if len(ids) == 1:
        message = f"{cards[0].id[:SHORT_ID_DIGITS]} stands in {len(cards)} places"
    lines = [f"{catalogue.full_path_of(card)}  {shorten_text(card.text, 60)}" for card in cards]
    return NotFoundError(message, hint="\n".join(["give the path of one:", *lines]))
