"""What has changed since the committed snapshot, with links to where it still stands."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from duvet.queries.since import SnapshotChange
from duvet.reports.html_names import Names
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.specs.resolve import displayed

_MOST = 8
"""So many changes of one sort are shown."""

_WORDS = {"gained": "Gained", "lost": "Lost", "added": "New", "removed": "Gone"}


class SinceChange(NamedTuple):
    """A line of the snapshot that is not what it was."""

    place: str
    href: str
    """Nothing where the section is gone."""
    text: str
    change: str


class SinceGroup(NamedTuple):
    """The changes of one sort."""

    mark: str
    words: str
    total: int
    changes: list[SinceChange]
    rest: int
    """How many more there are."""


def since_groups(page: Page, places: Places, names: Names) -> list[SinceGroup] | None:
    """The sorts of changes that there are; nothing where there is no snapshot to compare with."""
    if page.since is None:
        return None
    ##= man/spec/page.md#overview
    ##% What has changed since the committed snapshot MUST be listed, with a link where the section still exists and a count
    ##% of what is left out.
    found = ((mark, words, getattr(page.since, mark)) for mark, words in _WORDS.items())
    sections = _Sections(page, places, names)
    return [
        SinceGroup(
            mark,
            words,
            len(changes),
            [_change(change, sections) for change in changes[:_MOST]],
            max(len(changes) - _MOST, 0),
        )
        for mark, words, changes in found
        if changes
    ]


class _Sections:
    """The sections by what the snapshot calls them and their specification: titles, or names where there are none."""

    def __init__(self, page: Page, places: Places, names: Names) -> None:
        self._specifications = page.catalogue.specifications
        self._places = places.sections
        self._names = names
        cited = [coverage.specification for coverage in page.finished.trace.coverages]
        locators = {displayed(one.locator, page.finished.root): index for index, one in enumerate(cited)}
        self._indexes = locators | {one.title: index for index, one in enumerate(cited) if one.title}

    def link(self, change: SnapshotChange) -> tuple[str, str]:
        """Where the section of a change stands, and what it is called."""
        index = self._indexes.get(change.specification)
        if index is None:
            return "", f"{change.specification}, {change.section}"
        specification, places = self._specifications[index], self._places[index]
        ids = {title: id for id, title in specification.titles.items()}
        id = change.section if change.section in places else ids.get(change.section, change.section)
        if id not in places:
            return "", f"{specification.name}, {id}"
        return Markup(places[id].spot.link), Markup(self._names.section(index, id))


def _change(change: SnapshotChange, sections: _Sections) -> SinceChange:
    href, place = sections.link(change)
    words = f"{change.before or 'nothing'} → {change.after or 'nothing'}"
    return SinceChange(place, href, change.text, words)
