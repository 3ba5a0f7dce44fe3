"""What has changed since the snapshot that is committed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

_HEADING = re.compile(r"(?:\[(?P<title>.*)\]\((?P<name>.*)\)|(?P<plain>.*))\Z")
_TEXT = re.compile(r"    TEXT\[(?P<status>[^\]]*)\]: (?P<text>.*)\Z")
_DONE = frozenset(("implementation", "implication", "test"))


class SnapshotChange(Struct, frozen=True, kw_only=True):
    """A line of the snapshot that is not what it was."""

    specification: str
    section: str
    text: str
    before: str
    """What the line had got; nothing where it was not there."""
    after: str


class Since(Struct, frozen=True, kw_only=True):
    """The lines of a snapshot by what has become of them."""

    gained: tuple[SnapshotChange, ...] = ()
    lost: tuple[SnapshotChange, ...] = ()
    added: tuple[SnapshotChange, ...] = ()
    removed: tuple[SnapshotChange, ...] = ()


class _Key(Struct, frozen=True):
    """What a line is about."""

    specification: str
    section: str
    text: str
    number: int
    """How many lines of the section that stand before it say the same."""


class _Line(Struct, frozen=True):
    """A line of a snapshot."""

    specification: str
    section: str
    words: tuple[str, ...]
    """What refers to it."""


_Lines = dict[_Key, _Line]


def since(committed: str, today: str) -> Since:
    """What has become of the lines of a snapshot, in the order of the specifications."""
    before, after = lines_of(committed), lines_of(today)
    ##= man/spec/page.md#since-the-last-commit
    ##% The page MUST list what has gained and lost coverage since the snapshot that is committed in `HEAD`, and which of
    ##% its lines are new or gone.
    changed = [
        (_change(key, before[key], line), _has_lost(before[key].words, line.words))
        for key, line in after.items()
        if key in before and before[key].words != line.words
    ]
    return Since(
        gained=tuple(change for change, has_lost in changed if not has_lost),
        lost=tuple(change for change, has_lost in changed if has_lost),
        added=tuple(_change(key, None, line) for key, line in after.items() if key not in before),
        removed=tuple(_change(key, line, None) for key, line in before.items() if key not in after),
    )


def lines_of(snapshot: str) -> _Lines:
    """The lines of text of a snapshot; all else is passed over."""
    found: _Lines = {}
    known: Counter[tuple[str, str, str]] = Counter()
    for (title, name), (section, id), words, text in _read(snapshot):
        known[spot := (name, id, text)] += 1
        found[_Key(*spot, known[spot])] = _Line(title or name, section or id, words)
    return found


_Heading = tuple[str, str]


def _read(snapshot: str) -> Iterator[tuple[_Heading, _Heading, tuple[str, ...], str]]:
    specification = section = ("", "")
    for line in snapshot.split("\n"):
        line = line.removesuffix("\r")
        if found := _TEXT.match(line):
            words = tuple(word for word in found["status"].split(",") if word and not word.startswith("!"))
            yield specification, section, words, found["text"].strip()
        elif line.startswith("SPECIFICATION: "):
            specification, section = _heading(line.removeprefix("SPECIFICATION: ")), ("", "")
        elif line.startswith("  SECTION: "):
            section = _heading(line.removeprefix("  SECTION: "))


def _heading(text: str) -> _Heading:
    """A title and what it is the title of."""
    found = _HEADING.match(text)
    assert found
    return found["title"] or "", (found["plain"] if found["name"] is None else found["name"]).removeprefix("#")


def _has_lost(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether something that counts is gone, or nothing has come."""
    then, now = set(before), set(after)
    return not then & _DONE <= now or not now - then


def _change(key: _Key, before: _Line | None, after: _Line | None) -> SnapshotChange:
    line = after or before
    assert line
    return SnapshotChange(
        specification=line.specification,
        section=line.section,
        text=key.text,
        before=", ".join(before.words) if before else "",
        after=", ".join(after.words) if after else "",
    )
