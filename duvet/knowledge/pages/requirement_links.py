"""Links from pages to requirements."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from msgspec import Struct

from duvet.knowledge.pages.page import REQUIREMENT_PREFIX, PageLink
from duvet.trace.catalogue import Catalogue, SpecificationCard
from duvet.trace.names import find_section, find_specifications

_ID = re.compile(r"[0-9a-f]{4,64}\Z")
_Key = tuple[str, str]


class PageReference(Struct, frozen=True):
    """What of the trace a link means."""

    written: str
    indexes: tuple[int, ...]
    """The requirements; a specification as a whole, and a section that has none, mean none."""
    specification: int | None = None
    section: str | None = None


class PageReferenceFinder:
    """Finds what links mean; each is looked for once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._known: dict[_Key, PageReference | None] = {}
        self._specifications: dict[str, list[int]] = {}

    def is_id(self, link: PageLink) -> bool:
        """Whether it can mean nothing but a requirement."""
        return link.target.lower().startswith(REQUIREMENT_PREFIX)

    def specification(self, link: PageLink) -> SpecificationCard | None:
        """The specification that it names, be it with a section that isn't there."""
        numbers = [] if self.is_id(link) else self._named(link.target)
        return self.catalogue.specifications[numbers[0]] if numbers else None

    def meant(self, link: PageLink) -> PageReference | None:
        """What it means, None where that is nothing of the trace."""
        key = (link.target, link.heading)
        if key not in self._known:
            self._known[key] = self._found(link)
        return self._known[key]

    def _found(self, link: PageLink) -> PageReference | None:
        ##= man/spec/pages.md#links
        ##% `[[rfc2324#section-2.1.1]]` MUST link to the requirements of that section, and `[[req:ab12cd34]]` to the
        ##% requirement with that id, unless a page has that name.
        if self.is_id(link):
            indexes = self._with_id(link.target[len(REQUIREMENT_PREFIX) :].strip().lower())
            return PageReference(link.written, indexes) if indexes else None
        for number in self._named(link.target):
            if not link.heading:
                return PageReference(link.written, (), number)
            section = find_section(self.catalogue.specifications[number], link.heading)
            if section is not None:
                return PageReference(link.written, self.catalogue.stated.get((number, section), ()), number, section)
        return None

    def _named(self, name: str) -> list[int]:
        if name not in self._specifications:
            self._specifications[name] = find_specifications(self.catalogue, name)
        return self._specifications[name]

    def _with_id(self, wanted: str) -> tuple[int, ...]:
        """The requirements of the one id that begins so."""
        if not _ID.match(wanted):
            return ()
        first = bisect_left(self._ids, (wanted, -1))
        found = []
        for id, index in self._ids[first:]:
            if not id.startswith(wanted):
                break
            found.append((id, index))
        return tuple(index for _, index in found) if len({id for id, _ in found}) == 1 else ()

    @cached_property
    def _ids(self) -> list[tuple[str, int]]:
        return sorted((id, index) for index, id in enumerate(self.catalogue.ids))
