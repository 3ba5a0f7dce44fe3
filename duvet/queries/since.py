"""What has changed since the snapshot that is committed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

_HEADING = re.compile(r"\[(?P<title>.*)\]\((?P<name>.*)\)$", re.MULTILINE)
_TEXT = re.compile(r"^    TEXT\[([^\]\n]*)\]: (.*)$", re.MULTILINE)
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


class _Section(Struct, frozen=True):
    """A section of a snapshot."""

    specification: str
    title: str
    lines: str


_Heading = tuple[str, str]
"""A title, and the name of what has it."""
_Spot = tuple[str, str]
"""The names of a specification and of a section of it."""
_Line = tuple[str, int]
"""What a line says, and how many lines before it in the section say the same."""


def since(committed: str, today: str) -> Since:
    """What has become of the lines of a snapshot, in the order of the specifications."""
    before, after = _sections(committed), _sections(today)
    found: dict[str, list[SnapshotChange]] = {name: [] for name in Since.__struct_fields__}
    # Most sections are as they were.
    for spot in (*after, *(spot for spot in before if spot not in after)):
        then, now = before.get(spot), after.get(spot)
        if then is None or now is None or then.lines != now.lines:
            for kind, change in _changes(then, now):
                found[kind].append(change)
    ##= man/spec/page.md#since-the-last-commit
    ##% The page MUST list what has gained and lost coverage since the snapshot that is committed in `HEAD`, and which of
    ##% its lines are new or gone.
    return Since(**{kind: tuple(changes) for kind, changes in found.items()})


def _sections(snapshot: str) -> dict[_Spot, _Section]:
    """The sections of a snapshot; what is not applicable is passed over."""
    found: dict[_Spot, _Section] = {}
    for block in f"\n{snapshot}".replace("\r\n", "\n").split("\nSPECIFICATION: ")[1:]:
        specification, *sections = block.split("\n  SECTION: ")
        title, name = _heading(specification)
        for section in sections:
            heading, _, lines = section.partition("\n")
            section_title, id = _heading(heading)
            found[name, id] = _Section(title or name, section_title or id.removeprefix("#"), lines.rstrip("\n"))
    return found


def _heading(text: str) -> _Heading:
    found = _HEADING.match(text)
    return (found["title"], found["name"]) if found else ("", text.partition("\n")[0])


def _changes(then: _Section | None, now: _Section | None) -> Iterator[tuple[str, SnapshotChange]]:
    """What has become of the lines of a section."""
    before, after = _lines(then), _lines(now)
    section = now or then
    assert section
    for line in (*after, *(line for line in before if line not in after)):
        old, new = before.get(line), after.get(line)
        if old != new:
            yield (
                _kind(old, new),
                SnapshotChange(
                    specification=section.specification,
                    section=section.title,
                    text=line[0],
                    before=", ".join(old or ()),
                    after=", ".join(new or ()),
                ),
            )


def _lines(section: _Section | None) -> dict[_Line, tuple[str, ...]]:
    """What refers to the lines of a section."""
    found: dict[_Line, tuple[str, ...]] = {}
    known: Counter[str] = Counter()
    for status, text in _TEXT.findall(section.lines) if section else ():
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
