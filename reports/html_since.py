"""What has changed since the committed snapshot, with links to where it still stands."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from duvet.queries.since import SnapshotChange
from duvet.reports.html_names import Names
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.specs.resolve import displayed
from duvet.trace.states import State

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
    """The sections by what the snapshot calls their specifications and themselves."""

    def __init__(self, page: Page, places: Places, names: Names) -> None:
        self._places = places.sections
        self._names = names
        cited = (coverage.specification for coverage in page.finished.trace.coverages)
        self._cited = {displayed(one.locator, page.finished.root): (index, one.name) for index, one in enumerate(cited)}

    def link(self, change: SnapshotChange) -> tuple[str, str]:
        """Where the section of a change stands, and what it is called."""
        index, name = self._cited.get(change.specification, (None, change.specification))
        if index is None or change.section not in self._places[index]:
            return "", f"{name}, {change.section}"
        return Markup(self._places[index][change.section].spot.link), Markup(self._names.section(index, change.section))


def _change(change: SnapshotChange, sections: _Sections) -> SinceChange:
    href, place = sections.link(change)
    is_cited = change.before or change.after
    words = f"{change.before or 'nothing'} → {change.after or 'nothing'}" if is_cited else State.UNCITED.words
    return SinceChange(place, href, change.text, words)
