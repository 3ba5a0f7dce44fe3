"""Annotations written into a text, and mended there with nothing else changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from duvet.model import Annotation, Edit, Kind
from duvet.sources.style import Style
from duvet.sources.wrapping import WIDTH, field_lines, rewrapped, width, words, wrapped
from duvet.text import WHITESPACE, line_at, line_starts

# A quote on one line does not tell how wide its comment may be.
_WIDEST = 120

_WRITTEN = {Kind.CITATION: "implementation"}


def annotation_lines(
    style: Style,
    indent: str,
    target: str,
    quote: str,
    *,
    kind: Kind = Kind.CITATION,
    fields: Mapping[str, str] | None = None,
    most: int = WIDTH,
) -> list[str]:
    """A new annotation in the style of a source, line by line without line ends, no wider than this where words allow.

    The type is written where it is not the one that the source gives. Fields are named as in a comment: `reason`,
    `level`, `feature`, `tracking-issue`.
    """
    meta, content = f"{indent}{style.meta} ", f"{indent}{style.content} "
    given = {} if kind is style.kind else {"type": _WRITTEN.get(kind, kind.name.lower())}
    room = most - width(meta)
    lines = [f"source={target}" if "=" in target else target]
    for key, value in (given | dict(fields or {})).items():
        lines += field_lines(key, value, room)
    quoted = [" ".join(line) for line in wrapped(words(quote), most - width(content))]
    return [*(meta + line for line in lines), *(content + line for line in quoted)]


def inserted(text: str, line: int, lines: Iterable[str]) -> Edit:
    """The edit that puts lines above this line of a text, ended as it is; beyond the last they are the end."""
    starts, end = line_starts(text), line_end(text, line)
    new = "".join(one + end for one in lines)
    if line <= len(starts):
        return Edit(line, 1, line, 1, new)
    # A last line that has no end gets one.
    ended = "" if text.endswith("\n") or not text else end
    return edit_of(text, len(text), len(text), ended + new)


def line_end(text: str, line: int) -> str:
    """How a line of a text ends; for one without an end, how the line above it does."""
    starts = line_starts(text)
    following = starts[min(line, len(starts) - 1)]
    return "\r\n" if text.endswith("\r\n", 0, following) else "\n"


def indentation(text: str, line: int) -> str:
    """The white space that a line of a text begins with."""
    starts = line_starts(text)
    start = starts[line - 1]
    written = text[start : text.find("\n", start) if line < len(starts) else len(text)]
    return written[: len(written) - len(written.lstrip(WHITESPACE))]


def edit_of(text: str, start: int, end: int, new: str) -> Edit:
    """The edit that puts something in place of these characters."""
    starts = line_starts(text)
    first, last = line_at(starts, start), line_at(starts, end)
    return Edit(first + 1, start - starts[first] + 1, last + 1, end - starts[last] + 1, new)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made; of those that meet, the first in the text is made."""
    starts = line_starts(text)
    parts: list[str] = []
    taken = 0
    spans = [
        (starts[one.line - 1] + one.column - 1, starts[one.end_line - 1] + one.end_column - 1, one.text)
        for one in edits
    ]
    for start, end, new in sorted(dict.fromkeys(spans)):
        if start >= taken:
            parts += text[taken:start], new
            taken = end
    return "".join([*parts, text[taken:]])


def target_edit(text: str, annotation: Annotation, target: str) -> Edit:
    """The edit that gives a comment another target."""
    return edit_of(text, *annotation.source.target, target)


class Line(Struct, frozen=True):
    """A line of a quote: where it begins and ends, where its text does, and its words."""

    start: int
    end: int
    first: int
    last: int
    prefix: str
    words: list[str]


def quote_edits(text: str, annotation: Annotation, style: Style, quote: str) -> tuple[Edit, ...]:
    """The edits that make a comment quote something else."""
    return line_edits(text, _quote_lines(text, annotation, style), quote)


def line_edits(text: str, lines: Sequence[Line], quote: str) -> tuple[Edit, ...]:
    """The edits that put another quote on these lines, whose first and last have text; what is right stays as it is."""
    ##= man/spec/validate.md#mending
    ##% Outside of the lines of targets and quotes, and on those that are right, no byte of a file MUST change.
    filled = [line for line in lines if line.words]
    widest = max(width(text[line.start : line.last]) for line in filled)
    most = widest if len(filled) > 1 else max(widest, _WIDEST)
    rooms = [most - width(line.prefix) for line in lines]
    new = rewrapped([line.words for line in lines], words(quote), rooms)
    changed = [index for index, line in enumerate(lines) if index >= len(new) or line.words != new[index]]
    if len(new) <= len(lines) and all(index < len(new) and lines[index].words for index in changed):
        return tuple(_line_edit(text, lines, new, index) for index in changed)
    first = changed[0] if changed else len(lines) - 1
    while not lines[first].words:
        first -= 1
    return (_flowing(text, lines[first:], new[first:]),)


def _quote_lines(text: str, annotation: Annotation, style: Style) -> list[Line]:
    """The lines from the first to the last with text of the quote, those without any between them, too."""
    found: list[Line] = []
    at, end = annotation.source.quote
    start = text.rfind("\n", 0, at) + 1
    while start < end:
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        if not found:
            first = at
        else:
            behind = text[start:stop].lstrip(WHITESPACE)[len(style.content) :]
            first = stop - len(behind.lstrip(WHITESPACE))
        quoted = text[first:stop].rstrip(WHITESPACE)
        found.append(Line(start, stop, first, first + len(quoted), text[start:first], words(quoted)))
        start = stop + 1
    return found


def _line_edit(text: str, lines: Sequence[Line], new: Sequence[list[str]], index: int) -> Edit:
    """The edit of one line; one that nothing is left for goes away whole."""
    line = lines[index]
    if new[index]:
        return edit_of(text, line.first, line.last, " ".join(new[index]))
    if any(new[:index]):
        return edit_of(text, lines[index - 1].end, line.end, "")
    return edit_of(text, line.start, lines[index + 1].start, "")


def _flowing(text: str, lines: Sequence[Line], new: Sequence[list[str]]) -> Edit:
    """The edit that puts other lines in place of these; lines that are added begin as the last one does."""
    above = text.rfind("\n", 0, lines[0].first) + 1
    end = "\r\n" if text.endswith("\r\n", 0, above) else "\n"
    prefixes = [line.prefix for line in lines if line.words]
    prefixes += prefixes[-1:] * len(new)
    written = [" ".join(line) for line in new if line]
    joined = written[0] + "".join(end + prefix + line for prefix, line in zip(prefixes[1:], written[1:], strict=False))
    return edit_of(text, lines[0].first, lines[-1].last, joined)
