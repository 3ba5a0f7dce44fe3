"""How values stand in the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

Value = TypeVar("Value")
_WORDS = (
    *("class", "function", "method", "interface", "type", "module"),
    *("python", "typescript", "tsx", "javascript", "go"),
)
"""Words that stand in many rows, of which there may be others; the order is part of the schema."""
_CODES = {word: number for number, word in enumerate(_WORDS, 1)}
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
_MOST_PIECES = 1 << 27
"""Of one file."""


def bound(text: str) -> str | bytes:
    """Text as it is stored; a name of a file may be what sqlite can't take as text."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
    return text


def unbound(value: object) -> str:
    """The text that was stored."""
    return value if isinstance(value, str) else blob(value).decode(errors="surrogatepass")


def blob(value: object) -> bytes:
    """What was stored as it is."""
    if not isinstance(value, bytes):
        raise TypeError("something else stands in the place of text")
    return value


def number(value: object) -> int:
    """The number that was stored."""
    if not isinstance(value, int):
        raise TypeError("something else stands in the place of a number")
    return value


def numbers(values: Sequence[object]) -> list[int]:
    """The numbers that were stored."""
    return [number(value) for value in values]


def time_of(value: object) -> float | None:
    """The time that was stored."""
    if value is not None and not isinstance(value, (int, float)):
        raise TypeError("something else stands in the place of a time")
    return value


def pieces_from(first: object, count: object) -> range:
    """The numbers of the pieces of a file, as many as one can have."""
    start, length = number(first), number(count)
    if not (0 <= start < 1 << 60 and 0 <= length < _MOST_PIECES):
        raise ValueError("a file has pieces that there can't be")
    return range(start, start + length)


def coded(word: str) -> int | str | bytes:
    """What symbols are, and what they are written in, in little room."""
    return _CODES.get(word) or bound(word)


def decoded(value: object) -> str:
    """The word again."""
    return _WORDS[value - 1] if isinstance(value, int) else unbound(value)


def bound_hex(text: str) -> str | bytes:
    """A digest in half the room."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else bound(text)


def unbound_hex(value: object) -> str:
    """The digest that was stored."""
    return value if isinstance(value, str) else blob(value).hex()


def packed(value: object) -> bytes:
    """A record as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def unpacked(data: bytes, kind: type[Value]) -> Value:
    """The record again."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), kind)


def properties(data: bytes | None) -> dict[str, Any]:
    """Those of a node or an edge."""
    return unpacked(data, dict[str, Any]) if data else {}
