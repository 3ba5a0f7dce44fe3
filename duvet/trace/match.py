"""Matches quotes against sections: exactly, with other spacing, or with one edit."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import accumulate, compress, count, groupby, tee
from operator import add
from typing import NamedTuple

from msgspec import Struct

from duvet.model import Section
from duvet.text import WHITESPACE, byte_length, normalise, normalise_with_map
from duvet.trace.records import TITLE_LINE, Fit, FoundQuote, Piece


class SectionView(Struct, frozen=True):
    """The lines that are not blank, trimmed and joined with single blanks."""

    section: Section
    data: bytes
    lines: list[int]  # The index of each of these lines in the section.
    offsets: list[int]  # The start of each line in the view, and the start of the line after the last.


def make_section_view(section: Section) -> SectionView:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST find a quote in its section despite different wrapping or white space around punctuation, or one
    ##% wrong byte, which SHOULD cause a warning.
    trimmed = [line.strip(WHITESPACE) for line in section.lines]
    texts = list(filter(None, trimmed))
    text = " ".join(texts)
    sizes = map(len if text.isascii() else byte_length, texts)
    offsets = list(map(add, accumulate(sizes, initial=0), count()))
    return SectionView(section, text.encode(), list(compress(count(), trimmed)), offsets)


def restrict_view(view: SectionView, start: int, end: int) -> SectionView:
    """Return the view of a stretch; the offsets of its lines are counted from there."""
    first, last = bisect_right(view.offsets, start) - 1, bisect_left(view.offsets, end)
    offsets = [one - start for one in view.offsets[first : last + 1]]
    return SectionView(view.section, view.data[start:end], view.lines[first:last], offsets)


def cut_view(view: SectionView, start: int, end: int) -> tuple[Piece, ...]:
    """Return the pieces of a stretch of the view, as bytes of the file."""
    found: list[Piece] = []
    offsets, lines = view.offsets, view.lines
    texts, starts = view.section.lines, view.section.starts
    index = bisect_right(offsets, start) - 1
    low = start
    while low < end:
        line = lines[index]
        shift = starts[line] - offsets[index]
        text = texts[line]
        if text[0] in WHITESPACE:
            shift += byte_length(text[: len(text) - len(text.lstrip(WHITESPACE))])
        index += 1
        following = offsets[index]
        high = end if end < following else following - 1
        # As in awslabs duvet, a piece of one byte cuts the line and covers nothing.
        if high - low > 1:
            found.append(Piece(line, low + shift, high + shift))
        elif high > low:
            found.append(Piece(line, low + shift, low + shift))
        low = following
    return tuple(found)


def _character_at(data: bytes, byte: int) -> int:
    while byte > 0 and data[byte] & 0xC0 == 0x80:
        byte -= 1
    return byte if byte <= 0 or data.isascii() else len(data[:byte].decode())


class SearchText:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.work = 0
        """The cost of the searches so far; reading a kilobyte costs 1."""

    def find(self, part: bytes) -> int:
        """Return the first offset of the part, or -1."""
        at = self.data.find(part)
        self.work += (at if at >= 0 else len(self.data)) >> 10
        return at

    def places(self, part: bytes) -> Iterable[int]:
        self.work += len(self.data) >> 10
        at = self.data.find(part)
        while at >= 0:
            self.work += 10
            yield at
            at = self.data.find(part, at + 1)

    def split(self, quote: bytes) -> int:
        """Return where to cut a quote of two or more bytes; both parts should occur rarely."""
        return len(quote) // 2


def find_one_edit(quote: bytes, text: SearchText) -> tuple[int, int] | None:
    """Return the first stretch of the text that becomes the quote by one insertion, deletion or substitution.

    The text must not contain the quote. Of stretches with the same end the longest counts; a stretch that begins no
    later than the one before replaces it. rapidfuzz's alignment finds other stretches than awslabs duvet.
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


def _possible_ends(quote: bytes, text: SearchText) -> Iterator[int]:
    """Yield possible ends in order: after one edit, at least one of two parts of the quote is unchanged."""
    size = len(quote)
    if size < 2:
        return iter(range(3))

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
    # `front` becomes the length of the common prefix, by bisection: comparing slices is far faster than a loop.
    front, high = 0, min(len(one), len(other))
    while front < high:
        middle = (front + high + 1) // 2
        if one[front:middle] == other[front:middle]:
            front = middle
        else:
            high = middle - 1
    shorter, longer = sorted((len(one), len(other)))
    if shorter == longer:
        return one[front + 1 :] == other[front + 1 :]
    if len(one) < len(other):
        one, other = other, one
    return one[front + 1 :] == other[front:]


class NearQuoteFinder:
    """Finds quotes with other spacing or with one edit in a view."""

    def __init__(self, view: SectionView) -> None:
        self.view = view
        self._words = view.data.decode()
        # The offsets, in characters, at which unbroken parts begin in the normalised view and in the view.
        normal, self._offsets, self._originals = normalise_with_map(self._words)
        self._normal = SearchText(normal.encode())
        self.exact = SearchText(view.data)
        """Searches the view as it is."""
        self._is_ordered = False

    def find(self, quote: str) -> FoundQuote | None:
        normal = normalise(quote).encode()
        if not self._is_ordered and self.exact.work + self._normal.work > len(self._normal.data):
            # The searches have taken as long as sorting would take, and sorted words make further searches fast.
            self._is_ordered = True
            data = self._normal.data
            self._normal = OrderedText(data)
            self.exact = self._normal if self.view.data == data else OrderedText(self.view.data)
        start, fit = self._normal.find(normal), Fit.NORMALISED
        end = start + len(normal)
        if start < 0:
            near = find_one_edit(normal, self._normal)
            if near is None:
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        # From bytes of the normalised view to bytes of the view, in whole characters.
        originals = []
        for byte in (start, end - 1):
            character = _character_at(self._normal.data, byte)
            at = bisect_right(self._offsets, character) - 1
            originals.append(self._originals[at] + character - self._offsets[at])
        low, high = originals
        first = byte_length(self._words[:low])
        found = cut_view(self.view, first, first + byte_length(self._words[low : high + 1].rstrip(WHITESPACE)))
        # One edit can turn a character into white space, which leaves no piece.
        return (found, fit) if found else None

    def is_cut(self, quote: str) -> bool:
        """True if everywhere only the end of the quote differs, and the sentence of the section goes on there."""
        normal = normalise(quote)
        front, last = normal[:-1].encode(), normal[-1:]
        if not front or front[-1:] in _MARKS:
            return False
        data, ends = self._normal.data, (at + len(front) for at in self._normal.places(front))
        rests = (data[end : end + _MOST_READ].decode(errors="ignore") for end in ends)
        found = [bool(_GOES_ON.match(rest)) and rest[:1] != last for rest in rests]
        return bool(found) and all(found)


_MARKS = (b".", b"!", b"?")
_MOST_READ = 16  # The bytes that show whether a sentence goes on.
# Neither a full stop, nor the next item of a list, nor the next sentence.
_GOES_ON = re.compile(r"(?!.?[.!?]|.?\Z|[-*+|#\u2022]| [A-Z](?:[a-z]|\Z| ))", re.DOTALL)


class QuoteMatcher:
    """Finds quotes in one section; builds its views when it first needs them."""

    def __init__(self, section: Section, view: SectionView | None = None) -> None:
        self.section = section
        self._view = view
        self._near: NearQuoteFinder | None = None

    def find(self, quote: str) -> FoundQuote | None:
        """Return the pieces and the fit of a quote; an empty quote refers to the title."""
        ##= man/spec/trace.md#targets-and-quotes
        ##% An annotation without a quote MUST refer to the title of its section.
        if not quote:
            start, end = self.section.heading
            return (Piece(TITLE_LINE, start, end),), Fit.TITLE
        view = self._view = self._view or make_section_view(self.section)
        data = quote.encode()
        start = (self._near.exact if self._near else view.data).find(data)
        if start >= 0:
            return cut_view(view, start, start + len(data)), Fit.EXACT
        if self._near is None:
            self._near = NearQuoteFinder(view)
        return self._near.find(quote)

    def restrict(self, text: str) -> QuoteMatcher:
        """Return a matcher for this text of the section alone; for the whole section if it isn't found literally."""
        view = self._view = self._view or make_section_view(self.section)
        data = text.encode()
        start = view.data.find(data)
        return QuoteMatcher(self.section, restrict_view(view, start, start + len(data))) if start >= 0 else self

    def is_cut(self, quote: str) -> bool:
        """True if a quote that differs by one edit ends where the sentence of the section goes on."""
        ##= man/spec/trace.md#targets-and-quotes
        ##% With its own schema, duvet MUST NOT accept a quote whose last character is wrong if the sentence of the
        ##% section continues there.
        return self._near is not None and self._near.is_cut(quote)


_BLANK = re.compile(b" ")
_FIRST, _MOST = 24, 256  # The number of bytes to sort words by, and to sort equal words by.


class OrderRange(NamedTuple):
    """A range of sorted places, and their distance from the beginning of the search text."""

    first: int
    size: int
    shift: int


class WordOrder:
    """Every place after a blank, sorted by the bytes there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        behind_blanks = sorted([blank.end() for blank in _BLANK.finditer(data)], key=self._bytes(0, _FIRST))
        self._places: list[int] = []
        for _, alike in groupby(behind_blanks, self._bytes(0, _FIRST)):
            self._places += sorted(alike, key=self._bytes(_FIRST, _MOST))

    def _bytes(self, start: int, end: int) -> Callable[[int], bytes]:
        data = self.data
        return lambda place: data[place + start : place + end]

    def range(self, part: bytes) -> OrderRange:
        """Return the range of the first word that begins in the part; unknown if none does."""
        shift = part.find(b" ") + 1
        word = part[shift : shift + _MOST]
        if not shift or not word:
            return OrderRange(0, sys.maxsize, 0)
        key = self._bytes(0, len(word))
        low = bisect_left(self._places, word, key=key)
        return OrderRange(low, bisect_right(self._places, word, low, key=key) - low, shift)

    def starts(self, range: OrderRange) -> list[int]:
        return [place - range.shift for place in self._places[range.first : range.first + range.size]]


_FEW, _MANY = 8, 500


class OrderedText(SearchText):
    """A text with sorted words; sorting takes as long as a thousand searches, and makes each search fast."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._ahead, self._behind = WordOrder(data), WordOrder(data[::-1])

    def find(self, part: bytes) -> int:
        return next(iter(self.places(part)), -1)

    def places(self, part: bytes) -> Iterable[int]:
        ahead, behind = self._ahead.range(part), self._behind.range(part[::-1])
        if min(ahead.size, behind.size) > _MANY:
            # Callers mostly need only the first place of such a part.
            return super().places(part)
        if ahead.size <= behind.size:
            starts = self._ahead.starts(ahead)
        else:
            last = len(self.data) - len(part)
            starts = [last - start for start in self._behind.starts(behind)]
        return sorted([start for start in starts if start >= 0 and self.data.startswith(part, start)])

    def split(self, quote: bytes) -> int:
        low, high = 1, len(quote) - 1
        at = len(quote) // 2
        while low < high:
            front, back = self._size(quote[:at]), self._size(quote[at:])
            if max(front, back) <= _FEW:
                break
            low, high = (at + 1, high) if front > back else (low, at)
            at = (low + high) // 2
        return at

    def _size(self, part: bytes) -> int:
        return min(self._ahead.range(part).size, self._behind.range(part[::-1]).size)
