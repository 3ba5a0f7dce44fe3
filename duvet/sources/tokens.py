"""The lines of a run, each for itself."""

from __future__ import annotations

from msgspec import Struct

from duvet.sources.runs import Run
from duvet.text import WHITESPACE


class Token(Struct, frozen=True):
    """One line: what stands after the prefix, trimmed, and where that begins."""

    line: int
    is_meta: bool
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the text ends."""
        return self.start + len(self.text)


def tokens(run: Run, meta: str, content: str) -> list[Token]:
    """The tokens of a run in order."""
    found: list[Token] = []
    end = run.start - 1
    for number, written in enumerate(run.text.split("\n"), run.line):
        end += len(written) + 1
        line = written.lstrip(WHITESPACE)
        is_meta = line.startswith(meta)
        rest = line[len(meta if is_meta else content) :].lstrip(WHITESPACE)
        found.append(Token(number, is_meta, rest.rstrip(WHITESPACE), end - len(rest)))
    return found
