"""The styles of comments in which a project can cite."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Kind


class CommentStyle(Struct, frozen=True, kw_only=True):
    """How comments of some sources are written."""

    label: str
    """Which sources."""
    meta: str
    content: str
    first: str = ""
    """What begins a comment, where the lines are none by themselves."""
    last: str = ""
    kind: Kind = Kind.CITATION
    """What a comment is that does not say its type."""
