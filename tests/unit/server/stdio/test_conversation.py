"""How a conversation goes, and how it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from duvet.project.project import Project
from duvet.server.live_project import LiveProject
from duvet.server.messages import LISTEN_METHOD, ServerIdentity, encode_message
from duvet.server.protocol.resources import MAX_SUBSCRIPTIONS as STREAMS
from duvet.server.protocol.server import DuvetServer
from duvet.server.stdio.handshake import MAX_LINE_BYTES as LONGEST_LINE
from duvet.server.stdio.handshake import ClientPipes, SessionOpening, answer_handshake, make_early_answer
from duvet.server.stdio.session import MAX_PENDING_BYTES, MAX_PENDING_REQUESTS, converse
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.stdio.talking import BARE, FOREVER, Odd, said
from tests.unit.server.wire import Message, enveloped, hello, request

LONGEST = 30
NOTICE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def lines_of(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@contextmanager
def pipes() -> Iterator[tuple[ClientPipes, int, int]]:
    """The descriptors of the server, and of a client who writes and reads; it may close its own."""
    (their_reading, writing), (reading, their_writing) = os.pipe(), os.pipe()
    try:
        yield ClientPipes(their_reading, their_writing), writing, reading
    finally:
        os.close(their_reading)
        os.close(their_writing)


def test_an_array_is_bare_on_the_wire(patient: DuvetServer) -> None:
    answers = said(patient, lines_of(hello(), request(BARE)))
    assert answers[1:] == ['{"jsonrpc":"2.0","id":1,"result":[{"a":"ü"}]}\n'.encode()]


def test_what_was_answered_early_is_answered_once(server: DuvetServer) -> None:
    words = lines_of(hello(id="a"), NOTICE, request("ping", id="a"))
    with pipes() as (wire, writing, reading):
        os.write(writing, words)
        os.close(writing)
        early = answer_handshake(wire, ServerIdentity(), INSTRUCTIONS)
        anyio.run(converse, wire, early, server)
        assert (early.read, early.is_answered) == (words, True)
        greeting, *others = os.read(reading, 1 << 16).splitlines()
        assert (
            greeting
            == encode_message(make_early_answer(encode_message(hello(id="a")), ServerIdentity(), INSTRUCTIONS)).rstrip()
        )
        assert others == [b'{"jsonrpc":"2.0","id":"a","result":{}}']
        os.close(reading)


def test_a_first_line_in_pieces(server: DuvetServer) -> None:
    with pipes() as (wire, writing, reading):
        os.write(writing, lines_of(hello())[:-1])
        os.close(writing)
        assert answer_handshake(wire, ServerIdentity(), INSTRUCTIONS).is_answered is False
        os.close(reading)


def test_what_is_never_answered_does_not_keep_it_from_ending(patient: DuvetServer) -> None:
    answers = said(patient, lines_of(hello(), request(FOREVER, id=5), request("ping")), grace=1)
    assert [json.loads(line)["id"] for line in answers] == [0, 1, 5]
    assert json.loads(answers[-1])["error"] == {"code": -32000, "message": "Connection closed"}


@pytest.mark.parametrize("asked", [request("ping"), request(FOREVER)])
def test_what_calls_have_opened_is_closed(project: Path, odd: Odd, asked: Message) -> None:
    ##= man/spec/mcp.md#http
    ##= type=test
    ##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
    closed: list[str] = []

    async def close() -> None:
        await anyio.lowlevel.checkpoint()
        closed.append("closed")

    live = LiveProject(lambda: Project(str(project)), PAGE_SIZE)
    desk = ToolDispatcher(Registry(), live, ToolEnvironment(closers=[close]))
    said(DuvetServer(ServerIdentity(), INSTRUCTIONS, live, desk, parts=[odd]), lines_of(hello(), asked), grace=0.1)
    assert closed == ["closed"]


def test_a_client_that_reads_nothing_is_not_listened_to_for_long(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST exit with 0 at the end of its input, after at most ten seconds for open requests, and
    ##% immediately on SIGINT, SIGTERM or a closed output.
    ping = lines_of(request("ping", id="x" * 1000))

    async def pester(wire: ClientPipes, writing: int) -> int:
        sent = 0
        with anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(converse, wire, SessionOpening(lines_of(hello())), server, 0.2)
                with suppress(TimeoutError):
                    while True:
                        with anyio.fail_after(0.5):
                            await anyio.wait_writable(writing)
                        sent += os.write(writing, ping)
                os.close(writing)
        return sent

    with pipes() as (wire, writing, reading):
        # Each waits with its answer, and what is in the pipes comes on top.
        assert anyio.run(pester, wire, writing) < MAX_PENDING_REQUESTS * 2 * len(ping)
        os.close(reading)


def test_nobody_listens(server: DuvetServer) -> None:
    with pipes() as (wire, writing, reading):
        os.close(reading)

        async def end() -> None:
            with anyio.fail_after(LONGEST):
                await converse(wire, SessionOpening(lines_of(hello())), server)

        anyio.run(end)
        os.close(writing)


def listen(server: DuvetServer, words: bytes) -> None:
    """Let a server take of these words what it takes, from a client that stays."""

    async def stay(wire: ClientPipes) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse, wire, SessionOpening(words), server)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    with pipes() as (wire, writing, reading):
        anyio.run(stay, wire)
        os.close(writing)
        os.close(reading)


def test_only_so_much_is_taken_at_once(patient: DuvetServer, odd: Odd) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST stop reading while 512 requests or 16 MiB of them are open, or 64 MiB of answers are unread.
    listen(patient, lines_of(hello(), *(request(FOREVER, id=id) for id in range(1, 2 * MAX_PENDING_REQUESTS))))
    assert odd.asked == MAX_PENDING_REQUESTS


def test_so_many_bytes_are_taken_at_once(patient: DuvetServer, odd: Odd) -> None:
    large = request(FOREVER, {"a": "x" * (LONGEST_LINE - 100)})
    listen(patient, lines_of(hello(), *(large for _ in range(10))))
    assert odd.asked == MAX_PENDING_BYTES // LONGEST_LINE + 1


def test_whatever_is_answered_makes_room(server: DuvetServer) -> None:
    ids = range(1, 4 * MAX_PENDING_REQUESTS)
    answers = [
        json.loads(line)["id"] for line in said(server, lines_of(hello(), *(request("ping", id=id) for id in ids)))
    ]
    assert sorted(answers) == [0, *ids]


def test_only_so_many_streams_are_open_at_once(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST refuse more than 1,000 subscriptions of a client with the error -32602, and more than 1,000
    ##% streams with -32010.
    wanted = enveloped({"notifications": {"resourcesListChanged": True}})
    words = lines_of(*(request(LISTEN_METHOD, wanted, id=id) for id in range(STREAMS + 1)))
    found: list[Message] = []

    async def stay(wire: ClientPipes, reading: int) -> None:
        heard = b""
        with anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(converse, wire, SessionOpening(words), server)
                while heard.count(b"\n") <= STREAMS:
                    await anyio.wait_readable(reading)
                    heard += os.read(reading, 1 << 16)
                tasks.cancel_scope.cancel()
        found.extend(map(json.loads, heard.splitlines()))

    with pipes() as (wire, writing, reading):
        anyio.run(stay, wire, reading)
        os.close(writing)
        os.close(reading)
    told = [(one["id"], one["error"]["code"], one["error"]["message"]) for one in found if "error" in one]
    assert told == [(STREAMS, -32010, "Too many streams are open")]
