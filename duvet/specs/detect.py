"""How a specification is written, where nobody says."""

from __future__ import annotations

import re

from duvet.model import Format

_MARKDOWN_NAME = re.compile(r"[^/]\.(?:md|markdown)\Z")
_MARKDOWN_START = re.compile(r"[^\S\x1c-\x1f]*(?:#|\[//\]:)")


def detect(path: str, text: str, wanted: Format = Format.AUTO) -> Format:
    """The format of a file: what is wanted, or what its name and its first character tell."""
    ##= man/spec/trace.md#specifications
    ##% A specification MUST be read in the format that is asked for, else as Markdown if its name or its beginning says
    ##% so, and else as IETF text.
    if wanted is not Format.AUTO:
        return wanted
    if _MARKDOWN_NAME.search(path) or _MARKDOWN_START.match(text):
        return Format.MARKDOWN
    return Format.IETF
