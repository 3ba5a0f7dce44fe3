"""Escapes text and JSON for terminals, and measures, cuts, pads and colours text in terminal cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, json, to_builtins

TAB = "    "
COLUMN_GAP = "  "
CUT_MARK = "…"


class TableLook(Struct, frozen=True):
    width: int = 100
    colour: bool = False


class HighlightMarks(Struct, frozen=True):
    before: str
    after: str


_RED, _GREEN, _YELLOW, _MAGENTA, _GREY = (HighlightMarks(f"\x1b[{code}m", "\x1b[0m") for code in (31, 32, 33, 35, 90))
STATE_MARKS: Mapping[str, HighlightMarks] = {
    "uncited": _RED,
    "to do": _MAGENTA,
    "in progress": _YELLOW,
    "needs code": _YELLOW,
    "needs tests": _YELLOW,
    "excepted": _GREY,
    "done": _GREEN,
    "not applicable": _GREY,
}
"""The colours of states on a terminal, the same as in the HTML report (`templates/page/tokens.css`)."""


def paint_text(text: str, marks: HighlightMarks | None) -> str:
    return f"{marks.before}{text}{marks.after}" if marks and text else text


def escape_cell(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else TAB if char == "\t" else f"\\u{{{ord(char):x}}}" for char in text)


def measure_width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_split_cells, text))


def cut_middle(text: str, most: int) -> str:
    """Shorten a text in the middle, because similar names often begin alike."""
    if measure_width(text) <= most:
        return text
    room = most - measure_width(CUT_MARK)
    tail = fit_cells(text[::-1], room // 2)[::-1]
    return fit_cells(text, room - measure_width(tail)) + CUT_MARK + tail


def fit_cells(text: str, most: int) -> str:
    if text.isascii():
        return text[:most]
    used = 0
    for index, char in enumerate(text):
        used += _split_cells(char)
        if used > most:
            return text[:index]
    return text


def wrap_cells(text: str, room: int) -> Iterator[tuple[int, int]]:
    start, end = 0, _find_line_end(text, 0, room)
    while end < len(text):
        blank = text.rfind(" ", start + 1, end + 1)
        yield start, end if blank < 0 else blank
        start = end if blank < 0 else blank + 1
        end = _find_line_end(text, start, room)
    yield start, len(text)


def _find_line_end(text: str, start: int, room: int) -> int:
    count = room + 1
    while True:
        piece = text[start : start + count]
        fits = len(fit_cells(piece, room))
        if fits < len(piece) or start + count >= len(text):
            return start + max(fits, 1)
        # Some characters have no width.
        count *= 2


def align_left(text: str, cells: int) -> str:
    return text + " " * (cells - measure_width(text))


def _split_cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# JSON doesn't escape these characters, but some of them control terminals or change the text direction.
_CONTROLS = rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"


def encode_json(value: Any) -> bytes:
    return re.sub(_CONTROLS, _escape, json.format(_encode(value), indent=2)) + b"\n"


def encode_json_line(value: Any) -> bytes:
    return re.sub(_CONTROLS, _escape, _encode(value)) + b"\n"


def _encode(value: Any) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(_replace_bytes(to_builtins(value)))


def _replace_bytes(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {key: _replace_bytes(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_replace_bytes(inner) for inner in value]
        case _:
            return value


def _escape(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())
