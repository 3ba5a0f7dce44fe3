"""Values with their positions in a file of any format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from duvet.errors import DuvetError
from duvet.model import Place
from duvet.text import find_line_index, find_place, line_starts

KeyPath = tuple[str | int, ...]
TextSpan = tuple[int, int]


class KeySpans(NamedTuple):
    """The characters of a key and of its value; the value of a table with a header is that header."""

    key: TextSpan
    value: TextSpan


SpanFinder = Callable[[str], dict[KeyPath, KeySpans]]


class DataDocument:
    """The values of a file, and the position of each; `find_spans` is called when a position is first asked for."""

    def __init__(self, values: dict[str, Any], text: str, path: str, find_spans: SpanFinder) -> None:
        self.values = values
        self.text = text
        self.path = path
        self._find_spans = find_spans

    def value_place(self, *keys: str | int) -> Place:
        """Return the place of a value, or of the nearest table around it: `value_place("source", 0, "pattern")`."""
        return self._place(self.value_span(*keys))

    def key_place(self, *keys: str | int) -> Place:
        """Return the place of the last of the keys, or of the nearest table around it."""
        spans = self.spans.get(keys)
        return self._place(spans.key if spans else self.value_span(*keys))

    def value_span(self, *keys: str | int) -> TextSpan:
        """Return the characters of a value, or of the nearest table around it; (0, 0) if neither exists."""
        while keys:
            if spans := self.spans.get(keys):
                return spans.value
            keys = keys[:-1]
        return (0, 0)

    def select(self, names: Collection[str]) -> DataDocument:
        """Return a document with these tables alone, and the places of the whole one."""
        values = {name: value for name, value in self.values.items() if name in names}
        return DataDocument(values, self.text, self.path, lambda _: self.spans)

    def _place(self, span: TextSpan) -> Place:
        start, end = span
        line = find_line_index(self._starts, start)
        line_start, line_end = self._starts[line], self._starts[line + 1] - 1
        return Place(line + 1, start - line_start + 1, max(1, min(end, line_end) - start))

    @cached_property
    def spans(self) -> dict[KeyPath, KeySpans]:
        return self._find_spans(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [*line_starts(self.text), len(self.text) + 1]


class DocumentError(DuvetError):
    """A file that is not valid in its format; the message quotes nothing of it but keys."""

    def __init__(self, message: str, path: str, place: Place, hint: str = "", *, is_text: bool = True) -> None:
        super().__init__(message, path=path, line=place.line, hint=hint)
        self.place = place
        self.is_text = is_text
        """False if the file is not UTF-8."""


class DocumentDraft:
    """A text that is being parsed, and the errors about it."""

    def __init__(self, text: str, path: str, format: str) -> None:
        self.text = text
        self.path = path
        self.format = format

    def broken(self, reason: str, place: Place | int, *, is_text: bool = True) -> DocumentError:
        """Return the error for a text that breaks its format at this place or character."""
        if isinstance(place, int):
            place = find_place(self.text, place, place)
        at = f"at line {place.line}, column {place.column}"
        return DocumentError(f"{self.format} parse error {at}: {reason}", self.path, place, is_text=is_text)

    def refused(self, message: str, start: int, end: int, hint: str = "") -> DocumentError:
        """Return the error for characters that the format allows and duvet doesn't."""
        return DocumentError(message, self.path, find_place(self.text, start, end), hint)

    def repeated(self, name: str, start: int, end: int, first: int) -> DocumentError:
        """Return the error for a key that was written at `first` already."""
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse duplicate keys, and read YAML by the core schema of YAML 1.2, without other tags or a
        ##% second document.
        before = find_place(self.text, first, first)
        message = f"duplicate key `{name}`, which stands at line {before.line}, column {before.column} already"
        return self.refused(message, start, end, "keep one of them")


MAX_DOCUMENT_BYTES = 1 << 20
MAX_DOCUMENT_LEVELS = 64
_MAX_VALUES = 100_000
_MAX_CHARACTERS = 4 << 20
TOO_DEEP = f"nested too deeply: more than {MAX_DOCUMENT_LEVELS} levels"


def check_document_size(document: DataDocument) -> None:
    """Raise DocumentError if a document is nested too deeply, or its aliases expand to too much."""
    values, characters = _MAX_VALUES, _MAX_CHARACTERS
    pending: list[Iterator[tuple[KeyPath, Any]]] = [iter([((), document.values)])]
    while pending:
        keys, value = next(pending[-1], (None, None))
        if keys is None:
            pending.pop()
            continue
        values -= 1
        characters -= _count_characters(keys, value)
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse a configuration or recipe that is larger than 1 MiB, is nested deeper than 64 levels, or
        ##% expands to more than 100,000 values or 4 Mi characters.
        message = ""
        if not values:
            message = f"more than {_MAX_VALUES:,} values"
        elif characters < 0:
            message = f"more than {_MAX_CHARACTERS:,} characters of texts and keys"
        elif isinstance(value, dict | list) and len(pending) > MAX_DOCUMENT_LEVELS:
            message = TOO_DEEP
        if message:
            raise DocumentError(message, document.path, document.value_place(*keys))
        if isinstance(value, dict | list):
            pending.append(_list_items(keys, value))


def _count_characters(keys: KeyPath, value: Any) -> int:
    """Return the length of a value and its key; a number is as long as its digits."""
    length = len(keys[-1]) if keys and isinstance(keys[-1], str) else 0
    match value:
        case str():
            return length + len(value)
        case int():
            # Ten bits are three digits.
            return length + value.bit_length() * 3 // 10
    return length


def _list_items(keys: KeyPath, value: dict[str, Any] | list[Any]) -> Iterator[tuple[KeyPath, Any]]:
    # Not inlined as a generator in the loop above: it would read the `keys` of a later turn.
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return (((*keys, key), item) for key, item in items)
