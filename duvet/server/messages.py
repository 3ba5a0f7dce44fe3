"""Messages of JSON-RPC: lines to values, what is wrong with them, and values to lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
TOO_MUCH = -32010
"""Of the codes that the protocol leaves to servers: for now there is no room for that."""
LASTING = "subscriptions/listen"
"""Is answered when the client has heard enough: it counts as a stream wherever requests are counted."""
Id = int | str


class RefusedError(Exception):
    """Something that is not a message, with what it is answered."""

    def __init__(self, code: int, message: str, id: Id | None = None) -> None:
        super().__init__(message)
        self.answer = failure(code, message, id)


def failure(code: int, message: str, id: Id | None = None) -> dict[str, Any]:
    """An answer that says what is wrong."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def decoded(line: bytes) -> object:
    """What a line says."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        ##= man/spec/mcp.md#transport
        ##% A line that is not JSON MUST be answered with the error -32700.
        raise RefusedError(PARSE_ERROR, "Parse error: the line is not JSON in UTF-8") from error


def encoded(value: object) -> bytes:
    """The line that says it."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        # Half of a pair that stands for one character, from a file with such a name: it can be told as an escape only.
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def checked(value: object) -> Mapping[str, Any]:
    """The value as the message that it is."""
    if not isinstance(value, dict):
        raise _refused("a message is an object", None)
    id = value["id"] if is_id(value.get("id")) else None
    if value.get("jsonrpc") != "2.0":
        raise _refused('jsonrpc has to be "2.0"', id)
    if "method" not in value and ("result" in value or "error" in value):
        return value
    if not isinstance(value.get("method"), str):
        raise _refused("method has to be a string", id)
    if "id" in value and id is None:
        raise _refused("id has to be a string or an integer", None)
    if not isinstance(value.get("params"), dict | None):
        raise _refused("params has to be an object", id)
    return value


def is_id(value: object) -> bool:
    """Whether a request can be known by that."""
    return isinstance(value, Id) and not isinstance(value, bool)


def _refused(reason: str, id: Id | None) -> RefusedError:
    ##= man/spec/mcp.md#transport
    ##% JSON that is not a message MUST be answered with the error -32600.
    return RefusedError(INVALID_REQUEST, f"Invalid Request: {reason}", id)
