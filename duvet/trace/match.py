"""Finding the text that an annotation quotes: as it is, with other spacing, or with one edit."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from duvet.model import Section
from duvet.normalise import normalise, normalise_with_map
from duvet.text import WHITESPACE, byte_length
from duvet.trace.characters import Characters
from duvet.trace.fuzzy import find_one_edit
from duvet.trace.records import TITLE_LINE, Fit, Piece
from duvet.trace.texts import OrderedText, Text
from duvet.trace.view import View, pieces, view_of

Found = tuple[tuple[Piece, ...], Fit]


class _Normal(Struct, frozen=True):
    """The normalised view, and where its unbroken stretches begin there and in the view, in characters."""

    data: bytes
    places: Characters
    offsets: list[int]
    originals: list[int]
    view: str
    view_places: Characters


class Matcher:
    """Finds quotes in one section; the views are made once, when they are first needed."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self._view: View | None = None
        self._normal: _Normal | None = None
        self._exact: Text | None = None
        self._fuzzy: Text | None = None

    def find(self, quote: str) -> Found | None:
        """Where the quote stands; an empty one refers to the title."""
        ##= man/spec/trace.md#quotes
        ##% An empty quote MUST refer to the title of its section.
        if not quote:
            start, end = self.section.heading
            return (Piece(TITLE_LINE, start, end),), Fit.TITLE
        view = self._view = self._view or view_of(self.section)
        data = quote.encode()
        start = (self._exact or view.data).find(data)
        if start >= 0:
            return pieces(view, start, start + len(data)), Fit.EXACT
        return self._find_normalised(view, quote)

    def _find_normalised(self, view: View, quote: str) -> Found | None:
        ##= man/spec/trace.md#quotes
        ##% A quote MUST be found if it differs only in white space around punctuation.
        wanted = normalise(quote).encode()
        normal = self._normal = self._normal or _normal_of(view)
        text = self._text(view, normal)
        start = text.find(wanted)
        fit = Fit.NORMALISED
        end = start + len(wanted)
        if start < 0:
            ##= man/spec/trace.md#quotes
            ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
            near = find_one_edit(wanted, text)
            if near is None:
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        found = pieces(view, *_in_view(normal, start, end))
        # One edit can turn a character into white space, which is nothing to quote.
        return (found, fit) if found else None

    def _text(self, view: View, normal: _Normal) -> Text:
        """The normalised text. Once searches have taken as long as it takes to put its words in order, that is done."""
        text = self._fuzzy = self._fuzzy or Text(normal.data)
        if self._exact is None and text.work > len(normal.data):
            text = self._fuzzy = OrderedText(normal.data)
            self._exact = text if view.data == normal.data else OrderedText(view.data)
        return text


def _normal_of(view: View) -> _Normal:
    text = view.data.decode()
    normal, offsets, originals = normalise_with_map(text)
    return _Normal(normal.encode(), Characters(normal), offsets, originals, text, Characters(text))


def _in_view(normal: _Normal, start: int, end: int) -> tuple[int, int]:
    """The bytes of the view that these bytes of the normalised view come from; a character counts whole."""
    low = _original(normal, normal.places.at(start))
    high = _original(normal, normal.places.at(end - 1)) + 1
    quoted = normal.view[low:high].rstrip(WHITESPACE)
    first = normal.view_places.byte(low)
    return first, first + byte_length(quoted)


def _original(normal: _Normal, offset: int) -> int:
    """Where in the view a character of the normalised view stands."""
    at = bisect_right(normal.offsets, offset) - 1
    return normal.originals[at] + offset - normal.offsets[at]
