"""Draws diagnostics around source excerpts, as awslabs duvet does."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from duvet.reports.cells import escape_cell, measure_width
from duvet.text import byte_length, line_starts

_ERROR, _ADVICE = "\u00d7", "\u261e"
_RED, _CYAN, _MAGENTA, _DIM, _PLAIN = "\x1b[31m", "\x1b[36m", "\x1b[35m", "\x1b[2m", "\x1b[0m"
_TAB = 4
_INDENT = 4  # The width before a message.
# Lines break at blanks, and after a hyphen or a slash within a word.
_WORD = re.compile(r"\S+?[-/](?=\w)|\S+ *| +")


class Slice(Struct, frozen=True):
    path: str
    start: int
    end: int
    label: str


class Diagnostic(Struct, frozen=True):
    message: str
    slice: Slice | None = None
    related: Iterable[Slice] = ()  # Further places; each of them is drawn as separate advice.
    help: str = ""
    is_advice: bool = False


class DrawnFile(Struct, frozen=True):
    text: str
    starts: list[int]  # The offset of each line.

    @classmethod
    def of(cls, text: str) -> DrawnFile:
        starts = line_starts(text)
        return cls(text, starts[:-1] if starts[-1] == len(text) and len(starts) > 1 else starts)

    def line(self, index: int) -> str:
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[index] : end].rstrip("\r\n")


class Canvas(Struct, frozen=True):
    read: Callable[[str], DrawnFile]
    width: int = 80
    colour: bool = False

    def draw(self, diagnostic: Diagnostic) -> Iterator[str]:
        yield from self._draw_one(diagnostic)
        for slice in diagnostic.related:
            yield ""
            yield "Advice: "
            message = f"Related context for:\n {diagnostic.message}"
            yield from self._draw_one(Diagnostic(message, slice, is_advice=True))

    def draw_errors(self, diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
        first, *more = diagnostics
        if not more:
            yield from self.draw(first)
            return
        paint, sign = self._paint, f"  {_ERROR} "
        for diagnostic in (first, *more):
            for line in (*self.draw(diagnostic), ""):
                yield paint(sign, _RED) + line if sign.strip() == _ERROR else f"{paint('  │ ', _RED)}{line.rstrip()}"
                sign = "  │ "
        yield paint("  │ ", _RED)
        yield f"{paint('  ╰─▶ ', _RED)}encountered {len(more) + 1} errors"

    def _draw_one(self, diagnostic: Diagnostic) -> Iterator[str]:
        sign, colour = (_ADVICE, _CYAN) if diagnostic.is_advice else (_ERROR, _RED)
        first, rest = (self._paint(f"  {one} ", colour) for one in (sign, "│"))
        lines = self._wrap(diagnostic.message, _INDENT)
        yield from (f"{first if index == 0 else rest}{line}" for index, line in enumerate(lines))
        if diagnostic.slice:
            yield from self._draw_slice(diagnostic.slice)
        if diagnostic.help:
            lines = self._wrap(diagnostic.help, len("  help: "))
            first = self._paint("  help: ", _CYAN)
            yield from (f"{first if index == 0 else '        '}{line}" for index, line in enumerate(lines))

    def _wrap(self, text: str, indent: int) -> Iterator[str]:
        room = self.width - indent - _INDENT // 2
        for line in text.split("\n"):
            current = ""
            for word in _WORD.findall(escape_cell(line)):
                if current.strip() and measure_width(current + word.rstrip()) > room:
                    yield current.rstrip()
                    current = ""
                current += word
            yield current.rstrip()

    def _draw_slice(self, slice: Slice) -> Iterator[str]:
        source = self.read(slice.path)
        first, last = (max(0, bisect_right(source.starts, at) - 1) for at in (slice.start, max(slice.end - 1, 0)))
        above, below = max(first - 1, 0), min(last + 1, len(source.starts) - 1)
        margin = len(str(below + 1))
        column = byte_length(source.text[source.starts[first] : slice.start]) + 1
        yield f"{' ' * (margin + 2)}╭─[{escape_cell(slice.path)}:{first + 1}:{column}]"
        is_block = last > first
        for index in range(above, below + 1):
            gutter = ""
            if is_block:
                inside = "│   " if first < index < last else "    "
                gutter = self._paint({first: "╭─▶ ", last: "├─▶ "}.get(index, inside), _MAGENTA)
            number = self._paint(f" {index + 1:>{margin}} ", _DIM)
            yield f"{number}│ {gutter}{_show(source.line(index))}"
            if index == last:
                beside = f" {'':{margin}} · "
                yield from (beside + self._paint(line, _MAGENTA) for line in _mark(source, slice, first, is_block))
        yield f"{' ' * (margin + 2)}╰────"

    def _paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self.colour else text


def _mark(source: DrawnFile, slice: Slice, line: int, is_block: bool) -> Iterator[str]:
    label = escape_cell(slice.label)
    if is_block:
        yield f"╰──── {label}"
        return
    begin = source.starts[line]
    text = source.line(line)
    low = measure_width(_show(text[: slice.start - begin]))
    high = max(measure_width(_show(text[: slice.end - begin])), low + 1)
    bar = (low + high) // 2
    yield f"{' ' * low}{'─' * (bar - low)}┬{'─' * (high - bar - 1)}"
    yield f"{' ' * bar}╰── {label}"


def _show(line: str) -> str:
    first, *more = line.split("\t")
    shown = escape_cell(first)
    for part in more:
        shown += " " * (_TAB - measure_width(shown) % _TAB) + escape_cell(part)
    return shown
