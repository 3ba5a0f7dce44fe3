"""The answer to a handshake from plain JSON: what speaks the protocol in full takes half a second to import."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from duvet.config.server import ProtocolVersion
from duvet.server.capabilities import CAPABILITIES
from duvet.server.identity import Identity
from duvet.server.messages import RefusedError, checked, decoded, encoded, is_id
from duvet.server.stdio.blocking import read_some, write_all
from duvet.server.stdio.lines import LONGEST
from duvet.server.stdio.wire import Wire

HANDSHAKES = tuple(version.value for version in ProtocolVersion)
"""The versions that are agreed on in a handshake; the last one is offered to who asks for another."""

_Object = dict[str, Any]
_Objects = dict[str, _Object]


class _Record(Struct, frozen=True, rename="camel"):
    """A part of a request, so narrow that what fits is right without a doubt; the SDK judges what doesn't fit."""


class _Roots(_Record, frozen=True):
    list_changed: bool | UnsetType = UNSET


class _Sampling(_Record, frozen=True):
    context: _Object | UnsetType = UNSET
    tools: _Object | UnsetType = UNSET


class _Elicitation(_Record, frozen=True):
    form: _Object | UnsetType = UNSET
    url: _Object | UnsetType = UNSET


class _Capabilities(_Record, frozen=True):
    roots: _Roots | UnsetType = UNSET
    sampling: _Sampling | UnsetType = UNSET
    elicitation: _Elicitation | UnsetType = UNSET
    experimental: _Objects | UnsetType = UNSET
    extensions: _Objects | UnsetType = UNSET
    tasks: Literal["left to the SDK"] | UnsetType = UNSET


class _ClientInfo(_Record, frozen=True):
    name: str
    version: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    website_url: str | UnsetType = UNSET
    icons: Literal["left to the SDK"] | UnsetType = UNSET


class _Meta(_Record, frozen=True):
    progress_token: str | UnsetType = UNSET


class _Params(_Record, frozen=True):
    protocol_version: str
    capabilities: _Capabilities
    client_info: _ClientInfo
    meta: _Meta | UnsetType = msgspec.field(name="_meta", default=UNSET)


class Opening(Struct, frozen=True):
    """What the client has said so far."""

    read: bytes
    """All of it, for whoever goes on."""
    is_answered: bool = False
    """Whether the first line has its answer."""


def greet(wire: Wire, identity: Identity, instructions: str) -> Opening:
    """Wait for the first line, and answer it at once where that can be done."""
    read = _first_line(wire.reading)
    line, end, _ = read.partition(b"\n")
    answer = early_answer(line, identity, instructions) if end else None
    ##= man/spec/mcp.md#handshake
    ##% The answer to an `initialize` that comes first MUST NOT wait for the import of the SDK, nor for the project.
    if answer:
        write_all(wire.writing, encoded(answer))
    return Opening(read, answer is not None)


def _first_line(descriptor: int) -> bytes:
    read = bytearray()
    # What can't be read any more, such as a terminal that is gone, has come to its end.
    with suppress(OSError):
        while b"\n" not in read and len(read) <= LONGEST and (data := read_some(descriptor)):
            read += data
    return bytes(read)


def early_answer(line: bytes, identity: Identity, instructions: str) -> dict[str, Any] | None:
    """The answer to a line that begins a handshake without a doubt."""
    try:
        message = checked(decoded(line))
        if message.get("method") != "initialize" or not is_id(message.get("id")):
            return None
        params = msgspec.convert(message.get("params"), _Params)
    except (RefusedError, msgspec.ValidationError):
        return None
    ##= man/spec/mcp.md#handshake
    ##% The early answer to `initialize` MUST be what the server would have answered later.
    return {"jsonrpc": "2.0", "id": message["id"], "result": _result(params.protocol_version, identity, instructions)}


def _result(version: str, identity: Identity, instructions: str) -> dict[str, Any]:
    negotiated = version if version in HANDSHAKES else HANDSHAKES[-1]
    # In the order of the SDK, which is that of the alphabet.
    return {
        "capabilities": CAPABILITIES,
        "instructions": instructions,
        "protocolVersion": identity.protocol_version or negotiated,
        "serverInfo": {
            "description": identity.description,
            "name": identity.name,
            "title": identity.title,
            "version": identity.version,
        },
    }
