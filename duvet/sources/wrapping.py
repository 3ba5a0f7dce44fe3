"""Quotes on the lines of a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress, repeat

from duvet.text import WHITESPACE

WIDTH = 80
"""How wide an annotation is written where nothing says otherwise."""
_TAB = 4

Words = Sequence[str]


def words(text: str) -> list[str]:
    """The words of a quote; blanks of every kind part them, as they do when quotes are looked for."""
    return [word for word in text.translate(_BLANKS).split(" ") if word]


_BLANKS = dict.fromkeys(map(ord, WHITESPACE), " ")


def width(line: str) -> int:
    """How wide a line is, with tabs spread out."""
    return len(line.expandtabs(_TAB))


def wrapped(given: Words, *rooms: int) -> Iterator[list[str]]:
    """The words on lines with room for so many characters, the last one for all that follow.

    A word that is too long has a line of its own.
    """
    line: list[str] = []
    left = chain(rooms, repeat(rooms[-1]))
    used, room = 0, next(left)
    for word in given:
        if line and used + 1 + len(word) > room:
            yield line
            line, used, room = [], 0, next(left)
        used += len(word) + bool(line)
        line.append(word)
    if line:
        yield line


def rewrapped(lines: Sequence[Words], wanted: Words, rooms: Sequence[int]) -> list[list[str]]:
    """Other words on the lines of a quote: each line keeps what it had, and where one gets too long, all from it flow.

    A line that nothing is left for is empty.
    """
    placed = _placed(lines, wanted)
    for index, line in enumerate(placed):
        if len(" ".join(line)) > rooms[index] and line != list(lines[index]):
            rest = [word for one in placed[index:] for word in one]
            return [*placed[:index], *wrapped(rest, *compress(rooms[index:], lines[index:]))]
    return placed


def _placed(lines: Sequence[Words], wanted: Words) -> list[list[str]]:
    """What is wanted on the lines that hold what it has in common with them."""
    from difflib import SequenceMatcher

    home = [index for index, line in enumerate(lines) for _ in line]
    old = [word for line in lines for word in line]
    placed: list[list[str]] = [[] for _ in lines]
    for tag, low, high, first, last in SequenceMatcher(None, old, wanted, autojunk=False).get_opcodes():
        for step, word in enumerate(wanted[first:last]):
            # What is new stands behind what is there before it.
            at = max(0, low - 1) if tag == "insert" else min(low + step, high - 1)
            placed[home[at]].append(word)
    return placed


def field_lines(key: str, value: str, room: int) -> Iterator[str]:
    """A field, `key=value`; a reason may go on in further lines."""
    if key != "reason":
        yield f"{key}={' '.join(words(value))}"
    else:
        yield from (f"{key}={' '.join(line)}" for line in wrapped(words(value), room - len(key) - 1))
