"""Resolves the links of pages to requirements, sections and specifications."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from msgspec import Struct

from duvet import errors
from duvet.knowledge.pages.links import REQUIREMENT_PREFIX
from duvet.knowledge.pages.page import normalise_slug
from duvet.queries.references import RequirementRef, find_by_name
from duvet.trace.catalogue import Catalogue, SpecificationCard
from duvet.trace.locations import find_specifications, match_sections

_ID = re.compile(r"[0-9a-f]{4,64}\Z")


class PageReference(Struct, frozen=True):
    written: str
    indexes: tuple[int, ...]  # Indexes of the requirements; empty for a whole specification.
    specification: int | None = None
    section: str | None = None


class PageReferenceFinder:
    """Resolves links to the trace, and caches the results."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._references: dict[tuple[str, str], PageReference | None] = {}
        self._specifications: dict[str, list[int]] = {}

    def specification(self, target: str) -> SpecificationCard | None:
        """Return the specification that a link names, even if it has no such section."""
        numbers = [] if is_requirement_id(target) else self._find_specifications(normalise_slug(target))
        return self.catalogue.specifications[numbers[0]] if numbers else None

    def find(self, target: str, heading: str) -> PageReference | None:
        key = (normalise_slug(target), heading)
        if key not in self._references:
            self._references[key] = self._resolve(*key)
        return self._references[key]

    def _resolve(self, target: str, heading: str) -> PageReference | None:
        ##= man/spec/pages.md#links
        ##% `[[rfc2324#section-2.1.1]]` MUST link to the requirements of that section, and `[[req:ab12cd34]]` to the
        ##% requirement with that id, unless a page has this slug.
        written = f"{target}#{heading}" if heading else target
        if is_requirement_id(target):
            name = target[len(REQUIREMENT_PREFIX) :].strip()
            indexes = self._find_name(name) or self._find_id(name.lower())
            return PageReference(written, indexes) if indexes else None
        for number in self._find_specifications(target):
            if not heading:
                return PageReference(written, (), number)
            found = match_sections(self.catalogue.specifications[number], heading)
            if len(found) == 1:
                stated = self.catalogue.stated.get((number, found[0]), ())
                return PageReference(written, stated, number, found[0])
            indexes = () if found else self._find_name(heading, number)
            if indexes:
                section = self.catalogue.requirements[indexes[0]].section
                return PageReference(written, indexes, number, section)
        return None

    def _find_name(self, name: str, specification: int | None = None) -> tuple[int, ...]:
        """Return the requirement with this name; without `specification`, the name must be unique in the trace."""
        try:
            found = find_by_name(self.catalogue, name, None if specification is None else [specification])
        except errors.NotFoundError:
            return ()
        return found.indexes if isinstance(found, RequirementRef) else ()

    def _find_specifications(self, name: str) -> list[int]:
        if name not in self._specifications:
            self._specifications[name] = find_specifications(self.catalogue, name)
        return self._specifications[name]

    def _find_id(self, prefix: str) -> tuple[int, ...]:
        """Return the requirements whose id begins with these digits; empty if the digits are ambiguous."""
        if not _ID.match(prefix):
            return ()
        found: dict[str, list[int]] = {}
        for id, index in self._ids[bisect_left(self._ids, (prefix, -1)) :]:
            if not id.startswith(prefix):
                break
            found.setdefault(id, []).append(index)
        return tuple(next(iter(found.values()))) if len(found) == 1 else ()

    @cached_property
    def _ids(self) -> list[tuple[str, int]]:
        return sorted((id, index) for index, id in enumerate(self.catalogue.ids))


def is_requirement_id(target: str) -> bool:
    return target.lower().startswith(REQUIREMENT_PREFIX)
