"""What a specification is called."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from msgspec.structs import replace

from duvet.model import Specification
from duvet.specs.resolve import locator_key
from duvet.specs.slug import slug
from duvet.specs.urls import without_extension

_RFC_FILE = re.compile(r"rfc0*([1-9]\d*)", re.IGNORECASE)
_RFC_NAME = re.compile(r"RFC (\d+)")
_FRONT = re.compile(r"\s*(?:[^\n]*\n){0,20}?(?:Request for Comments|RFC)(?::| -)\s*0*([1-9]\d*)\b")


def stem(path: str) -> str:
    """The name of a file without its folders and its extension."""
    return without_extension(posixpath.basename(path))


def ietf_name(path: str, front: str) -> str:
    """`RFC n` by the file's name or by what its first page says; a draft is called as its file is."""
    found = _RFC_FILE.fullmatch(stem(path)) or _FRONT.match(front)
    return f"RFC {found[1]}" if found else stem(path)


def assign_ids(specifications: Iterable[Specification]) -> tuple[Specification, ...]:
    """The specifications in their order, each with an id of its own.

    Where several would have the same one, those after the first get a number.
    """
    ordered = sorted(specifications, key=lambda specification: locator_key(specification.locator))
    wanted = [_plain_id(specification) for specification in ordered]
    ids = _distinct(wanted, set())
    return tuple(replace(specification, id=id) for specification, id in zip(ordered, ids, strict=True))


def assign_further_ids(
    specifications: Iterable[Specification], known: Iterable[Specification]
) -> tuple[Specification, ...]:
    """Those of the specifications that are not known yet, with ids that no known one has."""
    taken = {one.locator: one.id for one in known}
    further = sorted(
        (one for one in specifications if one.locator not in taken), key=lambda one: locator_key(one.locator)
    )
    ids = _distinct([_plain_id(one) for one in further], set(taken.values()))
    return tuple(replace(specification, id=id) for specification, id in zip(further, ids, strict=True))


def _plain_id(specification: Specification) -> str:
    rfc = _RFC_NAME.fullmatch(specification.name)
    return f"rfc{rfc[1]}" if rfc else slug(stem(specification.path)) or "spec"


def _distinct(wanted: list[str], taken: set[str]) -> list[str]:
    reserved = set(wanted)
    ids = []
    for id in wanted:
        number = 1
        own = id
        while own in taken or (number > 1 and own in reserved):
            number += 1
            own = f"{id}-{number}"
        taken.add(own)
        ids.append(own)
    return ids
