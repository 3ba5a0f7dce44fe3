"""How values stand in the tables."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

Value = TypeVar("Value")
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
    return value if isinstance(value, str) else value.decode(errors="surrogatepass")


def bound_hex(text: str) -> str | bytes:
    """A digest in half the room."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else bound(text)


def unbound_hex(value: str | bytes) -> str:
    """The digest that was stored."""
    return value if isinstance(value, str) else value.hex()


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
