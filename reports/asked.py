"""An answer and its sources as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from duvet.llm.asking import Answer
from duvet.llm.sources import Source
from duvet.reports.cells import visible, wrapped
from duvet.reports.listing import Look

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MOST_LINES = 12
"""So many lines of a source are shown."""
_NARROWEST = 20


def render(answer: Answer, look: Look) -> bytes:
    """The answer, if there is one, and its sources."""
    return "".join(f"{line}\n" for line in _lines(answer, look)).encode(errors="replace")


def _lines(answer: Answer, look: Look) -> Iterator[str]:
    if answer.answer is not None:
        for line in answer.answer.split("\n"):
            yield from _folded(line, "", look)
    if answer.answer is not None and answer.sources:
        yield ""
    for number, source in enumerate(answer.sources):
        if number:
            yield ""
        yield from _source(source, look)


def _source(source: Source, look: Look) -> Iterator[str]:
    head = f"[{source.number}]"
    shown = f"{_BOLD}{head}{_PLAIN}" if look.colour else head
    yield f"{shown} {visible(source.title)}"
    indent = " " * (len(head) + 1)
    yield f"{indent}{visible(f'{source.file_path}:{source.line_number}')}"
    lines = source.text.split("\n")
    for line in lines[:_MOST_LINES]:
        yield from _folded(line, indent, look)
    if len(lines) > _MOST_LINES:
        yield f"{indent}…"


def _folded(line: str, indent: str, look: Look) -> Iterator[str]:
    """A line in as many as the terminal needs; where code is indented, so is the rest of it."""
    own = indent + " " * (len(line) - len(line.lstrip(" ")))
    shown = visible(line.strip(" "))
    for start, end in wrapped(shown, max(look.width - len(own), _NARROWEST)):
        yield f"{own}{shown[start:end]}".rstrip()
