"""`llms.txt`: what an origin says of its models, for people. It is data, and nobody does what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from duvet.llm.words import MOST, said

_LINK = re.compile(r"\s{0,8}[-*]\s{0,4}\[([^\]]{1,500})\]\(([^)\s]{1,1000})\)(?:\s{0,4}:\s{0,4}(.*))?")
_ABOUT_MODELS = re.compile(r"\b(?:models?|pricing)\b", re.IGNORECASE)
_MOST_HINTS = 100
_LONGEST_NAME = 100


class Hint(Struct, frozen=True):
    """A link that has to do with models."""

    name: str
    url: str
    note: str


def hints_in(text: str) -> tuple[Hint, ...]:
    """The links of a text in that format that have to do with models, cut to what can be shown."""
    ##= man/spec/ask.md#discovery
    ##% Hints MUST be cut, MUST be free of control characters, and MUST NOT become part of a prompt.
    found = (Hint(said(name, _LONGEST_NAME), said(url), said(note)) for name, url, note in _links(text))
    return tuple([hint for hint, _ in zip(found, range(_MOST_HINTS), strict=False) if hint.name])


def _links(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[:MOST]
        link = _LINK.match(line)
        if link and _ABOUT_MODELS.search(f"{section} {link[1]} {link[3] or ''}"):
            yield link[1], link[2], link[3] or ""
