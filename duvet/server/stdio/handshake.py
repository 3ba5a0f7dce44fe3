"""Answers the first handshake on plain pipes before the SDK is imported."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import msgspec

from duvet.config.service_tables import ServerSection
from duvet.config.settings import ProtocolVersion
from duvet.server import messages

CHUNK_BYTES = 1 << 16
MAX_LINE_BYTES = 4 * 1024 * 1024
_INPUT, _OUTPUT, _ERRORS = range(3)
HANDSHAKES = tuple(version.value for version in ProtocolVersion)
"""The protocol versions that a handshake can negotiate."""
_Objects = dict[str, dict[str, Any]]


class ClientPipes(msgspec.Struct, frozen=True):
    reading: int
    writing: int


class SessionOpening(msgspec.Struct, frozen=True):
    read: bytes  # The input that was read before the session began.
    is_answered: bool = False  # True if the first line has been answered.


def take_standard_streams() -> ClientPipes:
    for descriptor in (_INPUT, _OUTPUT, _ERRORS):
        try:
            os.fstat(descriptor)
        except OSError:
            # Otherwise, a copy of another descriptor would get the number of the missing one.
            os.open(os.devnull, os.O_RDWR)
    wire = ClientPipes(_copy_descriptor(_INPUT), _copy_descriptor(_OUTPUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    ##= man/spec/mcp.md#standard-input-and-output
    ##% The server MUST write only protocol messages to standard output, even if its code or a child process prints
    ##% something else.
    os.dup2(_ERRORS, _OUTPUT)
    return wire


def _copy_descriptor(descriptor: int) -> int:
    copy = os.dup(descriptor)
    os.set_inheritable(copy, False)
    if sys.platform == "win32":
        import msvcrt

        # Otherwise, each line would also end in a carriage return.
        msvcrt.setmode(copy, os.O_BINARY)
    return copy


def answer_handshake(wire: ClientPipes, settings: ServerSection, instructions: str) -> SessionOpening:
    read = bytearray()
    # A descriptor that is no longer readable, such as a closed terminal, counts as the end of the input.
    with suppress(OSError):
        while b"\n" not in read and len(read) <= MAX_LINE_BYTES:
            try:
                data = os.read(wire.reading, CHUNK_BYTES)
            except BlockingIOError:
                select.select([wire.reading], [], [])
                continue
            if not data:
                break
            read += data
    line, end, _ = bytes(read).partition(b"\n")
    answer = make_early_answer(line, settings, instructions) if end else None
    ##= man/spec/mcp.md#connecting
    ##% The server MUST answer `initialize` even if the configuration is invalid.
    if answer:
        rest = memoryview(messages.encode_message(answer))
        while rest:
            try:
                rest = rest[os.write(wire.writing, rest) :]
            except BlockingIOError:
                select.select([], [wire.writing], [])
    return SessionOpening(bytes(read), answer is not None)


class LineSplitter:
    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        self._longest = longest
        self._line = bytearray()
        self._is_skipping = False  # True while the rest of a line that is too long follows.
        self._is_first = True

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield None for each line that is too long."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._add(end)
            yield from self.end()
            self._is_skipping = False
        yield from self._add(rest)

    def end(self) -> Iterator[bytes]:
        line = bytes(self._line)
        self._line.clear()
        if self._is_first:
            # Some shells put a byte order mark before piped data.
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._is_first = False
        if line.strip():
            yield line

    def _add(self, part: bytes) -> Iterator[None]:
        if self._is_skipping:
            return
        self._line += part
        if len(self._line) > self._longest:
            self._line.clear()
            self._is_skipping = True
            yield None


# The parts of a plain handshake. The SDK answers messages that don't match, such as those with a null.
class _Capabilities(msgspec.Struct, frozen=True):
    roots: dict[str, bool] = {}
    sampling: _Objects = {}
    elicitation: _Objects = {}
    experimental: _Objects = {}
    extensions: _Objects = {}
    tasks: Literal["left to the SDK"] = "left to the SDK"


class _ClientInfo(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    version: str
    title: str = ""
    description: str = ""
    website_url: str = ""
    icons: Literal["left to the SDK"] = "left to the SDK"


class _Params(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str
    capabilities: _Capabilities
    client_info: _ClientInfo
    meta: dict[str, str] = msgspec.field(name="_meta", default_factory=dict)


def make_early_answer(line: bytes, settings: ServerSection, instructions: str) -> dict[str, Any] | None:
    try:
        message = messages.check_message(messages.decode_message(line))
        if message.get("method") != "initialize" or "id" not in message:
            return None
        params = msgspec.convert(message.get("params"), _Params)
    except (messages.InvalidMessageError, msgspec.ValidationError):
        return None
    version = params.protocol_version if params.protocol_version in HANDSHAKES else HANDSHAKES[-1]
    # In alphabetical order, as in the SDK's answer.
    result = {
        "capabilities": messages.CAPABILITIES,
        "instructions": instructions,
        "protocolVersion": settings.protocol_version or version,
        "serverInfo": {
            "description": settings.description,
            "name": settings.name,
            "title": settings.title,
            "version": settings.version,
        },
    }
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}
