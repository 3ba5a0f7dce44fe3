"""Resolves references: ids, paths, `file:line`, specifications and sections."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.text import make_text_id, normalise, quote_text, shorten_text, suggest_nearest
from duvet.trace import locations
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue

_LIKE_ID = r"(?=.*\d)[0-9a-zA-Z]{4,64}\Z"
_ID = r"[0-9a-fA-F]{1,64}\Z"
_WORD = r"[^\W\d_]{3,}"
_SIMILARITY = 0.75  # Minimum similarity of a suggested word.
_MIN_DIGITS = 4
_MAX_CANDIDATES = 10
_RENAMED = "requirement ids change when the text changes; try `duvet search`"


class Usage(StrEnum):
    ANY = "use a specification, SPEC#SECTION, a file, FILE:LINE or the first digits of an id"
    CITABLE = "give a requirement id or SPEC#SECTION; `duvet search` finds ids"
    REQUIREMENT = "use the id, name or resource path of a requirement"
    SECTION = "use SPEC#SECTION, or the resource path of a section"


class RequirementRef(Struct, frozen=True):
    indexes: tuple[int, ...]


class SectionRef(Struct, frozen=True):
    specification: int
    section: str


class SpecRef(Struct, frozen=True):
    specification: int


class CitationRef(Struct, frozen=True):
    indexes: tuple[int, ...]


class FileRef(Struct, frozen=True):
    path: str
    indexes: tuple[int, ...]


ResolvedReference = RequirementRef | SectionRef | SpecRef | CitationRef | FileRef


def resolve_reference(
    catalogue: Catalogue, reference: str, files: locations.ProjectFiles, usage: Usage = Usage.ANY
) -> ResolvedReference:
    name = reference.strip()
    if specifications := locations.match_specifications(catalogue, name, is_whole=True):
        return SpecRef(specifications[0])
    resource = locations.parse_resource(name)
    if resource is not None and not resource.is_collection:
        return resolve_resource(catalogue, resource, files)
    found = resolve_place(catalogue, name, files) or _resolve_target(catalogue, name, usage)
    found = found or find_by_name(catalogue, name)
    if found is not None:
        return found
    if re.match(_ID, name):
        return RequirementRef(find_requirements_by_id(catalogue, name, files))
    place = locations.parse_file_line(name)
    file_path = place.path if place else name
    if any(map(files.has, locations.list_possible_paths(file_path, files.root))):
        raise NotFoundError(f"no annotations in {quote_text(file_path)}")
    # Only for names that look like ids, because any word is similar to some of thousands of ids.
    ids = {id[: len(file_path)]: id[:SHORT_ID_DIGITS] for id in catalogue.ids} if re.match(_LIKE_ID, file_path) else {}
    known = {} if usage is Usage.SECTION else ids | {name: name for name in catalogue.named}
    if usage in (Usage.SECTION, Usage.CITABLE):
        known |= {one.name: f"{card.id}#{one.name}" for card in catalogue.specifications for one in card.sections}
    if usage is Usage.ANY:
        known |= locations.list_specification_names(catalogue) | {card.path: card.path for card in catalogue.citations}
    hint = suggest_nearest(file_path, known) or usage
    raise NotFoundError(f"nothing matches {quote_text(name)}", hint=hint)


def list_named(catalogue: Catalogue, name: str, files: locations.ProjectFiles) -> Iterator[ResolvedReference]:
    with suppress(NotFoundError):
        if re.match(_ID, name):
            yield RequirementRef(find_requirements_by_id(catalogue, name, files))
        elif found := resolve_place(catalogue, name, files):
            yield found
    # Only for these, because the suggestions in the error are slow.
    if "#" in name or "/specifications/" in name:
        with suppress(NotFoundError):
            yield resolve_reference(catalogue, name, files)


def find_by_name(
    catalogue: Catalogue, name: str, specifications: Collection[int] | None = None
) -> RequirementRef | SectionRef | None:
    ##= man/spec/names.md#references
    ##% duvet MUST accept a requirement id in upper or lower case, alone or as `SPEC#ID`, wherever duvet accepts the
    ##% id that it computes for a requirement.
    chosen = range(len(catalogue.specifications)) if specifications is None else specifications
    found = catalogue.find_named(name, chosen)
    cards = [catalogue.requirements[index] for index in found]
    if len({card.specification for card in cards}) > 1:
        targets = [f"{catalogue.specifications[card.specification].locator}#{card.name}" for card in cards]
        message = f"{quote_text(name)} is the id of requirements in {len(set(targets))} specifications"
        raise NotFoundError(message, hint=_list_candidates("use one of these:", list(dict.fromkeys(targets))))
    if len({catalogue.ids[index] for index in found}) > 1:
        (first, *_), sections = cards, {card.section for card in cards}
        title = catalogue.specifications[first.specification].titles.get(first.section, "")
        if len(sections) == 1 and first.name in title:
            return SectionRef(first.specification, first.section)
        raise _make_ambiguous_error(catalogue, name, found)
    if found:
        return RequirementRef(found)
    headed = [(index, catalogue.specifications[index]) for index in chosen]
    headings = [(i, card, id) for i, card in headed if (id := locations.find_section_by_title_id(card, name))]
    if len(headings) > 1:
        targets = [f"{card.locator}#{id}" for _, card, id in headings]
        message = f"{quote_text(name)} is the id of sections in {len(headings)} specifications"
        raise NotFoundError(message, hint=_list_candidates("use one of these:", targets))
    return SectionRef(headings[0][0], headings[0][2]) if headings else None


def find_requirements_by_id(catalogue: Catalogue, digits: str, files: locations.ProjectFiles) -> tuple[int, ...]:
    ##= man/spec/show.md#references
    ##% duvet MUST accept the first four or more digits of a requirement id if they are unambiguous.
    prefix = digits.lower()
    if len(prefix) < _MIN_DIGITS:
        raise NotFoundError(f"{quote_text(digits)} is too short for an id", hint=f"give at least {_MIN_DIGITS} digits")
    found = [index for index, id in enumerate(catalogue.ids) if id.startswith(prefix)]
    if not found and len(prefix) >= SHORT_ID_DIGITS:
        found = _find_by_earlier_id(catalogue, prefix, files)
    ids = dict.fromkeys(catalogue.ids[index] for index in found)
    if not found:
        near = suggest_nearest(prefix, {id[: len(prefix)]: id[:SHORT_ID_DIGITS] for id in catalogue.ids})
        raise NotFoundError(f"no requirement matches {quote_text(digits)}", hint=near or _RENAMED)
    if len(ids) > 1:
        raise _make_ambiguous_error(catalogue, digits, found)
    return tuple(found)


def _find_by_earlier_id(catalogue: Catalogue, prefix: str, files: locations.ProjectFiles) -> list[int]:
    ##= man/spec/show.md#references
    ##% For requirements with Markdown markup, duvet SHOULD also accept the ids that awslabs duvet computes.
    from duvet.specs.extraction import list_markup_texts

    found: dict[int, None] = {}
    for number, card in enumerate(catalogue.specifications):
        if card.form is None or not card.is_configured:
            continue
        texts = list_markup_texts(files.tree, card.path, card.locator)
        earlier = [normalise(plain) for text, plain in texts if make_text_id(text).startswith(prefix)]
        stated = enumerate(catalogue.requirements) if earlier else ()
        own = [(index, normalise(one.text)) for index, one in stated if one.specification == number]
        for words in earlier:
            same = [index for index, text in own if text == words]
            found |= dict.fromkeys(same or [index for index, text in own if text in words or words in text])
    return list(found)


def _make_ambiguous_error(catalogue: Catalogue, name: str, indexes: Iterable[int]) -> NotFoundError:
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list up to ten matches of an ambiguous reference, and suggest similar names for an unknown
    ##% one.
    found = {catalogue.ids[index]: index for index in indexes}
    lines = [
        f"{id[:SHORT_ID_DIGITS]}  {shorten_text(catalogue.requirements[index].text)}" for id, index in found.items()
    ]
    return NotFoundError(
        f"{quote_text(name)} matches {len(found)} requirements", hint=_list_candidates("use one of these ids:", lines)
    )


def _list_candidates(intro: str, lines: list[str]) -> str:
    more = [f"and {len(lines) - _MAX_CANDIDATES} more"] if len(lines) > _MAX_CANDIDATES else []
    return "\n".join([intro, *lines[:_MAX_CANDIDATES], *more])


def resolve_resource(
    catalogue: Catalogue, resource: locations.ResourcePath, files: locations.ProjectFiles
) -> ResolvedReference:
    (specification, *_) = locations.require_specification(catalogue, resource.specification or "")
    if resource.section is None:
        return SpecRef(specification)
    # Paths of resources contain ids.
    is_id = resource.section in catalogue.specifications[specification].titles
    section = SectionRef(specification, resource.section)
    section = section if is_id else _require_section(catalogue, specification, resource.section)
    if resource.id is None:
        return section
    named = find_by_name(catalogue, resource.id, [specification])
    by_name = named.indexes if isinstance(named, RequirementRef) else ()
    places = by_name or find_requirements_by_id(catalogue, resource.id, files)
    cards = catalogue.requirements
    indexes = tuple(i for i in places if SectionRef(cards[i].specification, cards[i].section) == section)
    if not indexes:
        paths = [catalogue.full_path_of(catalogue.requirements[index]) for index in places]
        message = f"requirement {quote_text(resource.id)} is not in section {quote_text(section.section)}"
        raise NotFoundError(
            message, hint=_list_candidates("use one of these paths:", paths) if len(paths) > 1 else f"use {paths[0]}"
        )
    if resource.citation is None:
        return RequirementRef(indexes)
    cited = {number for index in indexes for number in catalogue.requirements[index].citations}
    ids = locations.list_citation_spellings(resource.citation)
    numbers = tuple(number for number in sorted(cited) if catalogue.citations[number].id in ids)
    if not numbers:
        known = ", ".join(catalogue.citations[number].id for number in sorted(cited)[:_MAX_CANDIDATES])
        hint = f"available: {known}" if known else "nothing cites this requirement"
        raise NotFoundError(f"unknown citation {quote_text(resource.citation)} of this requirement", hint=hint)
    return CitationRef(numbers)


def _require_section(catalogue: Catalogue, specification: int, name: str) -> SectionRef:
    id = locations.find_section(catalogue.specifications[specification], name)
    if id is None:
        raise locations.make_section_error(catalogue, name, [specification])
    return SectionRef(specification, id)


def _resolve_target(catalogue: Catalogue, name: str, usage: Usage) -> SectionRef | RequirementRef | None:
    spec, hash_sign, section = name.partition("#")
    if spec and hash_sign:
        (specification, *_) = locations.require_specification(catalogue, spec)
        if locations.find_section(catalogue.specifications[specification], section) is None:
            found = find_by_name(catalogue, section, [specification])
            if found is not None:
                return found
            if usage is Usage.REQUIREMENT:
                own = (one for one in catalogue.requirements if one.specification == specification)
                names = [one.name for one in own if one.name]
                message = (
                    f"unknown requirement {quote_text(section)} of {catalogue.specifications[specification].locator}"
                )
                raise NotFoundError(message, hint=suggest_nearest(section, names) or usage)
        return _require_section(catalogue, specification, section)
    sections = [
        SectionRef(index, id)
        for index, card in enumerate(catalogue.specifications)
        for id in locations.match_sections(card, name)
    ]
    if len(sections) > 1 and not any(id.startswith(name.lower()) for id in catalogue.ids):
        cards = [(catalogue.specifications[one.specification], one.section) for one in sections]
        targets = [f"{card.id}#{card.section_names[id]}" for card, id in cards]
        hint = _list_candidates("use one of these:", targets)
        raise NotFoundError(f"{quote_text(name)} matches {len(targets)} sections", hint=hint)
    return sections[0] if len(sections) == 1 else None


def resolve_place(catalogue: Catalogue, name: str, files: locations.ProjectFiles) -> ResolvedReference | None:
    paths = locations.list_possible_paths(name, files.root)
    inside = locations.find_annotations_in_file(catalogue, paths)
    if inside:
        return FileRef(catalogue.citations[inside[0]].path, inside)
    place = locations.parse_file_line(name)
    if place is None:
        return None
    paths = locations.list_possible_paths(place.path, files.root)
    inside = locations.find_annotations_in_file(catalogue, paths)
    if inside:
        path, text = catalogue.citations[inside[0]].path, files.text(catalogue.citations[inside[0]].path)
        found = locations.find_annotation_lines(catalogue, inside, text)
        if numbers := locations.find_covering_annotations(found, text, place.line):
            return CitationRef(numbers)
        what, lines = f"no annotation at {path}:{place.line}", [one.first for one in found]
    else:
        cards, specifications = catalogue.requirements, catalogue.specifications
        own = [index for index, card in enumerate(cards) if specifications[card.specification].path in paths]
        if not own:
            return None
        ##= man/spec/show.md#references
        ##% duvet MUST resolve a line of a specification to the requirement that begins on that line.
        here = tuple([index for index in own if cards[index].line == place.line])
        path = specifications[cards[own[0]].specification].path
        if len({catalogue.ids[index] for index in here}) > 1:
            raise _make_ambiguous_error(catalogue, f"{path}:{place.line}", here)
        if here:
            return RequirementRef(here)
        what, lines = f"no requirement begins at {path}:{place.line}", [cards[index].line for index in own]
    near = ", ".join(f"{path}:{line}" for line in locations.find_nearest_lines(lines, place.line))
    raise NotFoundError(what, hint=f"nearest: {near}")


class CitableText(Struct, frozen=True):
    target: str
    quote: str  # Empty to cite the title of the section.


def find_citable(catalogue: Catalogue, found: ResolvedReference, part: str | None = None) -> CitableText:
    match found:
        case SectionRef(specification, section):
            if part is not None:
                raise NotFoundError(
                    "`--part` needs a requirement, not a section", hint="give the requirement that contains the words"
                )
            ##= man/spec/cite.md#inserting
            ##% If the target is a section, `duvet cite` MUST write a citation without a quote.
            return CitableText(catalogue.specifications[specification].section_target(section), "")
        case RequirementRef(indexes):
            return _quote_requirement(catalogue, indexes, part)
        case CitationRef(numbers):
            cited = {index for number in numbers for index in catalogue.citations[number].requirements}
            return _quote_requirement(catalogue, sorted(cited), part)
    raise NotFoundError("only requirements and sections can be cited", hint=Usage.CITABLE)


def _quote_requirement(catalogue: Catalogue, indexes: Sequence[int], part: str | None) -> CitableText:
    if len(indexes) != 1:
        repeated = [catalogue.requirements[index] for index in indexes]
        if not repeated:
            raise NotFoundError("the annotation cites no requirement", hint=Usage.CITABLE)
        ids = {card.id for card in repeated}
        message = f"the reference matches {len(ids)} requirements"
        if len(ids) == 1:
            message = f"requirement {repeated[0].id[:SHORT_ID_DIGITS]} occurs in {len(repeated)} places"
        lines = [f"{catalogue.full_path_of(card)}  {shorten_text(card.text, 60)}" for card in repeated]
        raise NotFoundError(message, hint="\n".join(["use one of these paths:", *lines]))
    card = catalogue.requirements[indexes[0]]
    quote = card.text if part is None else " ".join(part.split())
    if not quote or quote not in card.text:
        raise NotFoundError(
            f"{quote_text(quote)} is not part of the requirement", hint=f"give a part of its text: {card.text}"
        )
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST quote the whole requirement or, with `--part`, the given part of it.
    return CitableText(catalogue.target_of(card), quote)


def suggest_similar(catalogue: Catalogue, query: str, files: locations.ProjectFiles) -> str:
    if len(query.split()) == 1:
        try:
            resolve_reference(catalogue, query, files)
        except NotFoundError as error:
            if locations.is_reference(query):
                return "; ".join(filter(None, [error.message, error.hint]))
            ##= man/spec/search.md#results
            ##% If the query is a single unknown word, `duvet search` MUST suggest a similar word or name.
            from difflib import get_close_matches

            titles = (title for card in catalogue.specifications for title in (card.name, *card.titles.values()))
            texts = (*(card.text for card in catalogue.requirements), *titles)
            words = [*dict.fromkeys(word for text in texts for word in re.findall(_WORD, text.lower()))]
            word = query.strip().lower()
            if word not in words and (near := get_close_matches(word, words, 1, _SIMILARITY)):
                return f"did you mean {near[0]}?"
            if error.hint.endswith("?"):
                return error.hint
    return ""
