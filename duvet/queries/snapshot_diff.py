"""Changes since the committed snapshot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

_HEADING = re.compile(r"\[.*\]\((.*)\)$", re.MULTILINE)
_TEXT = re.compile(r"^    TEXT\[([^\]\n]*)\]: (.*)$", re.MULTILINE)
_DONE = frozenset(("implementation", "implication", "test"))


class SnapshotChange(Struct, frozen=True, kw_only=True):
    """A line of the snapshot that is not what it was."""

    specification: str
    """What its targets call it."""
    section: str
    text: str
    before: str
    """What the line had got; nothing where it was not there."""
    after: str


class SnapshotDiff(Struct, frozen=True, kw_only=True):
    """The lines of a snapshot by what has become of them."""

    gained: tuple[SnapshotChange, ...] = ()
    lost: tuple[SnapshotChange, ...] = ()
    added: tuple[SnapshotChange, ...] = ()
    removed: tuple[SnapshotChange, ...] = ()


_Spot = tuple[str, str]
"""The names of a specification and of a section of it; others may have their titles, too."""
_Line = tuple[str, int]
"""What a line says, and how many lines before it in the section say the same."""


def compare_snapshots(committed: str, today: str) -> SnapshotDiff:
    """What has become of the lines of a snapshot, in the order of the specifications."""
    before, after = _sections(committed), _sections(today)
    found: dict[str, list[SnapshotChange]] = {name: [] for name in SnapshotDiff.__struct_fields__}
    # Most sections are as they were.
    for spot in (*after, *(spot for spot in before if spot not in after)):
        then, now = before.get(spot), after.get(spot)
        if then != now:
            for kind, change in _changes(spot, then or "", now or ""):
                found[kind].append(change)
    ##= man/spec/page.md#overview
    ##% The overview MUST list the coverage gained and lost since the snapshot that `HEAD` contains, or say nothing
    ##% without such a snapshot.
    return SnapshotDiff(**{kind: tuple(changes) for kind, changes in found.items()})


def _sections(snapshot: str) -> dict[_Spot, str]:
    """The lines of each section of a snapshot; what is not applicable is passed over."""
    found: dict[_Spot, str] = {}
    for block in f"\n{snapshot}".replace("\r\n", "\n").split("\nSPECIFICATION: ")[1:]:
        specification, *sections = block.split("\n  SECTION: ")
        name = _named(specification)
        for section in sections:
            found[name, _named(section).removeprefix("#")] = section.partition("\n")[2].rstrip("\n")
    return found


def _named(text: str) -> str:
    """The name in the heading that a text begins with."""
    found = _HEADING.match(text)
    return found[1] if found else text.partition("\n")[0]


def _changes(spot: _Spot, then: str, now: str) -> Iterator[tuple[str, SnapshotChange]]:
    """What has become of the lines of a section."""
    before, after = _lines(then), _lines(now)
    for line in (*after, *(line for line in before if line not in after)):
        old, new = before.get(line), after.get(line)
        if old != new:
            yield (
                _kind(old, new),
                SnapshotChange(
                    specification=spot[0],
                    section=spot[1],
                    text=line[0],
                    before=", ".join(old or ()),
                    after=", ".join(new or ()),
                ),
            )


def _lines(section: str) -> dict[_Line, tuple[str, ...]]:
    """What refers to the lines of a section."""
    found: dict[_Line, tuple[str, ...]] = {}
    known: Counter[str] = Counter()
    for status, text in _TEXT.findall(section):
        plain = text.strip()
        found[plain, known[plain]] = tuple(word for word in status.split(",") if word and not word.startswith("!"))
        known[plain] += 1
    return found


def _kind(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    then, now = set(before), set(after)
    has_lost = not then & _DONE <= now or not now - then
    return "lost" if has_lost else "gained"
