"""Answers the first handshake over plain pipes, before the SDK is imported."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from duvet.config.duvet_tables import ProtocolVersion
from duvet.server.messages import (
    CAPABILITIES,
    InvalidMessageError,
    ServerIdentity,
    check_message,
    decode_message,
    encode_message,
    is_message_id,
)

CHUNK_BYTES = 1 << 16


def read_some(descriptor: int) -> bytes:
    """What has arrived; nothing at the end."""
    while True:
        try:
            return os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            select.select([descriptor], [], [])


def write_all(descriptor: int, data: bytes) -> None:
    """Send all of it."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


MAX_LINE_BYTES = 4 * 1024 * 1024
"""Bytes of a line that is read."""
_MARK = b"\xef\xbb\xbf"


class LineSplitter:
    """Cuts what arrives into lines, and holds no more of a line than may be read."""

    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        self._longest = longest
        self._held = bytearray()
        self._skips = False
        """Whether what comes is the rest of a line that is too long."""
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are whole now, and None for one that is too long, once."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._add(end)
            yield from self._line()
            self._skips = False
        yield from self._add(rest)

    def end(self) -> Iterator[bytes]:
        """The last line, which nothing ends."""
        yield from self._line()

    def _add(self, part: bytes) -> Iterator[None]:
        if self._skips:
            return
        self._held += part
        if len(self._held) > self._longest:
            self._held.clear()
            self._skips = True
            yield None

    def _line(self) -> Iterator[bytes]:
        line = bytes(self._held)
        self._held.clear()
        if not self._begun:
            # Some shells put it before what they pipe.
            line = line.removeprefix(_MARK)
            self._begun = True
        if line.strip():
            yield line


_INPUT, _OUTPUT, _COMPLAINTS = range(3)


class ClientPipes(Struct, frozen=True):
    """Where the client is read from and written to."""

    reading: int
    writing: int


def take_standard_streams() -> ClientPipes:
    """Take the client away from standard input and output: what reads finds nothing, what prints is heard as an error.

    Children inherit that.
    """
    for descriptor in (_INPUT, _OUTPUT, _COMPLAINTS):
        _open_if_closed(descriptor)
    wire = ClientPipes(_private(_INPUT), _private(_OUTPUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    ##= man/spec/mcp.md#standard-input-and-output
    ##% The server MUST write nothing to its client but messages of the protocol, each one line of UTF-8 that ends in a
    ##% line feed, whatever it or a child process prints.
    os.dup2(_COMPLAINTS, _OUTPUT)
    return wire


def _open_if_closed(descriptor: int) -> None:
    """A copy of another descriptor would take the place of one that is missing."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _private(descriptor: int) -> int:
    copy = os.dup(descriptor)
    os.set_inheritable(copy, False)
    if sys.platform == "win32":
        import msvcrt

        # Otherwise each line would end in a carriage return, too.
        msvcrt.setmode(copy, os.O_BINARY)
    return copy


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


class SessionOpening(Struct, frozen=True):
    """What the client has said so far."""

    read: bytes
    """All of it, for whoever goes on."""
    is_answered: bool = False
    """Whether the first line has its answer."""


def answer_handshake(wire: ClientPipes, identity: ServerIdentity, instructions: str) -> SessionOpening:
    """Wait for the first line, and answer it at once where that can be done."""
    read = _first_line(wire.reading)
    line, end, _ = read.partition(b"\n")
    answer = make_early_answer(line, identity, instructions) if end else None
    ##= man/spec/mcp.md#handshake
    ##% The server MUST answer `initialize` without waiting for the SDK or the project, as it would later, and even with
    ##% an invalid configuration.
    if answer:
        write_all(wire.writing, encode_message(answer))
    return SessionOpening(read, answer is not None)


def _first_line(descriptor: int) -> bytes:
    read = bytearray()
    # What can't be read any more, such as a terminal that is gone, has come to its end.
    with suppress(OSError):
        while b"\n" not in read and len(read) <= MAX_LINE_BYTES and (data := read_some(descriptor)):
            read += data
    return bytes(read)


def make_early_answer(line: bytes, identity: ServerIdentity, instructions: str) -> dict[str, Any] | None:
    """The answer to a line that begins a handshake without a doubt."""
    try:
        message = check_message(decode_message(line))
        if message.get("method") != "initialize" or not is_message_id(message.get("id")):
            return None
        params = msgspec.convert(message.get("params"), _Params)
    except (InvalidMessageError, msgspec.ValidationError):
        return None
    return {"jsonrpc": "2.0", "id": message["id"], "result": _result(params.protocol_version, identity, instructions)}


def _result(version: str, identity: ServerIdentity, instructions: str) -> dict[str, Any]:
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
