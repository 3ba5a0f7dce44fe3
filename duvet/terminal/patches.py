"""What a file would change by, for `patch` as for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from duvet.reports.cells import visible
from duvet.terminal.difference import coloured, unified
from duvet.terminal.settings import settings

_CONTEXT = 3


def patch(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """The lines of a unified diff."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    old, new = (_lines(one.decode()) for one in (before, after))
    rows = (f"--- a/{path}", f"+++ b/{path}", *unified(old, new, _CONTEXT))
    for line in (line for row in rows for line in row.split("\n")):
        ##= man/spec/trace.md#diagnostics
        ##% Text from files MUST NOT drive the terminal.
        shown = visible(line) if is_terminal else line
        yield (coloured(shown) if is_terminal and settings().colour else shown) + "\n"


def _lines(text: str) -> list[str]:
    """The lines of a text; one without an end says so, as in every unified diff."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
