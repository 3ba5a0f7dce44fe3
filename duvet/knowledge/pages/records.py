"""What is known of a page."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Place, Problem

REQUIREMENT = "req:"
"""What a link to a requirement by its id begins with."""


class Link(Struct, frozen=True, array_like=True, gc=False):
    """A link as it is written, `[[target#heading|label]]`."""

    target: str
    heading: str
    line: int
    column: int
    width: int

    @property
    def written(self) -> str:
        """What it leads to, with the heading."""
        return f"{self.target}#{self.heading}" if self.heading else self.target

    @property
    def place(self) -> Place:
        return Place(self.line, self.column, self.width)


class Parsed(Struct, frozen=True, array_like=True):
    """What one file says."""

    slug: str = ""
    """The one that it gives itself; mostly its path has to tell."""
    title: str = ""
    created: float | None = None
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_page: bool = True
    """Whether it can be read as a page at all."""


class Page(Struct, frozen=True, kw_only=True):
    """A note."""

    path: str
    slug: str
    title: str
    created: float
    """Seconds since 1970."""
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
