"""Values with their positions in a file, whatever its format, within limits on size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from duvet.config.toml import KeyPath, KeySpans, PlacedValues
from duvet.errors import DuvetError
from duvet.model import Place
from duvet.text import find_place


class DataDocument(Protocol):
    """The values of a file, and where in it they stand."""

    @property
    def values(self) -> dict[str, Any]:
        """What stands in the file."""

    @property
    def path(self) -> str:
        """The path of the file."""

    def value_place(self, *keys: str | int) -> Place:
        """The place of a value, or of the nearest one around it."""

    def key_place(self, *keys: str | int) -> Place:
        """The place of the last of the keys, or of the nearest value around it."""


class DocumentError(DuvetError):
    """A file that isn't what its name says; the message quotes nothing of it but keys."""

    def __init__(self, message: str, path: str, place: Place, hint: str = "", *, is_text: bool = True) -> None:
        super().__init__(message, path=path, line=place.line, hint=hint)
        self.place = place
        self.is_text = is_text


class PlacedDocument(PlacedValues):
    """A document whose places were noted as it was read."""

    def __init__(self, values: dict[str, Any], text: str, path: str, spans: dict[KeyPath, KeySpans]) -> None:
        super().__init__(values, text, path)
        # In place of what would be worked out.
        self._spans = spans


class DocumentDraft:
    """A text that is being read, and the path that errors name."""

    def __init__(self, text: str, path: str, format: str) -> None:
        self.text = text
        self.path = path
        self.format = format

    def broken(self, reason: str, start: int, hint: str = "") -> DocumentError:
        """The format is not kept from this character on."""
        place = find_place(self.text, start, start)
        at = f"at line {place.line}, column {place.column}"
        return DocumentError(f"{self.format} parse error {at}: {reason}", self.path, place, hint)

    def refused(self, message: str, start: int, end: int, hint: str = "") -> DocumentError:
        """The format is kept, but these characters are more than we take."""
        return DocumentError(message, self.path, find_place(self.text, start, end), hint)

    def repeated(self, name: str, start: int, end: int, first: int) -> DocumentError:
        """A key stands here that has stood at `first` already."""
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse duplicate keys, and read YAML by the core schema of YAML 1.2, without other tags or a
        ##% second document.
        before = find_place(self.text, first, first)
        message = f"duplicate key `{name}`, which stands at line {before.line}, column {before.column} already"
        return self.refused(message, start, end, "keep one of them")


MAX_DOCUMENT_BYTES = 1 << 20
MAX_DOCUMENT_LEVELS = 64
MAX_DOCUMENT_VALUES = 100_000
MAX_DOCUMENT_CHARACTERS = 4 << 20
TOO_DEEP = f"nested too deeply: more than {MAX_DOCUMENT_LEVELS} levels"

_Keys = tuple[str | int, ...]


def check_document_size(document: DataDocument) -> None:
    """DocumentError where a document is nested too deeply, or its aliases stand for too much."""
    values, characters = MAX_DOCUMENT_VALUES, MAX_DOCUMENT_CHARACTERS
    pending: list[Iterator[tuple[_Keys, Any]]] = [iter([((), document.values)])]
    while pending:
        keys, value = next(pending[-1], (None, None))
        if keys is None:
            pending.pop()
            continue
        values -= 1
        characters -= _characters(keys, value)
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse a configuration or recipe that is larger than 1 MiB, is nested deeper than 64 levels, or
        ##% expands to more than 100,000 values or 4 Mi characters.
        if not values:
            raise _refused(document, f"more than {MAX_DOCUMENT_VALUES:,} values", keys)
        if characters < 0:
            raise _refused(document, f"more than {MAX_DOCUMENT_CHARACTERS:,} characters of texts and keys", keys)
        if isinstance(value, dict | list):
            if len(pending) > MAX_DOCUMENT_LEVELS:
                raise _refused(document, TOO_DEEP, keys)
            pending.append(_below(keys, value))


def _characters(keys: _Keys, value: Any) -> int:
    """How long the value and its key are; a number is as long as its digits."""
    length = len(keys[-1]) if keys and isinstance(keys[-1], str) else 0
    match value:
        case str():
            return length + len(value)
        case int():
            # Ten bits are three digits.
            return length + value.bit_length() * 3 // 10
    return length


def _below(keys: _Keys, value: dict[str, Any] | list[Any]) -> Iterator[tuple[_Keys, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return (((*keys, key), item) for key, item in items)


def _refused(document: DataDocument, message: str, keys: _Keys) -> DocumentError:
    return DocumentError(message, document.path, document.value_place(*keys))
