"""How big and how deep a document may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duvet.config.documents.document import Document, DocumentError

MOST_BYTES = 1 << 20
MOST_LEVELS = 64
MOST_VALUES = 100_000
MOST_CHARACTERS = 4 << 20
TOO_DEEP = f"nested too deeply: more than {MOST_LEVELS} levels"

_Keys = tuple[str | int, ...]


def require_modest(document: Document) -> None:
    """DocumentError where a document is nested too deeply, or its aliases stand for too much."""
    values, characters = MOST_VALUES, MOST_CHARACTERS
    pending: list[Iterator[tuple[_Keys, Any]]] = [iter([((), document.values)])]
    while pending:
        keys, value = next(pending[-1], (None, None))
        if keys is None:
            pending.pop()
            continue
        values -= 1
        characters -= _characters(keys, value)
        ##= man/spec/service.md#configuration
        ##% A file that is larger than 1 MiB, nested deeper than 64 levels, or holds more than 100,000 values or 4 Mi
        ##% characters of texts and keys once its aliases are followed, MUST be refused.
        if not values:
            raise _refused(document, f"more than {MOST_VALUES:,} values", keys)
        if characters < 0:
            raise _refused(document, f"more than {MOST_CHARACTERS:,} characters of texts and keys", keys)
        if isinstance(value, dict | list):
            if len(pending) > MOST_LEVELS:
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


def _refused(document: Document, message: str, keys: _Keys) -> DocumentError:
    return DocumentError(message, document.path, document.value_place(*keys))
