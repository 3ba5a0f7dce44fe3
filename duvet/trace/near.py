"""Finding a quote that does not stand in its section to the letter."""

from __future__ import annotations

from bisect import bisect_right

from duvet.normalise import normalise, normalise_with_map
from duvet.text import WHITESPACE, byte_length
from duvet.trace.characters import Characters
from duvet.trace.fuzzy import find_one_edit
from duvet.trace.records import Fit, Found
from duvet.trace.texts import Text
from duvet.trace.view import View, pieces


class Near:
    """Finds quotes with other spacing or with one edit in a view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._words = view.data.decode()
        normal, self._offsets, self._originals = normalise_with_map(self._words)
        # Where the unbroken stretches of the normalised view begin there and in the view, in characters.
        self._characters, self._normal_characters = Characters(self._words), Characters(normal)
        self._normal = Text(normal.encode())
        self.exact = Text(view.data)
        """The view, to look for what stands in it to the letter."""
        self._is_ordered = False

    def find(self, quote: str) -> Found | None:
        """Where the quote stands."""
        ##= man/spec/trace.md#quotes
        ##% A quote MUST be found if it differs only in white space around punctuation.
        wanted = normalise(quote).encode()
        if not self._is_ordered and self.exact.work + self._normal.work > len(self._normal.data):
            self._order()
        start = self._normal.find(wanted)
        fit = Fit.NORMALISED
        end = start + len(wanted)
        if start < 0:
            ##= man/spec/trace.md#quotes
            ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
            near = find_one_edit(wanted, self._normal)
            if near is None:
                return None
            (start, end), fit = near, Fit.ONE_EDIT
        found = pieces(self.view, *self._in_view(start, end))
        # One edit can turn a character into white space, which is nothing to quote.
        return (found, fit) if found else None

    def _order(self) -> None:
        """Once searches have taken as long as it takes to put words in order, no other is to take that long again."""
        from duvet.trace.ordered_text import OrderedText

        self._is_ordered = True
        data = self._normal.data
        self._normal = OrderedText(data)
        self.exact = self._normal if self.view.data == data else OrderedText(self.view.data)

    def _in_view(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the view that these bytes of the normalised view come from; a character counts whole."""
        low = self._original(self._normal_characters.at(start))
        high = self._original(self._normal_characters.at(end - 1)) + 1
        first = self._characters.byte(low)
        return first, first + byte_length(self._words[low:high].rstrip(WHITESPACE))

    def _original(self, offset: int) -> int:
        """Where in the view a character of the normalised view stands."""
        at = bisect_right(self._offsets, offset) - 1
        return self._originals[at] + offset - self._offsets[at]
