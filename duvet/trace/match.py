"""Finding the text that an annotation quotes: as it is, with other spacing, or with one edit."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from duvet.model import Section
from duvet.normalise import normalise, normalise_with_map
from duvet.text import WHITESPACE, byte_length
from duvet.trace.fuzzy import find_one_edit
from duvet.trace.records import TITLE_LINE, Fit, Piece
from duvet.trace.view import View, pieces, view_of

Found = tuple[tuple[Piece, ...], Fit]


class _Normal(Struct, frozen=True):
    """The normalised view, and where its runs begin there and in the view."""

    data: bytes
    text: str
    offsets: list[int]
    originals: list[int]


class Matcher:
    """Finds quotes in one section; the views are made once, when they are first needed."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self._view: View | None = None
        self._normal: _Normal | None = None

    def find(self, quote: str) -> Found | None:
        """Where the quote stands; an empty one refers to the title."""
        if not quote:
            start, end = self.section.heading
            return (Piece(TITLE_LINE, start, end),), Fit.TITLE
        view = self._view = self._view or view_of(self.section)
        data = quote.encode()
        start = view.data.find(data)
        if start >= 0:
            return pieces(view, start, start + len(data)), Fit.EXACT
        return self._find_normalised(view, quote)

    def _find_normalised(self, view: View, quote: str) -> Found | None:
        wanted = normalise(quote).encode()
        normal = self._normal = self._normal or _normal_of(view)
        start = normal.data.find(wanted)
        fit = Fit.NORMALISED
        end = start + len(wanted)
        if start < 0:
            near = find_one_edit(wanted, normal.data)
            if near is None:
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        return pieces(view, *_in_view(view, normal, start, end)), fit


def _normal_of(view: View) -> _Normal:
    text, offsets, originals = normalise_with_map(view.data.decode())
    return _Normal(text.encode(), text, offsets, originals)


def _in_view(view: View, normal: _Normal, start: int, end: int) -> tuple[int, int]:
    """The bytes of the view that these bytes of the normalised view come from."""
    if normal.text.isascii() and len(view.data) == len(view.data.decode()):
        low, high = _original(normal, start), _original(normal, end - 1) + 1
    else:
        text = view.data.decode()
        low_char = _original(normal, _chars(normal.data, start))
        high_char = _original(normal, _chars(normal.data, end) - 1) + 1
        low, high = byte_length(text[:low_char]), byte_length(text[:high_char])
    trimmed = view.data[low:high].decode(errors="replace").rstrip(WHITESPACE)
    return low, low + min(high - low, len(trimmed.encode()))


def _original(normal: _Normal, offset: int) -> int:
    at = bisect_right(normal.offsets, offset) - 1
    return normal.originals[at] + offset - normal.offsets[at]


def _chars(data: bytes, offset: int) -> int:
    return len(data[:offset].decode(errors="ignore"))
