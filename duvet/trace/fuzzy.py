"""Finding a quote that differs from the text by one byte, with the choices that awslabs duvet makes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, tee

from duvet.trace.texts import Text


def find_one_edit(quote: bytes, text: Text) -> tuple[int, int] | None:
    """The first stretch of the text that becomes the quote by one insertion, deletion or substitution.

    The text must not hold the quote itself. Among stretches that end in one place the longest counts; one that
    begins no later than the stretch before it takes its place.
    """
    best: tuple[int, int] | None = None
    for end, _ in groupby(_possible_ends(quote, text)):
        start = _longest_start(quote, text.data, end)
        if start is None:
            continue
        if best is not None and start > best[0]:
            return best
        best = (start, end)
    return best


def _possible_ends(quote: bytes, text: Text) -> Iterator[int]:
    """In order; with one edit, at least one part of the quote stands in the text as it is, however it is cut in two."""
    size = len(quote)
    if size < 2:
        return iter(range(3))
    from heapq import merge

    split = text.split(quote)
    shorter, equal, longer = tee(text.places(quote[:split]), 3)
    return merge(
        (place + size - 1 for place in shorter),
        (place + size for place in equal),
        (place + size + 1 for place in longer),
        (place + size - split for place in text.places(quote[split:])),
    )


def _longest_start(quote: bytes, text: bytes, end: int) -> int | None:
    if end > len(text):
        return None
    for size in (len(quote) + 1, len(quote), len(quote) - 1):
        start = end - size
        if start >= 0 and _within_one_edit(quote, text[start:end]):
            return start
    return None


def _within_one_edit(one: bytes, other: bytes) -> bool:
    half = min(len(one), len(other)) // 2
    if one[:half] != other[:half] and one[-half:] != other[-half:]:
        return False
    front = _common_front(one, other)
    shorter, longer = sorted((len(one), len(other)))
    if shorter == longer:
        return one[front + 1 :] == other[front + 1 :]
    if len(one) < len(other):
        one, other = other, one
    return one[front + 1 :] == other[front:]


def _common_front(one: bytes, other: bytes) -> int:
    """How many bytes are alike at the front, found by halves: comparing slices is far faster than a loop."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
