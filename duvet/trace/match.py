"""Matches quotes against sections: exactly, with different spacing, or with one edit."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from heapq import merge
from itertools import accumulate, compress, count, groupby, tee
from operator import add
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.model import Section
from duvet.text import WHITESPACE, byte_length, normalise, normalise_with_map
from duvet.trace.records import TITLE_LINE, Fit, FoundQuote, Piece

if TYPE_CHECKING:
    from duvet.trace.plain_match import PlainView


class SearchText:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.work = 0  # The cost of the searches so far; reading a kilobyte costs 1.

    def find(self, part: bytes) -> int:
        at = self.data.find(part)
        self.work += (at if at >= 0 else len(self.data)) >> 10
        return at

    def find_places(self, part: bytes) -> Iterable[int]:
        self.work += len(self.data) >> 10
        at = self.data.find(part)
        while at >= 0:
            self.work += 10
            yield at
            at = self.data.find(part, at + 1)

    def split(self, quote: bytes) -> int:
        """Return the offset at which to cut a quote of at least two bytes."""
        return len(quote) // 2


def find_one_edit(quote: bytes, text: SearchText) -> tuple[int, int] | None:
    """Return the range that awslabs duvet chooses, or None."""
    data, size = text.data, len(quote)
    ends: Iterable[int] = range(3)
    if size > 1:
        # One edit leaves at least one of the two parts of the quote unchanged.
        split = text.split(quote)
        shorter, equal, longer = tee(text.find_places(quote[:split]), 3)
        ends = merge(
            (place + size - 1 for place in shorter),
            (place + size for place in equal),
            (place + size + 1 for place in longer),
            (place + size - split for place in text.find_places(quote[split:])),
        )
    best: tuple[int, int] | None = None
    for end, _ in groupby(ends):
        starts = [end - one for one in (size + 1, size, size - 1) if one <= end <= len(data)]
        start = next((start for start in starts if _is_within_one_edit(quote, data[start:end])), None)
        if start is None:
            continue
        if best is not None and start > best[0]:
            return best
        best = (start, end)
    return best


def _is_within_one_edit(one: bytes, other: bytes) -> bool:
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


_BLANK = re.compile(b" ")
_FIRST, _MOST = 24, 256  # Words are sorted by the first 24 bytes, and then by the bytes up to the 256th.


class WordOrder:
    """The offsets of all words after a blank, sorted by the text that begins there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        behind_blanks = sorted([blank.end() for blank in _BLANK.finditer(data)], key=self._bytes(0, _FIRST))
        self._places: list[int] = []
        for _, alike in groupby(behind_blanks, self._bytes(0, _FIRST)):
            self._places += sorted(alike, key=self._bytes(_FIRST, _MOST))

    def _bytes(self, start: int, end: int) -> Callable[[int], bytes]:
        data = self.data
        return lambda place: data[place + start : place + end]

    def range(self, part: bytes) -> tuple[int, int, int]:
        shift = part.find(b" ") + 1
        word = part[shift : shift + _MOST]
        if not shift or not word:
            return sys.maxsize, 0, 0
        key = self._bytes(0, len(word))
        low = bisect_left(self._places, word, key=key)
        return bisect_right(self._places, word, low, key=key) - low, low, shift

    def starts(self, size: int, first: int, shift: int) -> list[int]:
        return [place - shift for place in self._places[first : first + size]]


_FEW, _MANY = 8, 500


class OrderedText(SearchText):
    """A text with a sorted word index: sorting is slow, but then each search is fast."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._ahead, self._behind = WordOrder(data), WordOrder(data[::-1])

    def find(self, part: bytes) -> int:
        return next(iter(self.find_places(part)), -1)

    def find_places(self, part: bytes) -> Iterable[int]:
        ahead, behind = self._ahead.range(part), self._behind.range(part[::-1])
        if min(ahead[0], behind[0]) > _MANY:
            # Callers usually need only the first place of such a part.
            return super().find_places(part)
        if ahead[0] <= behind[0]:
            starts = self._ahead.starts(*ahead)
        else:
            last = len(self.data) - len(part)
            starts = [last - start for start in self._behind.starts(*behind)]
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
        return min(self._ahead.range(part)[0], self._behind.range(part[::-1])[0])


class SectionView(Struct, frozen=True):
    """The non-blank lines of a section, trimmed and joined with single blanks."""

    section: Section
    data: bytes
    lines: list[int]  # The index of each of these lines in the section.
    offsets: list[int]  # The start of each line in the view, and the start of the line after the last.

    def cut(self, start: int, end: int) -> tuple[Piece, ...]:
        found: list[Piece] = []
        offsets, lines = self.offsets, self.lines
        texts, starts = self.section.lines, self.section.starts
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


def make_section_view(section: Section) -> SectionView:
    trimmed = [line.strip(WHITESPACE) for line in section.lines]
    texts = list(filter(None, trimmed))
    text = " ".join(texts)
    sizes = map(len if text.isascii() else byte_length, texts)
    offsets = list(map(add, accumulate(sizes, initial=0), count()))
    return SectionView(section, text.encode(), list(compress(count(), trimmed)), offsets)


class QuoteFinder:
    def __init__(self, view: SectionView | PlainView) -> None:
        self.view = view
        self._exact: SearchText | None = None  # Made with the normalised view, for the first quote that is not found.
        self._is_ordered = False

    def find(self, quote: str, *, allows_edit: bool = True, allows_cuts: bool = True) -> FoundQuote | None:
        data = quote.encode()
        start = (self._exact or self.view.data).find(data)
        if start >= 0:
            return self.view.cut(start, start + len(data)), Fit.EXACT
        if self._exact is None:
            self._exact, self._words = SearchText(self.view.data), self.view.data.decode()
            # The offsets, in characters, at which unbroken parts begin in the normalised view and in the view.
            text, self._offsets, self._originals = normalise_with_map(self._words)
            self._normal = SearchText(text.encode())
        elif not self._is_ordered and self._exact.work + self._normal.work > len(self._normal.data):
            # The searches have taken as long as sorting would take, and sorted words make further searches fast.
            self._is_ordered = True
            self._normal = OrderedText(self._normal.data)
            is_same = self.view.data == self._normal.data
            self._exact = self._normal if is_same else OrderedText(self.view.data)
        normal = normalise(quote).encode()
        start, fit = self._normal.find(normal), Fit.NORMALISED
        end = start + len(normal)
        if start < 0:
            near = find_one_edit(normal, self._normal) if allows_edit else None
            ##= man/spec/trace.md#targets-and-quotes
            ##% With its own schema, duvet MUST NOT accept a quote that differs from its section in a word or a number.
            if near is None or not (allows_cuts or self._keeps_meaning(normal, *near)):
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        # From bytes of the normalised view to bytes of the view, in whole characters.
        originals, normalised = [], self._normal.data
        for byte in (start, end - 1):
            while byte > 0 and normalised[byte] & 0xC0 == 0x80:
                byte -= 1
            character = byte if byte <= 0 or normalised.isascii() else len(normalised[:byte].decode())
            at = bisect_right(self._offsets, character) - 1
            originals.append(self._originals[at] + character - self._offsets[at])
        low, high = originals
        first = byte_length(self._words[:low])
        found = self.view.cut(first, first + byte_length(self._words[low : high + 1].rstrip(WHITESPACE)))
        # One edit can turn a character into white space, which leaves no piece.
        return (found, fit) if found else None

    def _keeps_meaning(self, quote: bytes, start: int, end: int) -> bool:
        normal, data = quote.decode(), self._normal.data
        front = normal[:-1].encode()
        if front and front[-1:] not in _MARKS:
            ends = (at + len(front) for at in self._normal.find_places(front))
            rests = (data[end : end + _MOST_READ].decode(errors="ignore") for end in ends)
            goes_on = [bool(re.match(_GOES_ON, rest)) for rest in rests]
            if goes_on and all(goes_on):
                return False
        return not is_meaningful_edit(normal, data[start:end].decode("utf-8", "replace"))


_WORDS = r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|[^\w\s.,;:!?'\"()]"


def is_meaningful_edit(one: str, other: str) -> bool:
    """Return True if two texts differ in a word, number or symbol, not just in case or punctuation."""
    front = 0
    while front < min(len(one), len(other)) and one[front] == other[front]:
        front += 1
    back = 0
    while back < min(len(one), len(other)) - front and one[-1 - back] == other[-1 - back]:
        back += 1
    start = front
    while start and not one[start - 1].isspace():
        start -= 1
    words = []
    for text in (one, other):
        end = len(text) - back
        while end < len(text) and not text[end].isspace():
            end += 1
        words.append(re.findall(_WORDS, text[start:end].casefold()))
    return words[0] != words[1]


_MARKS = (b".", b"!", b"?")
_MOST_READ = 16  # The bytes that show whether a sentence goes on.
# Neither a full stop, nor the next item of a list, nor the next sentence.
_GOES_ON = r"(?s)(?!.?[.!?]|.?\Z|[-*+|#\u2022]| [A-Z](?:[a-z]|\Z| ))"


class QuoteMatcher:
    def __init__(self, section: Section, view: SectionView | None = None) -> None:
        self.section = section
        self._name = ""  # The id of the requirement to which the search is restricted; empty for the whole section.
        if view is not None:
            self._view = view

    @cached_property
    def _view(self) -> SectionView:
        return make_section_view(self.section)

    @cached_property
    def _lines(self) -> QuoteFinder:
        return QuoteFinder(self._view)

    @cached_property
    def _words(self) -> tuple[PlainView, QuoteFinder]:
        from duvet.trace.plain_match import PlainView

        view = PlainView(self.section)
        return view, QuoteFinder(view)

    def find(self, quote: str, name: str = "", *, allows_cuts: bool = True) -> FoundQuote | None:
        """Without `allows_cuts`, one edit must not change a word or number, or end a sentence early."""
        ##= man/spec/trace.md#targets-and-quotes
        ##% duvet MUST read an annotation without a quote as one that quotes the title of its section.
        if not quote:
            start, end = self.section.heading
            return (Piece(TITLE_LINE, start, end),), Fit.TITLE
        # Only Markdown with duvet's own schema has a plain text.
        if self.section.plain is None:
            return self._lines.find(quote, allows_cuts=allows_cuts)
        name = name or self._name
        view, words = self._words
        ##= man/spec/trace.md#targets-and-quotes
        ##% With its own schema, duvet MUST also ignore differences in markup between a quote and its section.
        if found := _find_words(view, words, quote, name):
            return found
        bare = view.list_bare_quotes(quote)
        for one in bare:
            if one and one != quote and (found := _find_words(view, words, one, name)):
                return found
        if name:
            return None
        # The lines as they are in the file, such as code.
        found = self._lines.find(quote, allows_edit=False)
        return found or (words.find(bare[0], allows_cuts=allows_cuts) if bare[0] else None)

    def restrict(self, text: str, name: str) -> QuoteMatcher:
        if self.section.plain is not None:
            found = QuoteMatcher(self.section)
            found._words, found._name = self._words, name
            return found
        view, data = self._view, text.encode()
        start = view.data.find(data)
        if start < 0:
            return self
        first, last = bisect_right(view.offsets, start) - 1, bisect_left(view.offsets, start + len(data))
        offsets = [one - start for one in view.offsets[first : last + 1]]
        return QuoteMatcher(self.section, SectionView(self.section, data, view.lines[first:last], offsets))


def _find_words(view: PlainView, words: QuoteFinder, quote: str, name: str) -> FoundQuote | None:
    found = view.find_requirement(quote, name)
    if found or name:
        return found
    if found := words.find(quote, allows_edit=False):
        return found
    # A quote may consist of a list's lead-in and a part of one list item.
    item = view.find_item(quote)
    return item and _find_words(view, words, *item)
