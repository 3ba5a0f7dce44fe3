"""What an agent gives for a citation: a comment in any style, or entries of a requirement file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from duvet.sources.pasted import Pasted, pasted
from duvet.sources.style import Style
from duvet.specs.requirement_files import read

_ENTRY = re.compile(r"(?:\s*#[^\n]*\n|\s*\n)*+\s*(?:\[\[?[A-Za-z]+\]|target\s*=\s*[\"'])")


def given(path: str, text: str, styles: Iterable[Style]) -> Pasted:
    """The annotations of what was given, whose places are counted in the text that comes with them."""
    ##= man/spec/mcp.md#tools
    ##% An entry of a requirement file MUST be read as one, with the target above it or its own.
    if not _ENTRY.match(text):
        return pasted(path, text, styles)
    annotations, problems = read(path, text.encode(errors="replace"))
    # It stands in no folder yet: paths in it start where those of comments do.
    return Pasted(text, [replace(one, from_file=False) for one in annotations], problems)
