"""The session with a client on standard input and output: incoming and outgoing messages, and JSON-RPC batches."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import Timer
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from msgspec import Struct, field
from pydantic import ValidationError

from duvet.server import messages as jsonrpc
from duvet.server.application import Application
from duvet.server.live_project import backpressure, set_caller
from duvet.server.protocol.server import DuvetServer, make_server
from duvet.server.stdio.handshake import CHUNK_BYTES, MAX_LINE_BYTES, ClientPipes, LineSplitter, SessionOpening
from duvet.tools.call_context import Caller

GRACE_SECONDS = 10.0  # Seconds that open requests get after the end of the input.
_FLUSH_SECONDS = 2.0
_HANG_UP_SECONDS = 5.0  # Seconds between two checks of whether the client is still connected.
_ATOMIC_BYTES = 4096  # Bytes that a writable pipe accepts without blocking.
MAX_PENDING_REQUESTS = 512
MAX_PENDING_BYTES = 16 * 1024 * 1024
MAX_UNREAD_BYTES = 64 * 1024 * 1024
BATCH_VERSIONS = ("2024-11-05", "2025-03-26")  # The versions of the protocol that have batches.
MAX_BATCH_SIZE = 100
InboundItem = SessionMessage | Exception


def serve_client(wire: ClientPipes, opening: SessionOpening, application: Application, stopping: StopSignal) -> None:
    server = make_server(application, [application.log.record_call])
    with set_caller(Caller(scopes=application.scopes)):
        anyio.run(converse, wire, opening, server, GRACE_SECONDS, stopping)


class StopSignal:
    def __init__(self, seconds: float, exit: Callable[[], object]) -> None:
        self._seconds = seconds  # For open requests to finish.
        self._exit = exit
        self.stop: Callable[[float], object] | None = None  # Called on the first signal; the second ends the process.

    def __call__(self, number: int, frame: object) -> None:
        stop, self.stop = self.stop, None
        if stop is None:
            self._exit()
        else:
            # A tool that blocks the event loop must not keep the process alive.
            timer = Timer(self._seconds + _FLUSH_SECONDS, self._exit)
            timer.daemon = True
            timer.start()
            stop(self._seconds)


async def converse(
    wire: ClientPipes,
    opening: SessionOpening,
    server: DuvetServer,
    grace: float = GRACE_SECONDS,
    stopping: StopSignal | None = None,
) -> None:
    open_stream: type[ByteStream] = PolledStream if hasattr(select, "poll") else ThreadedStream
    reading, writing = open_stream(wire.reading), open_stream(wire.writing)
    outbound = OutboundChannel(writing)
    inbound = InboundChannel(reading, outbound, opening, grace)
    if stopping is not None:
        loop = asyncio.get_running_loop()

        def stop(seconds: float) -> None:
            server.subscriptions.streams.close()
            inbound.stop(seconds)

        stopping.stop = lambda seconds: loop.call_soon_threadsafe(stop, seconds)
    to_server, incoming = anyio.create_memory_object_stream[InboundItem](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:

            async def write() -> None:
                await outbound.run(from_server)
                tasks.cancel_scope.cancel()

            async def end_after_hang_up() -> None:
                # Otherwise, a client that reads no answers would prevent duvet from exiting.
                while not reading.hung_up:
                    await anyio.sleep(min(_HANG_UP_SECONDS, grace))
                # After the end of the input, open requests still have some seconds.
                await anyio.sleep(2 * grace)
                tasks.cancel_scope.cancel()

            tasks.start_soon(inbound.run, to_server)
            tasks.start_soon(write)
            tasks.start_soon(end_after_hang_up)
            answers = CountingSendStream(outgoing)
            backpressure.set(answers)
            await server.run(incoming, answers, server.create_initialization_options())
            tasks.cancel_scope.deadline = anyio.current_time() + _FLUSH_SECONDS
    except* ClientGoneError:
        pass


class PolledStream:
    """Reads and writes a descriptor; waits in the event loop, so that cancelling leaves no thread behind."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll_read = _make_poll(descriptor, select.POLLIN)
        self._poll_write = _make_poll(descriptor, select.POLLOUT)
        self._poll_end = _make_poll(descriptor, 0)

    async def read(self) -> bytes:
        if self._poll_read(0):
            await anyio.lowlevel.checkpoint()
        else:
            await anyio.wait_readable(self._descriptor)
        while True:
            try:
                return os.read(self._descriptor, CHUNK_BYTES)
            except BlockingIOError:
                # Another process with the same descriptor was faster.
                await anyio.wait_readable(self._descriptor)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._poll_write(0):
                await anyio.wait_writable(self._descriptor)
            # The descriptor may be non-blocking nevertheless.
            with suppress(BlockingIOError):
                rest = rest[os.write(self._descriptor, rest[:_ATOMIC_BYTES]) :]

    @property
    def hung_up(self) -> bool:
        return bool(self._poll_end(0))


def _make_poll(descriptor: int, event: int) -> Callable[[int], list[tuple[int, int]]]:
    poll = select.poll()
    poll.register(descriptor, event)
    return poll.poll


class ThreadedStream:
    """Reads and writes in a thread; cancelling a call abandons its thread."""

    hung_up = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self) -> bytes:
        return await anyio.to_thread.run_sync(os.read, self._descriptor, CHUNK_BYTES, abandon_on_cancel=True)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await anyio.to_thread.run_sync(os.write, self._descriptor, rest, abandon_on_cancel=True) :]


ByteStream = PolledStream | ThreadedStream


class ResponseBatch(Struct, eq=False):
    """The answers to messages that arrived as one array, to be sent as one array."""

    answers: list[Any] = []
    size: int = 0  # The size of these messages in bytes.
    pending: list[PendingRequest] = []
    is_read: bool = False  # True if all messages have been passed to the server.


class PendingRequest(Struct, eq=False):
    id: jsonrpc.MessageId
    method: str
    size: int
    batch: ResponseBatch | None
    is_answered: bool  # True if the client has its answer and gets no other.
    settled: anyio.Event = field(default_factory=anyio.Event)


class CountingSendStream(ObjectSendStream[SessionMessage]):
    def __init__(self, stream: MemoryObjectSendStream[SessionMessage]) -> None:
        self._stream = stream
        self._bytes = 0
        self._eased = anyio.Event()

    @property
    def has_room(self) -> bool:
        return self._bytes < MAX_UNREAD_BYTES

    async def wait_until_read(self) -> None:
        await self._eased.wait()

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        size = len(jsonrpc.encode_message(message.result)) if isinstance(message, types.JSONRPCResponse) else 0
        self._bytes += size
        try:
            await self._stream.send(item)
        finally:
            self._bytes -= size
            self._eased.set()
            self._eased = anyio.Event()

    async def aclose(self) -> None:
        await self._stream.aclose()


class ClientGoneError(Exception): ...


class OutboundChannel:
    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._turn = anyio.Lock()
        self._requests: list[PendingRequest] = []
        self._short = 0  # The number of requests that are not streams.
        self._bytes = 0  # The size of all requests.
        self._eased = anyio.Event()
        self._collected = 0  # Bytes of answers that are waiting for the rest of their batch.
        self.version: str | None = None  # The protocol version from the handshake.

    async def run(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with messages:
            async for item in messages:
                message = item.message
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    await self._answer(message.id, _to_plain(message))
                else:
                    await self.send(_to_plain(message))

    async def send(self, value: object) -> None:
        line = jsonrpc.encode_message(value)
        async with self._turn:
            try:
                await self._stream.write(line)
            except OSError as error:
                raise ClientGoneError from error

    async def _answer(self, id: jsonrpc.MessageId | None, answer: dict[str, Any]) -> None:
        request = next((request for request in self._requests if request.id == id), None)
        if request is None:
            await self.send(answer)
            return
        if request.method == "initialize" and "result" in answer:
            self.version = answer["result"]["protocolVersion"]
        if request.batch:
            size = len(jsonrpc.encode_message(answer))
            if self._collected + size > MAX_UNREAD_BYTES:
                message, size = "The answers to the batch are too large; send smaller batches", 0
                answer = jsonrpc.make_error_response(jsonrpc.TOO_MUCH_CODE, message, id)
            request.batch.answers.append(answer)
            request.batch.size += size
            self._collected += size
        elif not request.is_answered:
            await self.send(answer)
        await self.settle(request)

    async def add(self, request: PendingRequest) -> None:
        while self._short >= MAX_PENDING_REQUESTS or self._bytes > MAX_PENDING_BYTES:
            await self._eased.wait()
        self._requests.append(request)
        self._short += request.method != jsonrpc.LISTEN_METHOD
        self._bytes += request.size
        if request.batch:
            request.batch.pending.append(request)

    async def settle(self, request: PendingRequest) -> None:
        self._requests.remove(request)
        self._short -= request.method != jsonrpc.LISTEN_METHOD
        self._bytes -= request.size
        request.settled.set()
        self._eased.set()
        self._eased = anyio.Event()
        if request.batch:
            request.batch.pending.remove(request)
            await self.finish(request.batch)

    async def finish(self, batch: ResponseBatch) -> None:
        if batch.is_read and not batch.pending and batch.answers:
            self._collected -= batch.size
            await self.send(batch.answers)

    async def wait_until_answered(self) -> None:
        while self._short:
            await self._eased.wait()


def _to_plain(message: types.JSONRPCMessage) -> dict[str, Any]:
    if isinstance(message, types.JSONRPCResponse):
        return {"jsonrpc": message.jsonrpc, "id": message.id, "result": jsonrpc.unwrap_array(message.result)}
    return message.model_dump(mode="json", by_alias=True, exclude_unset=True)


class InboundChannel:
    def __init__(self, stream: ByteStream, outbound: OutboundChannel, opening: SessionOpening, grace: float) -> None:
        self._stream = stream
        self._outbound = outbound
        self._opening = opening
        self._is_answered = opening.is_answered
        self._grace = grace
        self._reading = anyio.CancelScope()

    def stop(self, seconds: float) -> None:
        self._grace = seconds
        self._reading.cancel()

    async def run(self, server: MemoryObjectSendStream[InboundItem]) -> None:
        async with server:
            with self._reading:
                async for line in self._read_lines():
                    try:
                        ##= man/spec/mcp.md#limits
                        ##% The server MUST refuse a line of more than 4 MiB on standard input, and an HTTP body above
                        ##% the configured limit, before reading the rest.
                        if line is None:
                            raise jsonrpc.make_refusal(f"the line is too long: the limit is {MAX_LINE_BYTES:,} bytes")
                        value = jsonrpc.decode_message(line)
                        if isinstance(value, list):
                            await self._take_batch(server, value, len(line))
                        else:
                            await self._take_message(server, jsonrpc.check_message(value), len(line), None)
                    except jsonrpc.InvalidMessageError as error:
                        await self._outbound.send(error.answer)
            ##= man/spec/mcp.md#stopping
            ##% On SIGINT or SIGTERM, the server MUST answer the open requests, cancel those that are still open after
            ##% `shutdownTimeout` seconds, and exit with 0.
            with anyio.move_on_after(self._grace):
                await self._outbound.wait_until_answered()

    async def _read_lines(self) -> AsyncIterator[bytes | None]:
        lines = LineSplitter()
        data = self._opening.read
        while data:
            for line in lines.feed(data):
                yield line
            data = b""
            # A closed terminal counts as the end of the input.
            with suppress(OSError):
                data = await self._stream.read()
        for line in lines.end():
            yield line

    async def _take_batch(self, server: MemoryObjectSendStream[InboundItem], values: list[Any], size: int) -> None:
        if self._outbound.version not in BATCH_VERSIONS:
            raise jsonrpc.make_refusal("this protocol version does not support batches")
        if not 0 < len(values) <= MAX_BATCH_SIZE:
            raise jsonrpc.make_refusal(f"a batch must have 1 to {MAX_BATCH_SIZE} messages")
        batch = ResponseBatch()
        for value in values:
            try:
                message = jsonrpc.check_batched_message(value)
                id = message.get("id")
                if any(pending.id == id for pending in batch.pending):
                    raise jsonrpc.make_refusal("a batch must not use an id twice", id)
                await self._take_message(server, message, size // len(values), batch)
            except jsonrpc.InvalidMessageError as error:
                batch.answers.append(error.answer)
        batch.is_read = True
        await self._outbound.finish(batch)

    async def _take_message(
        self,
        server: MemoryObjectSendStream[InboundItem],
        message: Mapping[str, Any],
        size: int,
        batch: ResponseBatch | None,
    ) -> None:
        if "method" not in message:
            with suppress(ValidationError):
                await server.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
            return
        method, params = message["method"], message.get("params")
        if "id" not in message:
            await server.send(SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)))
            return
        pending = PendingRequest(message["id"], method, size, batch, self._is_answered)
        self._is_answered = False
        await self._outbound.add(pending)
        request = types.JSONRPCRequest(jsonrpc="2.0", id=pending.id, method=method, params=params)
        metadata = ServerMessageMetadata(on_request_unanswered=partial(self._outbound.settle, pending))
        await server.send(SessionMessage(request, metadata))
        if method == "initialize":
            # The following messages may depend on the version.
            await pending.settled.wait()
