"""From a reference, as people write and paste it, to what it means."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.names import nearest_hint, no_section, section_named, specification_named, specifications_named
from duvet.text import quoted, shortened

_SHORTEST = 4
_ID = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?\Z", re.DOTALL)
_RESOURCE = re.compile(
    r"(?:duvet://)?/specifications/(?P<spec>[^/]+)"
    r"(?:/sections/(?P<section>[^/]+)(?:/requirements/(?P<id>[0-9a-fA-F]+)(?:/citations/(?P<citation>.+))?)?)?/?\Z",
    re.DOTALL,
)
_SHOWN_CANDIDATES = 10


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


def find(catalogue: Catalogue, reference: str) -> Found:
    """What a reference means; NotFoundError with what is near where it means nothing or too much.

    References are the beginning of an id, a path of a resource, `spec#section`, a specification, `file:line`, a file.
    """
    wanted = reference.strip()
    resource = _RESOURCE.match(wanted)
    if resource is not None:
        return _resource(catalogue, resource)
    found = _target(catalogue, wanted) or _specification(catalogue, wanted) or placed(catalogue, wanted)
    if found is not None:
        return found
    if _ID.match(wanted):
        return Requirements(requirements_of_id(catalogue, wanted))
    raise _unknown(catalogue, wanted)


def requirements_of_id(catalogue: Catalogue, digits: str) -> tuple[int, ...]:
    """Every place of the one requirement whose id begins so."""
    wanted = digits.lower()
    if len(wanted) < _SHORTEST:
        raise NotFoundError(f"{quoted(digits)} is too short for an id", hint=f"give at least {_SHORTEST} digits")
    found = [index for index, id in enumerate(catalogue.ids) if id.startswith(wanted)]
    ids = dict.fromkeys(catalogue.ids[index] for index in found)
    if not found:
        near = nearest_hint(wanted[:SHOWN], [id[:SHOWN] for id in catalogue.ids])
        raise NotFoundError(f"there is no requirement {quoted(digits)}", hint=near)
    if len(ids) > 1:
        raise _ambiguous(catalogue, digits, {catalogue.ids[index]: index for index in found})
    return tuple(found)


def _ambiguous(catalogue: Catalogue, digits: str, found: dict[str, int]) -> NotFoundError:
    lines = [
        f"{id[:SHOWN]}  {shortened(catalogue.requirements[index].text)}"
        for id, index in list(found.items())[:_SHOWN_CANDIDATES]
    ]
    more = [f"and {len(found) - _SHOWN_CANDIDATES} more"] if len(found) > _SHOWN_CANDIDATES else []
    return NotFoundError(
        f"{quoted(digits)} is the beginning of {len(found)} ids", hint="\n".join(["give more digits:", *lines, *more])
    )


def _resource(catalogue: Catalogue, resource: re.Match[str]) -> Found:
    (specification, *_) = specification_named(catalogue, unquote(resource["spec"]))
    if resource["section"] is None:
        return Whole(specification)
    spot = _section(catalogue, specification, unquote(resource["section"]))
    if resource["id"] is None:
        return spot
    indexes = tuple(
        index
        for index in requirements_of_id(catalogue, resource["id"])
        if catalogue.requirements[index].specification == spot.specification
        and catalogue.requirements[index].section == spot.section
    )
    if not indexes:
        raise NotFoundError(f"there is no requirement {quoted(resource['id'])} in {quoted(spot.section)}")
    if resource["citation"] is None:
        return Requirements(indexes)
    cited = {number for index in indexes for number in catalogue.requirements[index].citations}
    wanted = unquote(resource["citation"])
    numbers = tuple(number for number in sorted(cited) if catalogue.citations[number].id == wanted)
    if not numbers:
        raise NotFoundError(f"there is no citation {quoted(wanted)} of that requirement")
    return Citations(numbers)


def _section(catalogue: Catalogue, specification: int, name: str) -> Spot:
    card = catalogue.specifications[specification]
    id = section_named(card, name)
    if id is None:
        raise no_section([card], name)
    return Spot(specification, id)


def _target(catalogue: Catalogue, wanted: str) -> Spot | None:
    spec, hash_sign, section = wanted.partition("#")
    if not hash_sign:
        return None
    (specification, *_) = specification_named(catalogue, spec)
    return _section(catalogue, specification, section)


def _specification(catalogue: Catalogue, wanted: str) -> Whole | None:
    found = specifications_named(catalogue, wanted)
    return Whole(found[0]) if found else None


def placed(catalogue: Catalogue, wanted: str) -> File | Citations | None:
    """What stands in a file, or at a line of it or nearest before that line."""
    path = _plain_path(wanted)
    inside = tuple(number for number, card in enumerate(catalogue.citations) if card.path == path)
    if inside:
        return File(path, inside)
    place = _PLACE.match(wanted)
    if place is None:
        return None
    path, line = _plain_path(place["path"]), int(place["line"])
    lines = {card.line for card in catalogue.citations if card.path == path and card.line <= line}
    if not lines:
        return None
    return Citations(
        tuple(
            number for number, card in enumerate(catalogue.citations) if card.path == path and card.line == max(lines)
        )
    )


def _plain_path(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _unknown(catalogue: Catalogue, wanted: str) -> NotFoundError:
    known = [name for card in catalogue.specifications for name in (card.id, card.name, card.locator)]
    paths = [card.path for card in catalogue.citations]
    ids = [id[:SHOWN] for id in catalogue.ids]
    path = _PLACE.match(wanted)
    hint = nearest_hint(path["path"] if path else wanted, [*known, *paths, *ids])
    return NotFoundError(
        f"nothing is called {quoted(wanted)}",
        hint=hint or "give the beginning of an id, spec#section, a specification, file:line or a file",
    )
