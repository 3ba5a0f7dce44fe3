"""Finding a quote that differs from the text by one byte, with the choices that awslabs duvet makes."""

from __future__ import annotations

from collections.abc import Iterator


def find_one_edit(quote: bytes, text: bytes) -> tuple[int, int] | None:
    """The first stretch of the text that becomes the quote by one insertion, deletion or substitution.

    The text must not hold the quote itself. Among stretches that end in one place the longest counts; one that
    begins no later than the stretch before it takes its place.
    """
    best: tuple[int, int] | None = None
    for end in sorted(set(_possible_ends(quote, text))):
        start = _longest_start(quote, text, end)
        if start is None:
            continue
        if best is not None and start > best[0]:
            return best
        best = (start, end)
    return best


def _possible_ends(quote: bytes, text: bytes) -> Iterator[int]:
    """With one edit, at least one half of the quote stands in the text as it is."""
    size = len(quote)
    half = size // 2
    if not half:
        yield from range(3)
        return
    for start in _occurrences(quote[:half], text):
        yield from (start + size - 1, start + size, start + size + 1)
    for start in _occurrences(quote[half:], text):
        yield start + size - half


def _occurrences(part: bytes, text: bytes) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _longest_start(quote: bytes, text: bytes, end: int) -> int | None:
    if end > len(text):
        return None
    for size in (len(quote) + 1, len(quote), len(quote) - 1):
        start = end - size
        if start >= 0 and _within_one_edit(quote, text[start:end]):
            return start
    return None


def _within_one_edit(one: bytes, other: bytes) -> bool:
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
