"""The styles of comments in which a project can cite."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from duvet.config.schema import SourceRule
from duvet.model import Kind
from duvet.sources.enclosing import Pair, pair_of


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


_NO_PAIR = Pair("", "")


def comment_styles(rules: Iterable[SourceRule]) -> tuple[CommentStyle, ...]:
    """The styles of these sources, each with the patterns of its files."""
    found: dict[tuple[str, str, Pair, Kind], dict[str, None]] = {}
    for rule in rules:
        for pattern in rule.patterns:
            ##= man/spec/page.md#comments
            ##% The page MUST know the styles of comments of all sources, those that need a comment around them with
            ##% what begins and ends it.
            pair = pair_of(pattern, rule.meta) or _NO_PAIR
            found.setdefault((rule.meta, rule.content, pair, rule.kind), {})[pattern] = None
    return tuple(
        CommentStyle(label=", ".join(patterns), meta=meta, content=content, first=pair.first, last=pair.last, kind=kind)
        for (meta, content, pair, kind), patterns in found.items()
    )
