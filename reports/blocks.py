"""What a page of text about one thing is made of, however it is written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from duvet.reports.listing import Listing


class Title(Struct, frozen=True):
    """What the page, or a part of it, is about, and what there is to know of that at once."""

    text: str
    remarks: tuple[str, ...] = ()
    rank: int = 1
    """1 for the page, 2 for its parts, 3 for theirs."""


class Facts(Struct, frozen=True):
    """Names and what stands for them; those that nothing stands for are left out."""

    pairs: Sequence[tuple[str, str | None]]

    @property
    def known(self) -> list[tuple[str, str]]:
        """The pairs that say something."""
        return [(name, value) for name, value in self.pairs if value]


class Words(Struct, frozen=True):
    """The words of a specification on one line, to be wrapped."""

    text: str


class Passage(Struct, frozen=True):
    """Lines of a specification, as they stand there."""

    text: str


class Code(Struct, frozen=True):
    """Lines of a file, and which of them matter."""

    path: str
    start: int
    lines: Sequence[str]
    first: int
    last: int


class Rows(Struct, frozen=True):
    """A list."""

    listing: Listing


Block = Title | Facts | Words | Passage | Code | Rows
