"""What has changed since a revision, as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from duvet.queries.bases import Base
from duvet.queries.difference import Count, Difference
from duvet.reports.cells import visible
from duvet.reports.difference_items import Group, Item, groups
from duvet.text import shortened

_MOST = 65_000
"""GitHub refuses comments of more than 65,536 characters."""
_FRAME = 200
"""No more than this surrounds the items of a group, with the words that say what is left out."""
_LONGEST = 600
_COUNTS = ("requirements", "applicable", "done", "excepted", "not_applicable")


def render(base: Base, difference: Difference, out: BinaryIO) -> None:
    """Write as much as a comment may hold, what matters most first."""
    found = groups(difference)
    lines = [f"### duvet: {difference.losses or 'no coverage lost'}", "", f"Compared with {_base(base)}.", ""]
    lines += [*_table(difference.then, difference.now), ""]
    room = _MOST - sum(len(line) + 1 for line in lines) - _FRAME * len(found)
    for group in found:
        items, room = _fitting(group, room)
        opened = "<details open>" if group.is_loss else "<details>"
        lines += [opened, f"<summary>{group.title}: {len(group.items):,}</summary>", "", *items, "", "</details>", ""]
    out.write(("\n".join(lines).rstrip("\n") + "\n").encode(errors="replace"))


def _base(base: Base) -> str:
    if base.is_merge_base:
        return f"{_code(base.short)}, where this branch left {_code(base.revision)}"
    return f"{_code(base.short)} ({_code(base.revision)})"


def _table(then: Count, now: Count) -> Iterator[str]:
    yield "| | then | now |"
    yield "|---|--:|--:|"
    for name in _COUNTS:
        before, after = getattr(then, name), getattr(now, name)
        if before or after or name == "requirements":
            yield f"| {name.replace('_', ' ')} | {before:,} | {after:,} |"


def _fitting(group: Group, room: int) -> tuple[list[str], int]:
    """As many items as there is room for, and the room that is left."""
    found: list[str] = []
    for number, item in enumerate(group.items):
        text = _item(item)
        if len(text) + 1 > room:
            ##= man/spec/diff.md#markdown
            ##% A comment MUST be shorter than GitHub allows, and MUST say how much is left out.
            return [*found, f"- and {len(group.items) - number:,} more, for which there is no room here"], 0
        room -= len(text) + 1
        found.append(text)
    return found, room


def _item(item: Item) -> str:
    lines = [f"- {_code(item.place)} {item.words}"]
    lines += [f"  - {line.sign and f'{_SIGNS[line.sign]}: '}{_code(line.text)}" for line in item.lines]
    return "\n".join(lines)


_SIGNS = {"-": "then", "+": "now"}


def _code(text: str) -> str:
    """Text as code: nothing in it is Markdown, HTML, the name of a person or the number of an issue."""
    ##= man/spec/diff.md#markdown
    ##% Text from files MUST be shown as it is, and MUST NOT act as Markdown, HTML or a mention.
    shown = visible(shortened(text, _LONGEST))
    fence = "`"
    while fence in shown:
        fence += "`"
    pad = " " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
