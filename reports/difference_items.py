"""What has changed since a revision, in groups of items that every format shows."""

from __future__ import annotations

from typing import NamedTuple

from duvet.queries.citing import CitationChange, StaleCitation
from duvet.queries.difference import Change, CoverageChange, Difference
from duvet.queries.rows import RequirementRow
from duvet.text import plural


class Line(NamedTuple):
    """A text from a file, and the sign before it: `-` for what was, `+` for what is."""

    sign: str
    text: str


class Item(NamedTuple):
    """One thing that has changed: where, what about it in words of ours, and what stands there."""

    place: str
    words: str
    lines: tuple[Line, ...]


class Group(NamedTuple):
    """All that has changed in one way."""

    title: str
    items: tuple[Item, ...]
    is_loss: bool = False


def groups(difference: Difference) -> list[Group]:
    """The groups that hold anything, the worst first."""
    found = [
        Group("Coverage lost", tuple(map(_coverage, difference.coverage_lost)), True),
        Group("Citations gone stale", tuple(map(_stale, difference.citations_stale)), True),
        Group("Requirements added", tuple(map(_requirement, difference.requirements_added))),
        Group("Requirements removed", tuple(map(_requirement, difference.requirements_removed))),
        Group("Requirements changed", tuple(map(_changed, difference.requirements_changed))),
        Group("Requirements moved", tuple(map(_moved, difference.requirements_moved))),
        Group("Coverage gained", tuple(map(_coverage, difference.coverage_gained))),
        Group("Citations removed", tuple(map(_cited, difference.citations_removed))),
        Group("Citations added", tuple(map(_cited, difference.citations_added))),
    ]
    return [group for group in found if group.items]


def _requirement(row: RequirementRow) -> Item:
    return Item(row.target, _listed(row.level, row.status), (Line("", row.text),))


def _coverage(change: CoverageChange) -> Item:
    status = _turned(change.then.status, change.now.status)
    lost = f"{' and '.join(change.lost)} lost" if change.lost else None
    gained = f"{' and '.join(change.gained)} gained" if change.gained else None
    return Item(change.now.target, _listed(change.now.level, status, lost, gained), (Line("", change.now.text),))


def _changed(change: Change) -> Item:
    level = _turned(change.then.level or "no level", change.now.level or "no level")
    reworded = (Line("-", change.then.text), Line("+", change.now.text))
    same = (Line("", change.now.text),)
    lines = same if change.then.text == change.now.text else reworded
    return Item(change.now.target, _listed(level, change.now.status), (*_way(change), *lines))


def _moved(change: Change) -> Item:
    return Item(
        change.now.target, _listed(change.now.level, change.now.status), (*_way(change), Line("", change.now.text))
    )


def _way(change: Change) -> tuple[Line, ...]:
    """From where to where, if that is not the same."""
    if change.then.target == change.now.target:
        return ()
    return Line("-", change.then.target), Line("+", change.now.target)


def _stale(one: StaleCitation) -> Item:
    lines = (Line("", one.quote), Line("", one.message)) if one.quote else (Line("", one.message),)
    return Item(f"{one.file_path}:{one.line_number}", one.kind, (Line("", one.target), *lines))


def _cited(one: CitationChange) -> Item:
    places = tuple(Line("", place) for place in one.places)
    return Item(one.target, plural(len(places), one.kind), (Line("", one.text), *places))


def _turned(then: str, now: str) -> str:
    return now if then == now else f"{then}, now {now}"


def _listed(*words: str | None) -> str:
    return "; ".join(word for word in words if word)
