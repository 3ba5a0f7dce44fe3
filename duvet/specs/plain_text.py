"""Converts Markdown to plain text, block by block, with a map back to the bytes of the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from duvet.specs.markdown import CONTAINER
from duvet.text import byte_length

if TYPE_CHECKING:
    from duvet.specs.markdown import MarkdownEvent

_LONGEST_RUN = 256
CELL_BREAK = " | "  # The separator between the cells of a row.


class Run(NamedTuple):
    text: str
    start: int
    end: int


class Block(NamedTuple):
    runs: list[Run]
    depth: int = 0  # The number of list items around the block.
    opens_item: bool = False
    number: int | None = None  # The number of the list item that the block begins.
    cells: tuple[tuple[int, int], ...] = ()  # The range of each cell of a row, in characters.
    is_head: bool = False  # Whether the block is the header row of a table.
    code: tuple[tuple[int, int], ...] = ()  # The ranges of code, in characters.
    lines: tuple[int, ...] = ()  # The offsets at which additional lines begin.
    marked: int = 0  # If the block begins with emphasis, a link or code, where this ends.

    @property
    def text(self) -> str:
        return "".join([run.text for run in self.runs])


_INLINE = ("Strong", "Emphasis", "Strikethrough", "Link")
##= man/spec/trace.md#requirements-in-markdown
##% duvet MUST NOT find requirements in code, comments or front matter.
_SKIPPED = ("CodeBlock", "MetadataBlock", "Heading", "Image")
_BLANKS = re.compile(r"\s\s+|[^\S ]+")
_WORD = re.compile(r"\S+")
_INLINE_TAG = re.compile(
    r"a|abbr|b|cite|code|del|em|i|ins|kbd|mark|q|s|samp|small|span|strong|su[bp]|time|u|var", re.IGNORECASE
)
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|pre|textarea)\b.*?(?:</\1\s*>|\Z)|</?([a-z][\w-]*+)[^<>]*+>|<[!?][^<>]*+>",
    re.DOTALL | re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<br\b", re.IGNORECASE)


def read_blocks(data: bytes, events: Iterable[MarkdownEvent]) -> list[Block]:
    """Return the blocks in file order."""
    reader = _BlockReader(data)
    for event in events:
        reader.read(event)
    reader.flush()
    return reader.blocks


class _BlockReader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.blocks: list[Block] = []
        self.depth = 0
        self._numbers: list[int | None] = []  # The number of the next item in each open list.
        self._opening: tuple[int, int | None] | None = None
        """The depth and the number of a list item that has no words yet."""
        self._skipping = 0
        self._pieces: list[Run] = []
        self._code: list[int] = []  # The indexes of pieces that are code.
        self._breaks: list[int] = []  # The indexes of pieces that begin a line.
        self._cells: list[int] = []  # The indexes of pieces at which the cells of the current row begin and end.
        self._marks = 0  # The number of emphasis, link and code elements that are open at the beginning of the block.
        self._marked = 0  # The index of the piece at which the first of these elements ends.
        self._html: list[Run] = []
        self._unread = 0  # Text before this byte belongs to a container's marker, such as that of a note.
        self._items: list[bool] = []  # For each open item, whether it is a list item rather than a container.

    def read(self, event: MarkdownEvent) -> None:
        kind, tag, value, start, end = event
        ##= man/spec/trace.md#requirements-in-markdown
        ##% The text of a requirement MUST NOT contain markup such as bullets, check boxes, emphasis and link targets.
        if kind == "Start":
            self._open(tag, value, start)
        elif kind == "End":
            self._close(tag)
        elif self._skipping or start < self._unread:
            return
        elif kind == "Text":
            self._add(value, start, end)
        elif kind == "Code":
            self._code.append(len(self._pieces))
            self._add_code(value, start, end)
            self._code.append(len(self._pieces))
            if self._code[0] == 0 and not self._marked:
                self._marked = self._code[1]
        elif kind in ("SoftBreak", "HardBreak"):
            self._pieces.append(Run(" ", start, start))
            self._breaks.append(len(self._pieces))
            self._skip_container(end)
        elif kind == "InlineHtml" and _LINE_BREAK.match(value):
            self._pieces.append(Run(" ", start, start))
        elif kind == "Html":
            self._html.append(Run(value, start, end))

    def _skip_container(self, start: int) -> None:
        found = CONTAINER.match(self.data, start) if self.data[start : start + 1] in b"!?:[> \t" else None
        if found:
            self._unread = found.end()

    def _open(self, tag: str, value: object, start: int) -> None:
        if tag in _INLINE:
            self._marks += not self._pieces
            return
        if tag in ("Paragraph", "Item"):
            self._skip_container(start)
        if tag == "Item":
            self._items.append(self._unread <= start)
        if tag in _SKIPPED:
            self._skipping += 1
        if tag == "TableCell":
            if self._pieces:
                self._pieces.append(Run(CELL_BREAK, self._pieces[-1].end, self._pieces[-1].end))
            self._cells.append(len(self._pieces))
        elif tag != "Image":
            self.flush()
        if tag == "Item" and self._items[-1]:
            self.depth += 1
            number = self._numbers[-1]
            self._opening = (self.depth, number)
            self._numbers[-1] = None if number is None else number + 1
        elif tag == "List":
            self._numbers.append(value if isinstance(value, int) else None)

    def _close(self, tag: str) -> None:
        if tag in _INLINE:
            if self._marks and not self._marked:
                self._marked = len(self._pieces)
            return
        if tag in _SKIPPED:
            self._skipping -= 1
        if tag == "TableCell":
            if len(self._pieces) == self._cells[-1] > 0:
                # An empty cell needs no separator.
                self._pieces.pop()
                self._cells[-1] -= 1
            self._cells.append(len(self._pieces))
        elif tag == "HtmlBlock":
            self._read_html()
        elif tag != "Image":
            self.flush(is_head=tag == "TableHead")
        if tag == "Item" and self._items.pop():
            self.depth -= 1
            self._opening = None
        elif tag == "List":
            self._numbers.pop()

    def _add(self, text: str, start: int, end: int) -> None:
        if len(text) == end - start if text.isascii() else self.data[start:end] == text.encode():
            at = 0
            for blank in _BLANKS.finditer(text):
                if at < blank.start():
                    self._pieces.append(_make_run(text[at : blank.start()], start))
                    start = self._pieces[-1].end
                self._pieces.append(_make_run(blank[0], start)._replace(text=" "))
                start = self._pieces[-1].end
                at = blank.end()
            if at < len(text):
                self._pieces.append(Run(text[at:], start, end))
        elif text:
            self._pieces.append(Run(_BLANKS.sub(" ", text), start, end))

    def _add_code(self, text: str, start: int, end: int) -> None:
        at = self.data.find(text.encode(), start, end)
        if at >= 0:
            self._add(text, at, at + len(text.encode()))
            return
        words: list[Run] = []
        at = start
        for word in _WORD.findall(text):
            written = word.encode()
            found = self.data.find(written, at, end)
            if found < 0:
                self._pieces.append(Run(" ".join(text.split()), start, end))
                return
            words += [Run(" ", at, at)] * bool(words)
            words.append(Run(word, found, at := found + len(written)))
        self._pieces += words

    def _read_html(self) -> None:
        self._html = [part for one in self._html for part in split_run(one)]
        whole = "".join([one.text for one in self._html])
        bounds = _find_offsets(self._html)
        at = 0
        for tag in _HTML.finditer(whole):
            self._add_html(at, tag.start(), bounds)
            at = tag.end()
            if not _INLINE_TAG.fullmatch(tag[2] or ""):
                self.flush()
        self._add_html(at, len(whole), bounds)
        self.flush()
        self._html = []

    def _add_html(self, low: int, high: int, bounds: list[int]) -> None:
        index = bisect_right(bounds, low) - 1
        while low < high:
            event, stop = self._html[index], min(high, bounds[index + 1])
            first = low - bounds[index]
            # `split_run` keeps texts short whose bytes must be counted.
            start = event.start + (first if event.text.isascii() else byte_length(event.text[:first]))
            self._add(*_make_run(event.text[first : stop - bounds[index]], start))
            low, index = stop, index + 1

    def flush(self, *, is_head: bool = False) -> None:
        pieces = _trim_runs(self._pieces)
        if any(piece.text for piece in pieces):
            offsets = _find_offsets(pieces)
            is_first = self._opening is not None and self._opening[0] == self.depth
            number = self._opening[1] if self._opening and is_first else None
            if is_first:
                self._opening = None
            bounds, breaks = [offsets[one] for one in self._cells], tuple([offsets[one] for one in self._breaks])
            cells = tuple(zip(bounds[::2], bounds[1::2], strict=False)) if bounds else ()
            bounds = [offsets[one] for one in self._code]
            code = tuple(zip(bounds[::2], bounds[1::2], strict=False)) if bounds else ()
            marked = 0 if cells else offsets[self._marked]
            self.blocks.append(Block(pieces, self.depth, is_first, number, cells, is_head, code, breaks, marked))
        self._pieces, self._code, self._breaks, self._cells = [], [], [], []
        self._marks = self._marked = 0


def _find_offsets(pieces: list[Run]) -> list[int]:
    return list(accumulate([len(piece.text) for piece in pieces], initial=0))


def _make_run(text: str, start: int) -> Run:
    return Run(text, start, start + byte_length(text))


def split_run(run: Run) -> Iterator[Run]:
    """Split long runs that are not ASCII, because finding a character in them means counting bytes."""
    if not run.text:
        return
    if run.text.isascii() or len(run.text) <= _LONGEST_RUN or byte_length(run.text) != run.end - run.start:
        yield run
        return
    at = run.start
    for low in range(0, len(run.text), _LONGEST_RUN):
        part = run.text[low : low + _LONGEST_RUN]
        yield Run(part, at, at := at + byte_length(part))


def _trim_runs(runs: list[Run]) -> list[Run]:
    trimmed: list[Run] = []
    after_blank = True
    for run in runs:
        if after_blank and run.text.startswith(" "):
            start = run.start if run.start == run.end else run.start + 1
            run = Run(run.text[1:], min(start, run.end), run.end)
        after_blank = run.text.endswith(" ") if run.text else after_blank
        trimmed.append(run)
    for index in range(len(trimmed) - 1, -1, -1):
        run = trimmed[index]
        if run.text.endswith(" "):
            trimmed[index] = Run(run.text[:-1], run.start, max(run.start, run.end - 1))
        if trimmed[index].text:
            break
    return trimmed
