"""The lines of a source that belong to annotations, with the rules of awslabs duvet: the prefix comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from duvet.text import WHITESPACE


class Token(NamedTuple):
    """One line: what stands after the prefix, trimmed, and where that begins."""

    line: int
    is_meta: bool
    text: str
    start: int


def has_any(data: bytes, meta: str, content: str) -> bool:
    """Whether the file can hold a token at all; most can't, and need no more than this."""
    return meta.encode() in data or content.encode() in data


def tokens(text: str, meta: str, content: str) -> Iterator[Token]:
    """The tokens of a text in order."""
    line, counted = 1, 0
    for found in _finder(meta, content)(text):
        start = found.start()
        line_start = text.rfind("\n", 0, start) + 1
        ##= man/spec/trace.md#annotations
        ##% A line MUST belong to an annotation only if one of the two prefixes comes first on it.
        if line_start != start and text[line_start:start].strip(WHITESPACE):
            continue
        line += text.count("\n", counted, start)
        counted = start
        is_meta = text.startswith(meta, start)
        rest = text[start + len(meta if is_meta else content) : found.end()]
        trimmed = rest.lstrip(WHITESPACE)
        yield Token(line, is_meta, trimmed.rstrip(WHITESPACE), found.end() - len(trimmed))


@lru_cache
def _finder(meta: str, content: str):  # type: ignore[no-untyped-def] # the type of a bound finditer has no name
    if not meta or not content:
        # An empty prefix stands at the first character of each line that has one.
        return re.compile(rf"[^{WHITESPACE}][^\n]*").finditer
    # Indentation is cut off before a line is looked at, so nothing begins with white space there.
    possible = [re.escape(prefix) for prefix in (meta, content) if prefix[0] not in WHITESPACE]
    return re.compile(rf"(?:{'|'.join(possible) or '(?!)'})[^\n]*").finditer
