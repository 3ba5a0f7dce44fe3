"""The session with a stdio client: incoming and outgoing messages."""

from __future__ import annotations

import gc
import os
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from duvet.server.backpressure import limit_answers
from duvet.server.live_project import LiveProject
from duvet.server.messages import (
    INVALID_REQUEST,
    LISTEN_METHOD,
    TOO_MUCH_CODE,
    InvalidMessageError,
    MessageId,
    ServerIdentity,
    check_message,
    decode_message,
    encode_message,
    make_error_response,
    unwrap_array,
)
from duvet.server.stdio.handshake import CHUNK_BYTES, MAX_LINE_BYTES, ClientPipes, LineSplitter, SessionOpening
from duvet.tools.dispatcher import ToolDispatcher

_SURE = 4096
"""Bytes that go without blocking into a pipe which can be written to."""


class ByteStream(Protocol):
    """One direction of a connection."""

    async def read(self) -> bytes:
        """What has arrived; nothing at the end."""

    async def write(self, data: bytes) -> None:
        """Send all of it."""

    @property
    def hung_up(self) -> bool:
        """Whether nobody is at the other end, as far as the system tells."""


def open_byte_stream(descriptor: int) -> ByteStream:
    """The way that this system offers."""
    return PolledStream(descriptor) if hasattr(select, "poll") else ThreadedStream(descriptor)


class PolledStream:
    """Asks whether a call would block, and waits on the event loop if so: nothing is left behind by who gives up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reading = _poll(descriptor, select.POLLIN)
        self._writing = _poll(descriptor, select.POLLOUT)
        self._ending = _poll(descriptor, 0)

    async def read(self) -> bytes:
        if self._reading(0):
            await anyio.lowlevel.checkpoint()
        else:
            await anyio.wait_readable(self._descriptor)
        while True:
            try:
                return os.read(self._descriptor, CHUNK_BYTES)
            except BlockingIOError:
                # Somebody else who holds it was faster.
                await anyio.wait_readable(self._descriptor)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._writing(0):
                await anyio.wait_writable(self._descriptor)
            # It may be set not to block all the same.
            with suppress(BlockingIOError):
                rest = rest[os.write(self._descriptor, rest[:_SURE]) :]

    @property
    def hung_up(self) -> bool:
        return bool(self._ending(0))


def _poll(descriptor: int, event: int) -> Callable[[int], list[tuple[int, int]]]:
    poll = select.poll()
    poll.register(descriptor, event)
    return poll.poll


class ThreadedStream:
    """Blocks in a thread, which is left alone by who gives up."""

    hung_up = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self) -> bytes:
        return await to_thread.run_sync(os.read, self._descriptor, CHUNK_BYTES, abandon_on_cancel=True)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await to_thread.run_sync(os.write, self._descriptor, rest, abandon_on_cancel=True) :]


MAX_PENDING_REQUESTS = 512
"""Requests that are worked on at once; more are read when these are answered."""
MAX_PENDING_BYTES = 16 * 1024 * 1024
"""What they may weigh."""


class ResponseBatch:
    """Messages that came in one array: their answers go out in one."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.size = 0
        """Bytes of these."""
        self.asked: list[PendingRequest] = []
        """Those that await their answers."""
        self.is_read = False
        """Whether all of it has been handed on."""

    @property
    def is_done(self) -> bool:
        return self.is_read and not self.asked


class PendingRequest:
    """One request."""

    def __init__(
        self, id: MessageId, method: str, size: int, batch: ResponseBatch | None, *, is_answered: bool
    ) -> None:
        self.id = id
        self.size = size
        self.batch = batch
        self.is_answered = is_answered
        """Whether the client has its answer, and is not to be sent another."""
        self.begins = method == "initialize"
        self.lasts = method == LISTEN_METHOD
        self.settled = anyio.Event()


class PendingRequests:
    """Those that await their answers."""

    def __init__(self) -> None:
        self._asked: list[PendingRequest] = []
        self._brief = 0
        self._bytes = 0
        self._eased = anyio.Event()

    def add(self, asked: PendingRequest) -> None:
        self._asked.append(asked)
        self._brief += not asked.lasts
        self._bytes += asked.size
        if asked.batch:
            asked.batch.asked.append(asked)

    def find(self, id: MessageId | None) -> PendingRequest | None:
        """The first one with that id."""
        return next((asked for asked in self._asked if asked.id == id), None)

    def settle(self, asked: PendingRequest) -> None:
        """It needs no answer any more."""
        self._asked.remove(asked)
        self._brief -= not asked.lasts
        self._bytes -= asked.size
        if asked.batch:
            asked.batch.asked.remove(asked)
        asked.settled.set()
        self._eased.set()
        self._eased = anyio.Event()

    async def until_room(self) -> None:
        """Wait while there is too much to do."""
        ##= man/spec/mcp.md#limits
        ##% The server MUST stop reading while 512 requests or 16 MiB of them are open, or 64 MiB of answers are unread.
        while self._brief >= MAX_PENDING_REQUESTS or self._bytes > MAX_PENDING_BYTES:
            await self._eased.wait()

    async def until_none(self) -> None:
        """Wait until everything is answered that does not last."""
        while self._brief:
            await self._eased.wait()


MAX_UNREAD_BYTES = 64 * 1024 * 1024


class UnreadAnswers:
    """How many bytes of answers wait."""

    def __init__(self, most: int = MAX_UNREAD_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._eased = anyio.Event()

    @property
    def is_left(self) -> bool:
        return self._bytes < self._most

    async def eased(self) -> None:
        await self._eased.wait()

    def add(self, size: int) -> None:
        """So much more waits."""
        self._bytes += size

    def remove(self, size: int) -> None:
        """So much of it is gone."""
        self._bytes -= size
        self._eased.set()
        self._eased = anyio.Event()


class CountingSendStream:
    """What the server sends into; counts what waits in there from the moment that it is sent."""

    def __init__(self, stream: MemoryObjectSendStream[SessionMessage], unread: UnreadAnswers) -> None:
        self._stream = stream
        self._unread = unread

    async def send(self, item: SessionMessage, /) -> None:
        """Hand it over, when it is its turn."""
        size = len(encode_message(item.message.result)) if isinstance(item.message, JSONRPCResponse) else 0
        self._unread.add(size)
        try:
            await self._stream.send(item)
        finally:
            self._unread.remove(size)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class ClientGoneError(Exception):
    """Nobody listens any more."""


class OutboundChannel:
    """Writes messages, one a line, and keeps an eye on which request each answers."""

    def __init__(self, flow: ByteStream, requests: PendingRequests) -> None:
        self._flow = flow
        self._requests = requests
        self._turn = anyio.Lock()
        self._collected = 0
        self.version: str | None = None
        """The version of the protocol that a handshake has come to."""

    async def run(self, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send everything, until there will be no more."""
        async with said:
            async for one in said:
                message = one.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    await self._answer(message.id, _plain(message))
                else:
                    await self.send(_plain(message))

    async def send(self, value: object) -> None:
        """Write a line, when it is its turn."""
        ##= man/spec/mcp.md#standard-input-and-output
        ##% The server MUST write nothing to its client but messages of the protocol, each one line of UTF-8 that ends
        ##% in a line feed, whatever it or a child process prints.
        line = encode_message(value)
        async with self._turn:
            try:
                await self._flow.write(line)
            except OSError as error:
                raise ClientGoneError from error

    async def _answer(self, id: MessageId | None, answer: dict[str, Any]) -> None:
        asked = self._requests.find(id)
        if asked is None:
            return await self.send(answer)
        if asked.begins and "result" in answer:
            self.version = answer["result"]["protocolVersion"]
        if asked.batch:
            self._collect(asked.batch, id, answer)
        elif not asked.is_answered:
            await self.send(answer)
        return await self.settle(asked)

    def _collect(self, batch: ResponseBatch, id: MessageId | None, answer: dict[str, Any]) -> None:
        """Keep an answer until those to the rest of the batch are there."""
        size = len(encode_message(answer))
        if self._collected + size > MAX_UNREAD_BYTES:
            answer = make_error_response(
                TOO_MUCH_CODE, "The answers to the batch are too large: ask in smaller ones", id
            )
            size = 0
        batch.answers.append(answer)
        batch.size += size
        self._collected += size

    async def settle(self, asked: PendingRequest) -> None:
        """The request has had its answer, or needs none any more."""
        self._requests.settle(asked)
        if asked.batch:
            await self.finish(asked.batch)

    async def finish(self, batch: ResponseBatch) -> None:
        """Send the answers to a batch, once there are all of them, and any."""
        if batch.is_done and batch.answers:
            self._collected -= batch.size
            await self.send(batch.answers)


def _plain(message: JSONRPCMessage) -> dict[str, Any]:
    if isinstance(message, JSONRPCResponse):
        return {"jsonrpc": message.jsonrpc, "id": message.id, "result": unwrap_array(message.result)}
    return message.model_dump(mode="json", by_alias=True, exclude_unset=True)


BATCH_VERSIONS = ("2024-11-05", "2025-03-26")
"""The versions that know batches."""
MAX_BATCH_SIZE = 100
"""Messages of a batch."""

InboundItem = SessionMessage | Exception


class InboundChannel:
    """Reads messages, answers what is none, and hands on what is one."""

    def __init__(
        self,
        flow: ByteStream,
        requests: PendingRequests,
        outbound: OutboundChannel,
        opening: SessionOpening,
        grace: float,
    ) -> None:
        """Once the input has ended, answers have so many seconds of grace."""
        self._flow = flow
        self._requests = requests
        self._outbound = outbound
        self._opening = opening
        self._is_answered = opening.is_answered
        self._grace = grace
        self._lines = LineSplitter()

    async def run(self, server: MemoryObjectSendStream[InboundItem]) -> None:
        """Read to the end, and give what is worked on then the time to be answered."""
        async with server:
            async for line in self._read():
                try:
                    await self._take(server, line)
                except InvalidMessageError as refused:
                    await self._outbound.send(refused.answer)
            with anyio.move_on_after(self._grace):
                await self._requests.until_none()

    async def _read(self) -> AsyncIterator[bytes | None]:
        data = self._opening.read
        while data:
            for line in self._lines.feed(data):
                yield line
            data = await self._next()
        for line in self._lines.end():
            yield line

    async def _next(self) -> bytes:
        # A terminal that is gone is an end, too.
        with suppress(OSError):
            return await self._flow.read()
        return b""

    async def _take(self, server: MemoryObjectSendStream[InboundItem], line: bytes | None) -> None:
        ##= man/spec/mcp.md#limits
        ##% The server MUST refuse a line of more than 4 MiB with the error -32600, and a larger body than configured
        ##% with 413, without reading it all.
        if line is None:
            raise InvalidMessageError(INVALID_REQUEST, f"Invalid Request: a line has at most {MAX_LINE_BYTES} bytes")
        value = decode_message(line)
        if isinstance(value, list):
            await self._take_batch(server, value, len(line))
        else:
            await self._hand_on(server, check_message(value), len(line), None)

    async def _take_batch(self, server: MemoryObjectSendStream[InboundItem], values: list[Any], size: int) -> None:
        ##= man/spec/mcp.md#standard-input-and-output
        ##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it
        ##% in all others, over HTTP too.
        if self._outbound.version not in BATCH_VERSIONS:
            raise InvalidMessageError(INVALID_REQUEST, "Invalid Request: this version of the protocol has no batches")
        if not 0 < len(values) <= MAX_BATCH_SIZE:
            raise InvalidMessageError(
                INVALID_REQUEST, f"Invalid Request: a batch has from 1 to {MAX_BATCH_SIZE} messages"
            )
        batch = ResponseBatch()
        for value in values:
            try:
                await self._hand_on(server, _batched(value, batch), size // len(values), batch)
            except InvalidMessageError as refused:
                batch.answers.append(refused.answer)
        batch.is_read = True
        await self._outbound.finish(batch)

    async def _hand_on(
        self,
        server: MemoryObjectSendStream[InboundItem],
        message: Mapping[str, Any],
        size: int,
        batch: ResponseBatch | None,
    ) -> None:
        if "method" not in message:
            with suppress(ValidationError):
                await server.send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))
        elif "id" not in message:
            notice = JSONRPCNotification(jsonrpc="2.0", method=message["method"], params=message.get("params"))
            await server.send(SessionMessage(notice))
        else:
            await self._ask(server, message, size, batch)

    async def _ask(
        self,
        server: MemoryObjectSendStream[InboundItem],
        message: Mapping[str, Any],
        size: int,
        batch: ResponseBatch | None,
    ) -> None:
        await self._requests.until_room()
        id, method = message["id"], message["method"]
        asked = PendingRequest(id, method, size, batch, is_answered=self._is_answered)
        self._is_answered = False
        self._requests.add(asked)
        request = JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=message.get("params"))
        unanswered = partial(self._outbound.settle, asked)
        await server.send(SessionMessage(request, ServerMessageMetadata(on_request_unanswered=unanswered)))
        if asked.begins:
            # What comes next may depend on the version.
            await asked.settled.wait()


def _batched(value: object, batch: ResponseBatch) -> Mapping[str, Any]:
    message = check_message(value)
    id = message.get("id")
    if message.get("method") == "initialize":
        raise InvalidMessageError(INVALID_REQUEST, "Invalid Request: a handshake is no part of a batch", id)
    if any(asked.id == id for asked in batch.asked):
        raise InvalidMessageError(INVALID_REQUEST, "Invalid Request: the id is used twice in a batch", id)
    return message


GRACE_SECONDS = 10.0
"""Seconds for answers that are awaited when the input ends."""
_FLUSH = 2.0
"""Seconds for the last words."""
_LOOK = 5.0
"""Seconds between two looks at whether the client is still there."""


async def converse(
    wire: ClientPipes, opening: SessionOpening, server: Server[Any], grace: float = GRACE_SECONDS
) -> None:
    """Let the server answer until the client leaves."""
    reading, writing = open_byte_stream(wire.reading), open_byte_stream(wire.writing)
    requests = PendingRequests()
    outbound = OutboundChannel(writing, requests)
    inbound = InboundChannel(reading, requests, outbound, opening, grace)
    to_server, incoming = anyio.create_memory_object_stream[InboundItem](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbound.run, to_server)
            tasks.start_soon(_until, outbound.run(from_server), tasks.cancel_scope.cancel)
            tasks.start_soon(_until, _alone(reading, grace), tasks.cancel_scope.cancel)
            unread = UnreadAnswers()
            with limit_answers(unread):
                options = server.create_initialization_options()
                await server.run(incoming, CountingSendStream(outgoing, unread), options)
            tasks.cancel_scope.deadline = anyio.current_time() + _FLUSH
    except* ClientGoneError:
        pass


async def _until(end: Awaitable[None], stop: Callable[[], None]) -> None:
    await end
    stop()


async def _alone(reading: ByteStream, grace: float) -> None:
    """Come back when the client has closed its side for long: it keeps both from their end where it reads no answer."""
    while not reading.hung_up:
        await anyio.sleep(min(_LOOK, grace))
    # Answers have their grace first, once the end of the input has been read.
    await anyio.sleep(2 * grace)


def serve_client(
    wire: ClientPipes,
    opening: SessionOpening,
    identity: ServerIdentity,
    instructions: str | Callable[[], str],
    live: LiveProject,
    desk: ToolDispatcher,
) -> None:
    """Go on after the opening, until the input ends."""
    import anyio

    from duvet.server.protocol.server import DuvetServer

    server = DuvetServer(identity, instructions, live, desk)
    # What a short run does without: this one may last for days. What is imported is here to stay.
    gc.enable()
    gc.freeze()
    ##= man/spec/mcp.md#standard-input-and-output
    ##% The server MUST exit with 0 at the end of its input, after at most ten seconds for open requests, and
    ##% immediately on SIGINT, SIGTERM or a closed output.
    anyio.run(converse, wire, opening, server)
