"""Finding a quote that does not stand in its section to the letter."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from duvet.normalise import normalise, normalise_with_map
from duvet.text import WHITESPACE, byte_length
from duvet.trace.characters import Characters
from duvet.trace.fuzzy import find_one_edit
from duvet.trace.records import Fit, Found
from duvet.trace.texts import OrderedText, Text
from duvet.trace.view import View, pieces


class _Normal(Struct, frozen=True):
    """The normalised view, and where its unbroken stretches begin there and in the view, in characters."""

    data: bytes
    places: Characters
    offsets: list[int]
    originals: list[int]
    view: str
    view_places: Characters


class Near:
    """Finds quotes with other spacing or with one edit in a view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.exact = Text(view.data)
        """The view to look for what stands in it to the letter."""
        self._normal = _normal_of(view)
        self._text = Text(self._normal.data)

    def find(self, quote: str) -> Found | None:
        """Where the quote stands."""
        ##= man/spec/trace.md#quotes
        ##% A quote MUST be found if it differs only in white space around punctuation.
        wanted = normalise(quote).encode()
        if not isinstance(self._text, OrderedText) and self.exact.work + self._text.work > len(self._text.data):
            self._order()
        start = self._text.find(wanted)
        fit = Fit.NORMALISED
        end = start + len(wanted)
        if start < 0:
            ##= man/spec/trace.md#quotes
            ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
            near = find_one_edit(wanted, self._text)
            if near is None:
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        found = pieces(self.view, *_in_view(self._normal, start, end))
        # One edit can turn a character into white space, which is nothing to quote.
        return (found, fit) if found else None

    def _order(self) -> None:
        """Once searches have taken as long as it takes to put words in order, no other is to take that long again."""
        data = self._text.data
        self._text = OrderedText(data)
        self.exact = self._text if self.view.data == data else OrderedText(self.view.data)


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
