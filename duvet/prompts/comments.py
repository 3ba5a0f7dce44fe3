"""The comments that cite a requirement, in the styles of a project, ready to paste."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from duvet.config.schema import SourceRule
from duvet.model import Kind
from duvet.sources.edit import annotation_lines
from duvet.sources.style import Style

_INDENT = " " * 7
"""As deep as an item of a numbered list and a block of code in it."""


class Comment(Struct, frozen=True):
    """What to paste into the files of a source."""

    patterns: str
    for_code: str
    """Nothing where the files are tests."""
    for_test: str


def comments_for(rules: Sequence[SourceRule], target: str, quote: str) -> tuple[Comment, ...]:
    """The comments for each style of these sources."""
    ##= man/spec/queries.md#prompts
    ##% A prompt MUST hold the comments that cite its requirement, in each style of the sources.
    styles = _styles(rules)
    # Where there is nothing but tests, these hold the code as well.
    only_tests = all(style.kind is Kind.TEST for style in styles)
    return tuple(
        Comment(
            ", ".join(f"`{pattern}`" for pattern in patterns),
            _pasted(style, target, quote, Kind.CITATION) if only_tests or style.kind is not Kind.TEST else "",
            _pasted(style, target, quote, Kind.TEST),
        )
        for style, patterns in styles.items()
    )


def _styles(rules: Iterable[SourceRule]) -> dict[Style, list[str]]:
    """The patterns of the sources of each style."""
    styles: dict[Style, list[str]] = {}
    for rule in rules:
        styles.setdefault(Style(rule.meta, rule.content, rule.kind), []).extend(rule.patterns)
    return styles


def _pasted(style: Style, target: str, quote: str, kind: Kind) -> str:
    return "".join(f"{line}\n" for line in annotation_lines(style, _INDENT, target, quote, kind=kind))
