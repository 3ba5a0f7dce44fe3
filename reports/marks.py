"""Stretches of a text that matter, made to stand out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

Spans = Sequence[tuple[int, int]]
"""Stretches of a text in order, apart from one another."""


class Marks(Struct, frozen=True):
    """What stands around a stretch that matters."""

    before: str
    after: str


PLAIN = Marks("**", "**")
MARKDOWN = Marks("**", "**")
BOLD = Marks("\x1b[1;33m", "\x1b[0m")
HEAD = Marks("\x1b[1m", "\x1b[0m")


def painted(text: str, spans: Spans, marks: Marks, shown: Callable[[str], str]) -> str:
    """The text with marks around the stretches; each piece of it as it is shown."""
    if not spans:
        return shown(text)
    return "".join(
        f"{marks.before}{shown(piece)}{marks.after}" if matters else shown(piece)
        for piece, matters in pieces(text, spans)
    )


def pieces(text: str, spans: Spans) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it matters."""
    last = 0
    for start, end in spans:
        if last < start:
            yield text[last:start], False
        yield text[start:end], True
        last = end
    if last < len(text):
        yield text[last:], False
