"""The regular expressions that find annotations of one style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec import Struct

from duvet.text import WHITESPACE

# The four characters are white space for `\s`, but not for Unicode.
_BLANKS = r"[^\S\n\x1c-\x1f]*+"
_INK = r"[\S\x1c-\x1f]"
_REST = r"[^\n]*+"


class Finder(Struct, frozen=True):
    """What finds annotations in the whole text at once."""

    runs: Callable[[str], Iterator[re.Match[str]]]
    """Lines with a prefix that follow one another. Those of the usual form are captured in parts, `quote` last."""
    texts: Callable[[str], list[str]]
    """What stands behind the prefix on each line of a quote, less lines with nothing there."""
    without_text: str
    """How a line of a quote with nothing behind its prefix ends, and hardly any other does."""


@lru_cache
def finder_of(meta: str, content: str) -> Finder:
    """The finder for two prefixes."""
    # Indentation is cut off before a line is looked at, so nothing begins with white space there.
    possible = [re.escape(one) for one in (meta, content) if one[:1] not in WHITESPACE and "\n" not in one]
    # An empty prefix stands at the first character of each line that has one.
    first = f"(?:{'|'.join(possible) or '(?!)'})" if meta and content else _INK
    ##= man/spec/trace.md#annotations
    ##% Lines of annotations that follow one another without a gap MUST make one annotation.
    run = rf"{_REST}(?:\n{_BLANKS}{first}{_REST})*"
    if len(possible) == 2 and meta not in content and content not in meta:
        run = rf"(?:{_usual(*possible)}(?!\n{_BLANKS}{first})|{run})"
    texts = rf"{re.escape(content)}{_BLANKS}([^\n]*{_INK})"
    return Finder(re.compile(first + run).finditer, re.compile(texts).findall, content.rstrip(WHITESPACE))


def _usual(meta: str, content: str) -> str:
    """What follows the first prefix of a usual run: a target, lines with fields, a quote that begins with text."""
    fields = rf"(?:\n{_BLANKS}{meta}{_REST})*"
    text = rf"{_INK}{_REST}(?:\n{_BLANKS}{content}{_REST})*"
    return (
        rf"(?<={meta}){_BLANKS}(?P<target>{_INK}{_REST})(?P<fields>{fields})"
        rf"\n{_BLANKS}(?P<quote>{content}{_BLANKS}(?P<text>{text}))"
    )
