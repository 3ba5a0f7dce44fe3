"""From a reference, as people write and paste it, to what it means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.queries.catalogue import SHOWN, Catalogue, CitationCard
from duvet.queries.names import (
    nearest_hint,
    no_section,
    section_named,
)
from duvet.queries.places import (
    Files,
    Place,
    annotations_in,
    covering,
    nearest,
    place_of,
    plain_paths,
    spellings_of_citation,
    stretches,
)
from duvet.queries.resources import Resource, resource_of
from duvet.queries.spellings import specification_named, specifications_called
from duvet.queries.unknown import unknown
from duvet.text import quoted, shortened

_SHORTEST = 4
_ID = re.compile(r"[0-9a-fA-F]{1,64}\Z")
_SHOWN_CANDIDATES = 10
_RENAMED = "an id is that of its words, and another when these change: search for them"


class Requirements(Struct, frozen=True):
    """One requirement, in every place where its sentence stands."""

    indexes: tuple[int, ...]


class Spot(Struct, frozen=True):
    """A section of a specification."""

    specification: int
    section: str


class Whole(Struct, frozen=True):
    """A specification."""

    specification: int


class Citations(Struct, frozen=True):
    """The annotations at a line of a file."""

    indexes: tuple[int, ...]


class File(Struct, frozen=True):
    """All annotations in a file."""

    path: str
    indexes: tuple[int, ...]


Found = Requirements | Spot | Whole | Citations | File


def find(catalogue: Catalogue, reference: str, files: Files | None = None) -> Found:
    """What a reference means; NotFoundError with what is near where it means nothing or too much.

    References are the beginning of an id, a path of a resource, `spec#section`, a specification, `file:line`, a file.
    With the files, absolute paths are known, and lines of code that belong to an annotation.
    """
    ##= man/spec/show.md#references
    ##% A name of a specification, a section or a file MUST be taken for that, though it could be the beginning of an
    ##% id.
    wanted = reference.strip()
    resource = resource_of(wanted)
    if resource is not None and not resource.is_collection:
        return found_at(catalogue, resource)
    found = _specification(catalogue, wanted) or placed(catalogue, wanted, files) or _target(catalogue, wanted)
    if found is not None:
        return found
    if _ID.match(wanted):
        return Requirements(requirements_of_id(catalogue, wanted))
    raise unknown(catalogue, wanted, files)


def requirements_of_id(catalogue: Catalogue, digits: str) -> tuple[int, ...]:
    """Every place of the one requirement whose id begins so."""
    ##= man/spec/show.md#references
    ##% Four or more digits that begin the id of one requirement alone MUST mean that requirement, in every place where
    ##% it stands.
    wanted = digits.lower()
    if len(wanted) < _SHORTEST:
        raise NotFoundError(f"{quoted(digits)} is too short for an id", hint=f"give at least {_SHORTEST} digits")
    found = [index for index, id in enumerate(catalogue.ids) if id.startswith(wanted)]
    ids = dict.fromkeys(catalogue.ids[index] for index in found)
    if not found:
        ##= man/spec/show.md#references
        ##% What means nothing MUST be answered with the names that are most like it.
        near = nearest_hint(wanted, {id[: len(wanted)]: id[:SHOWN] for id in catalogue.ids})
        raise NotFoundError(f"there is no requirement {quoted(digits)}", hint=near or _RENAMED)
    if len(ids) > 1:
        raise _ambiguous(catalogue, digits, found)
    return tuple(found)


def _ambiguous(catalogue: Catalogue, wanted: str, indexes: list[int]) -> NotFoundError:
    ##= man/spec/show.md#references
    ##% What could mean several requirements or sections MUST be answered with a list of them.
    found = {catalogue.ids[index]: index for index in indexes}
    lines = [f"{id[:SHOWN]}  {shortened(catalogue.requirements[index].text)}" for id, index in found.items()]
    return NotFoundError(
        f"{quoted(wanted)} could mean {len(found)} requirements", hint=_listed("give one of these ids:", lines)
    )


def _listed(intro: str, lines: list[str]) -> str:
    more = [f"and {len(lines) - _SHOWN_CANDIDATES} more"] if len(lines) > _SHOWN_CANDIDATES else []
    return "\n".join([intro, *lines[:_SHOWN_CANDIDATES], *more])


def found_at(catalogue: Catalogue, resource: Resource) -> Found:
    """What the names in a path of a resource mean; NotFoundError with what is near where they mean nothing."""
    (specification, *_) = specification_named(catalogue, resource.specification or "")
    if resource.section is None:
        return Whole(specification)
    spot = _section(catalogue, specification, resource.section)
    if resource.id is None:
        return spot
    places = requirements_of_id(catalogue, resource.id)
    indexes = tuple(index for index in places if _spot_of(catalogue, index) == spot)
    if not indexes:
        paths = [catalogue.full_path_of(catalogue.requirements[index]) for index in places]
        message = f"there is no requirement {quoted(resource.id)} in {quoted(spot.section)}"
        raise NotFoundError(message, hint=_listed("it stands at", paths) if len(paths) > 1 else f"it is {paths[0]}")
    if resource.citation is None:
        return Requirements(indexes)
    cited = {number for index in indexes for number in catalogue.requirements[index].citations}
    ids = spellings_of_citation(resource.citation)
    numbers = tuple(number for number in sorted(cited) if catalogue.citations[number].id in ids)
    if not numbers:
        known = ", ".join(catalogue.citations[number].id for number in sorted(cited)[:_SHOWN_CANDIDATES])
        hint = f"it is cited at {known}" if known else "nothing cites it"
        raise NotFoundError(f"there is no citation {quoted(resource.citation)} of that requirement", hint=hint)
    return Citations(numbers)


def _spot_of(catalogue: Catalogue, index: int) -> Spot:
    card = catalogue.requirements[index]
    return Spot(card.specification, card.section)


def _section(catalogue: Catalogue, specification: int, name: str) -> Spot:
    card = catalogue.specifications[specification]
    id = section_named(card, name)
    if id is None:
        raise no_section([card], name)
    return Spot(specification, id)


def _specification(catalogue: Catalogue, wanted: str) -> Whole | None:
    found = specifications_called(catalogue, wanted)
    return Whole(found[0]) if found else None


def _target(catalogue: Catalogue, wanted: str) -> Spot | None:
    """The section of a target, or the one section of all specifications that is called so."""
    spec, hash_sign, section = wanted.partition("#")
    if spec and hash_sign:
        (specification, *_) = specification_named(catalogue, spec)
        return _section(catalogue, specification, section)
    named = [(index, section_named(card, wanted)) for index, card in enumerate(catalogue.specifications)]
    spots = [Spot(index, id) for index, id in named if id is not None]
    if len(spots) > 1 and not any(id.startswith(wanted.lower()) for id in catalogue.ids):
        targets = [f"{catalogue.specifications[spot.specification].id}#{spot.section}" for spot in spots]
        raise NotFoundError(
            f"{quoted(wanted)} could mean {len(targets)} sections", hint=_listed("give one of these:", targets)
        )
    return spots[0] if len(spots) == 1 else None


def placed(catalogue: Catalogue, wanted: str, files: Files | None = None) -> Found | None:
    """What stands in a file or at a line of it; NotFoundError where nothing stands at a line of a file that is known."""
    root = files.root if files else ""
    paths = plain_paths(wanted, root)
    inside = annotations_in(catalogue, paths)
    if inside:
        return File(catalogue.citations[inside[0]].path, inside)
    place = place_of(wanted)
    if place is None:
        return None
    paths = plain_paths(place.path, root)
    return _at_line(catalogue, paths, place.line, files) or _in_specification(catalogue, paths, place)


def _at_line(catalogue: Catalogue, paths: tuple[str, ...], line: int, files: Files | None) -> Citations | None:
    inside = annotations_in(catalogue, paths)
    if not inside:
        return None
    if files is None:
        # Without a text, what begins last has to do.
        last = max([card.line for card in _cards(catalogue, inside) if card.line <= line], default=0)
        numbers = tuple(number for number in inside if catalogue.citations[number].line == last)
    else:
        text = files.text(catalogue.citations[inside[0]].path)
        numbers = covering(stretches(catalogue, inside, text), text, line)
    if numbers:
        return Citations(numbers)
    ##= man/spec/show.md#references
    ##% A line that belongs to no annotation MUST be answered with the annotations that are nearest to it in its file.
    path = catalogue.citations[inside[0]].path
    near = nearest([card.line for card in _cards(catalogue, inside)], line)
    raise NotFoundError(f"no annotation belongs to {path}:{line}", hint=_near(path, near))


def _cards(catalogue: Catalogue, numbers: Iterable[int]) -> Iterator[CitationCard]:
    return (catalogue.citations[number] for number in numbers)


def _near(path: str, lines: Iterable[int]) -> str:
    return f"near are {', '.join(f'{path}:{line}' for line in lines)}"


def _in_specification(catalogue: Catalogue, paths: tuple[str, ...], place: Place) -> Requirements | None:
    """The requirement that begins on that line of a specification."""
    inside = [
        index for index, card in enumerate(catalogue.requirements) if catalogue.specification_of(card).path in paths
    ]
    if not inside:
        return None
    ##= man/spec/show.md#references
    ##% A line of a specification MUST mean the requirement that begins there.
    found = [index for index in inside if catalogue.requirements[index].line == place.line]
    path = catalogue.specification_of(catalogue.requirements[inside[0]]).path
    if not found:
        near = nearest([catalogue.requirements[index].line for index in inside], place.line)
        raise NotFoundError(f"no requirement begins at {path}:{place.line}", hint=_near(path, near))
    if len({catalogue.ids[index] for index in found}) > 1:
        raise _ambiguous(catalogue, f"{path}:{place.line}", found)
    return Requirements(tuple(found))
