"""Reads TOML, and tells where in the file each key and value stands."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from duvet.errors import DuvetError
from duvet.model import Place
from duvet.text import BOM, line_at, line_starts, place_of

if TYPE_CHECKING:
    from duvet.config.toml_spans import Keys, Span, Spans

_POSITION = r"(?P<reason>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)"


class TomlError(DuvetError):
    """A file that isn't TOML."""

    def __init__(self, reason: str, path: str, place: Place) -> None:
        message = f"TOML parse error at line {place.line}, column {place.column}: {reason}"
        super().__init__(message, path=path, line=place.line)
        self.place = place


class TomlEncodingError(TomlError):
    """A TOML file that isn't UTF-8."""


class Placed:
    """The values of a file, and where in it each of them stands."""

    def __init__(self, values: dict[str, Any], text: str, path: str) -> None:
        self.values = values
        self.text = text
        self.path = path

    def value_place(self, *keys: str | int) -> Place:
        """The place of a value, or of the nearest table around it: `value_place("source", 0, "pattern")`."""
        return self._place(self.value_span(*keys))

    def key_place(self, *keys: str | int) -> Place:
        """The place of the last of the keys, or of the nearest table around it."""
        spans = self._spans.get(keys)
        return self._place(spans.key if spans else self.value_span(*keys))

    def value_span(self, *keys: str | int) -> Span:
        """The characters of a value, or of the nearest table around it; (0, 0) where there is neither."""
        while keys:
            if spans := self._spans.get(keys):
                return spans.value
            keys = keys[:-1]
        return (0, 0)

    def _place(self, span: Span) -> Place:
        start, end = span
        line = line_at(self._starts, start)
        line_start, line_end = self._starts[line], self._starts[line + 1] - 1
        return Place(line + 1, start - line_start + 1, max(1, min(end, line_end) - start))

    @cached_property
    def _starts(self) -> list[int]:
        return [*line_starts(self.text), len(self.text) + 1]

    @cached_property
    def _spans(self) -> dict[Keys, Spans]:
        raise NotImplementedError


class Toml(Placed):
    """A TOML document; its places are looked for when one is asked for."""

    def headers(self, name: str) -> list[int]:
        """The line of each table in an array of tables: of its `[[name]]`, or of its `{`."""
        lines: list[int] = []
        while spans := self._spans.get((name, len(lines))):
            lines.append(self._place(spans.value).line)
        return lines

    def string(self, *keys: str | int) -> str:
        """A string with its line ends as they stand in the file."""
        start, end = self.value_span(*keys)
        if self.text.find("\r\n", start, end) >= 0:
            from duvet.config.toml_strings import with_line_ends

            return with_line_ends(self.text[start:end])
        value: Any = self.values
        for key in keys:
            value = value[key]
        return str(value)

    @cached_property
    def _spans(self) -> dict[Keys, Spans]:
        from duvet.config.toml_spans import spans

        return spans(self.text)


def parse(data: bytes, path: str) -> Toml:
    """The document in a file, or TomlError."""
    import tomllib

    text = _decode(data, path)
    try:
        return Toml(tomllib.loads(text.removeprefix(BOM)), text, path)
    except RecursionError:
        raise TomlError("nested too deeply", path, Place(1, 1)) from None
    except ValueError as error:
        raise _syntax_error(str(error), text, path) from error


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        raise TomlEncodingError(reason, path, _end_of(before)) from error


def _syntax_error(message: str, text: str, path: str) -> TomlError:
    from duvet.config.toml_reasons import reason

    found = re.fullmatch(_POSITION, message, re.DOTALL)
    if not found:
        # All other limits are about where the text goes wrong; this one is Python's, for whole numbers.
        long = re.search("[0-9_]{4300,}", text)
        return TomlError("number of too many digits", path, place_of(text, *long.span()) if long else Place(1, 1))
    place = Place(int(found["line"]), int(found["column"])) if found["line"] else _end_of(text)
    return TomlError(reason(found["reason"]), path, place)


def _end_of(text: str) -> Place:
    return place_of(text, len(text), len(text))
