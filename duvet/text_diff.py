"""Line diffs in about linear time, as unified patches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

# Up to this many pairs of lines are compared with each other if no line is unique in both texts.
_FEW_PAIRS = 10_000

TextLines = Sequence[str]
LinePair = tuple[int, int]  # The index of a line in the old text, and of the same line in the new one.


class DifferenceRow(NamedTuple):
    """A line of either text or of both, with the indexes reached in each."""

    sign: str
    text: str
    old: int
    new: int


def make_unified_diff(old: TextLines, new: TextLines, context: int) -> Iterator[str]:
    """Yield the lines of a unified diff, without file names."""
    rows = list(_align(old, new))
    for start, end in _find_hunks([index for index, row in enumerate(rows) if row.sign != " "], context, len(rows)):
        hunk = rows[start:end]
        removed, added = (sum(row.sign != sign for row in hunk) for sign in "+-")
        yield f"@@ -{_format_range(hunk[0].old, removed)} +{_format_range(hunk[0].new, added)} @@"
        yield from (row.sign + row.text for row in hunk)


def colour_diff_line(line: str) -> str:
    code = {"+": "32", "-": "31", "@": "36"}.get(line[:1])
    return f"\x1b[{code}m{line}\x1b[0m" if code else line


def _align(old: TextLines, new: TextLines) -> Iterator[DifferenceRow]:
    one = other = 0
    for i, j in [*match_lines(old, new), (len(old), len(new))]:
        yield from (DifferenceRow("-", old[index], index, other) for index in range(one, i))
        yield from (DifferenceRow("+", new[index], i, index) for index in range(other, j))
        if i < len(old):
            yield DifferenceRow(" ", old[i], i, j)
        one, other = i + 1, j + 1


def _find_hunks(changed: list[int], context: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows around changes; changes whose context touches share a range."""
    start = 0
    for index, row in enumerate(changed):
        last = index + 1 == len(changed)
        if last or changed[index + 1] - row > 2 * context + 1:
            yield max(0, changed[start] - context), min(count, row + context + 1)
            start = index + 1


def _format_range(start: int, count: int) -> str:
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def match_lines(old: TextLines, new: TextLines) -> list[LinePair]:
    """Return the lines common to both texts in order, anchored at lines that are unique in each part."""
    found: list[LinePair] = []
    pending = [(0, len(old), 0, len(new))]
    while pending:
        a, b, c, d = pending.pop()
        while a < b and c < d and old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found.append((b, d))
        # Anchors are the longest run of pairs, sorted by the first, in which the second increases too.
        # These are the lines that are unique in this part of each text.
        theirs = _index_unique_lines(new, c, d)
        pairs = [(index, theirs[text]) for text, index in _index_unique_lines(old, a, b).items() if text in theirs]
        ends: list[int] = []
        last: list[int] = []
        before: list[int] = []
        for index, (_, second) in enumerate(pairs):
            at = bisect_left(ends, second)
            before.append(last[at - 1] if at else -1)
            ends[at : at + 1] = [second]
            last[at : at + 1] = [index]
        run = []
        index = last[-1] if last else -1
        while index >= 0:
            run.append(pairs[index])
            index = before[index]
        anchors = run[::-1]
        if anchors:
            found += anchors
            edges = [(a - 1, c - 1), *anchors, (b, d)]
            pending += [(i + 1, k, j + 1, n) for (i, j), (k, n) in pairwise(edges)]
        elif 0 < (b - a) * (d - c) <= _FEW_PAIRS:
            from difflib import SequenceMatcher

            for block in SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks():
                found += [(a + block.a + step, c + block.b + step) for step in range(block.size)]
    return sorted(found)


def _index_unique_lines(lines: TextLines, start: int, end: int) -> dict[str, int]:
    found: dict[str, int] = {}
    again = set()
    for index in range(start, end):
        if found.setdefault(lines[index], index) != index:
            again.add(lines[index])
    return {text: index for text, index in found.items() if text not in again}
