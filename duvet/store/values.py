"""How values stand in the tables."""

from __future__ import annotations

import json
import re
from math import isfinite
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


def bound(text: str) -> str | bytes:
    """Text as it is stored; a name of a file may be what sqlite can't take as text."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
    return text


def unbound(value: str | bytes) -> str:
    """The text that was stored."""
    return value if isinstance(value, str) else raw(value).decode(errors="surrogatepass")


def coded(word: str) -> int | str | bytes:
    """What symbols are, and what they are written in, in little room."""
    return _CODES.get(word) or bound(word)


def decoded(value: int | str | bytes) -> str:
    """The word again."""
    return _WORDS[value - 1] if isinstance(value, int) else unbound(value)


def bound_hex(text: str) -> str | bytes:
    """A digest in half the room."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else bound(text)


def unbound_hex(value: str | bytes) -> str:
    """The digest that was stored."""
    return value if isinstance(value, str) else raw(value).hex()


def counted(value: object, most: int = 1 << 62) -> int:
    """A number of something; ValueError for what is none, for a column takes anything."""
    if isinstance(value, int) and 0 <= value <= most:
        return value
    raise ValueError(f"{value!r:.40} is no number of anything")


def timed(value: object) -> float | None:
    """A time, where there is one; ValueError for what is none."""
    if value is None or (isinstance(value, (int, float)) and isfinite(value)):
        return value
    raise ValueError(f"{value!r:.40} is no time")


def raw(value: object) -> bytes:
    """Bytes; ValueError for what is none."""
    if isinstance(value, bytes):
        return value
    raise ValueError(f"{value!r:.40} stands where bytes should")


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
