"""The encoding of values in the tables of the index."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeVar, get_args

import msgspec

from duvet.store.records import SymbolKind, SymbolLanguage

Value = TypeVar("Value")

_WORDS: tuple[str, ...] = (*get_args(SymbolKind), *get_args(SymbolLanguage))
"""Frequent words, which are stored as numbers; their order is part of the schema."""
_CODES = {word: number for number, word in enumerate(_WORDS, 1)}
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}")
MAX_PIECES = 1 << 20
"""More than any file has."""


def encode_text(text: str) -> str | bytes:
    """Encode a text; one that is not valid Unicode, such as the name of a file, becomes bytes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")
    return text


def decode_text(value: object) -> str:
    return value if isinstance(value, str) else decode_bytes(value).decode(errors="surrogatepass")


def encode_word(word: str) -> int | str | bytes:
    """Encode the kind or language of a symbol."""
    return _CODES.get(word) or encode_text(word)


def decode_word(value: object) -> str:
    return _WORDS[value - 1] if isinstance(value, int) else decode_text(value)


def encode_hex(text: str) -> str | bytes:
    """Encode hex digits in half the space."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else encode_text(text)


def decode_hex(value: object) -> str:
    return value if isinstance(value, str) else decode_bytes(value).hex()


def decode_count(value: object, most: int = 1 << 62) -> int:
    """Check a count; a damaged column may contain anything, which is a ValueError here and below."""
    if isinstance(value, int) and 0 <= value <= most:
        return value
    raise ValueError(f"{value!r:.40} is no number of anything")


def decode_numbers(values: Sequence[object]) -> list[int]:
    return [decode_count(value) for value in values]


def decode_piece_range(first: object, count: object) -> range:
    """Return the numbers of a file's chunks."""
    start = decode_count(first, 1 << 60)
    return range(start, start + decode_count(count, MAX_PIECES))


def decode_time(value: object) -> float | None:
    if value is None or (isinstance(value, (int, float)) and isfinite(value)):
        return value
    raise ValueError(f"{value!r:.40} is no time")


def decode_bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    raise ValueError(f"{value!r:.40} stands where bytes should")


def pack_record(value: object) -> bytes:
    """Encode a record as JSON, even with strings that are not valid Unicode."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def unpack_record(data: bytes, kind: type[Value]) -> Value:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), kind)


def decode_properties(data: bytes | None) -> dict[str, Any]:
    return unpack_record(data, dict[str, Any]) if data else {}
