"""What is shown of a thing as text for people, no wider than their terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from duvet.reports.blocks import Block, Code, Facts, Passage, Rows, Title, Words
from duvet.reports.cells import CUT, fitting, left, visible, width, wrapped
from duvet.reports.listing import Look
from duvet.reports.marks import Marks
from duvet.reports.table import table

_INDENT = "  "
_BOLD, _FAINT = Marks("\x1b[1m", "\x1b[0m"), Marks("\x1b[2m", "\x1b[0m")
_RED, _YELLOW, _GREEN, _CYAN = (Marks(f"\x1b[{code}m", "\x1b[0m") for code in (31, 33, 32, 36))
_COLOURS = {
    "done": _GREEN,
    "valid": _GREEN,
    "needs tests": _YELLOW,
    "in progress": _YELLOW,
    "not started": _RED,
    "not valid": _RED,
}


def render(blocks: Iterable[Block], look: Look) -> bytes:
    """The blocks one below another."""
    lines: list[str] = []
    for block in blocks:
        for line in _Writer(look).lines(block):
            # One blank line parts what has to be apart, however it came there.
            if line or (lines and lines[-1]):
                lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")


class _Writer:
    def __init__(self, look: Look) -> None:
        self.look = look

    def lines(self, block: Block) -> Iterator[str]:
        match block:
            case Title():
                yield from self._title(block)
            case Facts():
                yield from self._facts(block)
            case Words(text):
                yield ""
                yield from self._wrapped(text, _INDENT, _BOLD)
                yield ""
            case Passage(text):
                yield ""
                for line in text.split("\n"):
                    own = line[: len(line) - len(line.lstrip(" "))]
                    yield from self._wrapped(line[len(own) :], f"{_INDENT}{own}")
                yield ""
            case Code():
                yield from self._code(block)
            case Rows(listing):
                shown = table(listing, replace(self.look, width=self.look.width - len(_INDENT)))
                yield from (f"{_INDENT}{line}" for line in shown.splitlines())

    def _title(self, title: Title) -> Iterator[str]:
        if title.rank < 3:
            yield ""
        remarks = [self._painted(visible(one), _COLOURS.get(one)) for one in title.remarks]
        name = self._painted(visible(title.text), _CYAN if title.rank == 3 else _BOLD)
        yield "  ".join([name, *remarks])

    def _facts(self, facts: Facts) -> Iterator[str]:
        names = max((width(visible(name)) for name, _ in facts.known), default=0)
        for name, value in facts.known:
            head = f"{_INDENT}{left(visible(name), names)}{_INDENT}"
            room = max(self.look.width - width(head), 20)
            text = visible(value)
            for number, (start, end) in enumerate(wrapped(text, room)):
                before = " " * width(head) if number else self._painted(head, _FAINT)
                yield f"{before}{text[start:end]}"

    def _wrapped(self, text: str, indent: str, marks: Marks | None = None) -> Iterator[str]:
        shown = visible(text)
        for start, end in wrapped(shown, max(self.look.width - width(indent), 20)):
            yield f"{indent}{self._painted(shown[start:end], marks)}".rstrip()

    def _code(self, code: Code) -> Iterator[str]:
        digits = len(str(code.start + len(code.lines) - 1))
        room = self.look.width - len(_INDENT) - digits - 3
        for number, line in enumerate(code.lines, code.start):
            text = visible(line)
            if width(text) > room:
                text = fitting(text, room - 1) + CUT
            own = code.first <= number <= code.last
            gutter = self._painted(f"{number:>{digits}} {'>' if own else '|'}", _FAINT)
            yield f"{_INDENT}{gutter} {self._painted(text, _CYAN if own else None)}".rstrip()
        yield ""

    def _painted(self, text: str, marks: Marks | None) -> str:
        return f"{marks.before}{text}{marks.after}" if marks and text and self.look.colour else text
