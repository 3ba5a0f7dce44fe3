"""Finding the text that an annotation quotes: as it is, with other spacing, or with one edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.model import Section
from duvet.trace.records import TITLE_LINE, Fit, Found, Piece
from duvet.trace.view import View, pieces, view_of

if TYPE_CHECKING:
    from duvet.trace.near import Near


class Matcher:
    """Finds quotes in one section; the views are made once, when they are first needed."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self._view: View | None = None
        self._near: Near | None = None

    def find(self, quote: str) -> Found | None:
        """Where the quote stands; an empty one refers to the title."""
        ##= man/spec/trace.md#quotes
        ##% An empty quote MUST refer to the title of its section.
        if not quote:
            start, end = self.section.heading
            return (Piece(TITLE_LINE, start, end),), Fit.TITLE
        view = self._view = self._view or view_of(self.section)
        data = quote.encode()
        start = (self._near.exact if self._near else view.data).find(data)
        if start >= 0:
            return pieces(view, start, start + len(data)), Fit.EXACT
        if self._near is None:
            from duvet.trace.near import Near

            self._near = Near(view)
        return self._near.find(quote)
