"""What a page of text about one thing is made of, however it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from duvet.reports.listing import Listing


class Title(NamedTuple):
    """What the page, or a part of it, is about, and what there is to know of that at once."""

    text: str
    remarks: tuple[str, ...] = ()
    rank: int = 1
    """1 for the page, 2 for its parts, 3 for theirs."""


class Facts(NamedTuple):
    """Names and what stands for them; those that nothing stands for are left out."""

    pairs: Sequence[tuple[str, str | None]]

    @property
    def known(self) -> list[tuple[str, str]]:
        """The pairs that say something."""
        return [(name, value) for name, value in self.pairs if value]


class Words(NamedTuple):
    """The words of a specification on one line, to be wrapped."""

    text: str


class Passage(NamedTuple):
    """Lines of a specification, as they stand there."""

    text: str


class Code(NamedTuple):
    """Lines of a file, and which of them matter."""

    path: str
    start: int
    lines: Sequence[str]
    first: int
    last: int


class Rows(NamedTuple):
    """A list."""

    listing: Listing


Block = Title | Facts | Words | Passage | Code | Rows
