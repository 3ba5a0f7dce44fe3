import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings, strategies as some
from mcp.server.lowlevel import Server
from mcp_types import RequestParams

from duvet.config.service_tables import ServerSection
from duvet.server.live_project import LiveProject
from duvet.server.messages import LISTEN_METHOD, encode_message
from duvet.server.protocol.server import MAX_SUBSCRIPTIONS, DuvetServer
from duvet.server.protocol.session import ServerRequest
from duvet.server.stdio import handshake, session
from tests.unit.server.clients import HANDSHAKES
from tests.unit.server.servers import INSTRUCTIONS, LONGEST, live_of, server_of
from tests.unit.server.stdio.conversation import FOREVER, JSON, NOTICE, WORDS, OddMethods, lines_of, said
from tests.unit.server.stdio_server import Message, enveloped, hello, request


def result_of(id: object) -> Message:
    return {"jsonrpc": "2.0", "id": id, "result": {}}


def refused(reason: str, id: object = None, code: int = -32600) -> Message:
    message = f"Invalid Request: {reason}" if code == -32600 else reason
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


PING, PONG = request("ping", id=9), result_of(9)
NOT_JSON = refused("Parse error: the message is not JSON in UTF-8", code=-32700)
NO_BATCHES = "this protocol version does not support batches"
NO_IDS: list[Any] = [None, 1.0, 1.5, True, []]
NO_PARAMS: list[Any] = [[], "a"]
WRONG_ID, WRONG_PARAMS = "id must be a string or an integer", "params must be an object"


def answers(server: DuvetServer, *lines: object) -> list[Any]:
    return [json.loads(line) for line in said(server, lines_of(*lines))]


def in_order(found: list[Any]) -> list[Any]:
    return sorted(found, key=str)


@pytest.fixture
def odd() -> OddMethods:
    return OddMethods()


NO_PROJECT = Path("/no/such/folder")  # These tests ask nothing about a project.


@pytest.fixture
def server() -> DuvetServer:
    return server_of(NO_PROJECT)


@pytest.fixture
def patient(odd: OddMethods) -> DuvetServer:
    return server_of(NO_PROJECT, parts=[odd])


DEEP = b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000
NO_JSON = (
    *(b"{", b"hello", b"\x00", b"{'jsonrpc':'2.0'}", "ping".encode("utf-16"), *DEEP),
    *(b'{"jsonrpc":"2.0","id":1,"method":' + end for end in (b'"ping"', b'"ping"} {}', b'"ping\x00"}', b'"p\xff"}')),
    *(b'{"jsonrpc":"2.0","method":"ping","id":' + id + b"}" for id in (b'"\\ud800"', b"NaN", b"1e999")),
)


NO_MESSAGES: list[tuple[Any, str, Any]] = [
    *((one, "a message must be an object", None) for one in (1, "ping", None)),
    ({}, 'jsonrpc must be "2.0"', None),
    ({"id": 4, "method": "ping"}, 'jsonrpc must be "2.0"', 4),
    ({**PING, "jsonrpc": "1.0"}, 'jsonrpc must be "2.0"', 9),
    ({**PING, "jsonrpc": 2.0}, 'jsonrpc must be "2.0"', 9),
    ({"jsonrpc": "2.0", "id": "a"}, "method must be a string", "a"),
    *(({**PING, "method": method}, "method must be a string", 9) for method in (1, None)),
    *(({**PING, "id": id}, WRONG_ID, None) for id in NO_IDS),
    *(({**PING, "params": params}, WRONG_PARAMS, 9) for params in NO_PARAMS),
    ({**NOTICE, "params": []}, WRONG_PARAMS, None),
    ([], NO_BATCHES, None),
    ([PING], NO_BATCHES, None),
]


UNANSWERED: list[Any] = [
    *({"id": 5, "result": {}}, {"id": 5, "result": []}, {"id": None, "error": {"code": 1, "message": "no"}}),
    *({"error": "no"}, {"method": "notifications/nothing"}, {"method": "ping", "params": None}),
    {"method": "notifications/cancelled", "params": {"requestId": 9}},
]


def test_what_is_not_a_request_is_refused_or_has_no_answer(server: DuvetServer) -> None:
    found = answers(server, *NO_JSON, *(message for message, _, _ in NO_MESSAGES), PING)
    expected = [*[NOT_JSON] * len(NO_JSON), *(refused(reason, id) for _, reason, id in NO_MESSAGES), PONG]
    assert in_order(found) == in_order(expected)
    assert answers(server, b"", b" \t\r", *({"jsonrpc": "2.0", **one} for one in UNANSWERED), PING) == [PONG]


def test_ids_come_back_and_odd_spellings_of_a_message_are_answered(server: DuvetServer) -> None:
    ids = ("", "a", "ü\n", 0, -1, 2**63, 10**30)
    assert in_order(answers(server, *({**PING, "id": id} for id in ids))) == in_order(list(map(result_of, ids)))
    for words in (
        json.dumps(PING).encode(),
        b"\xef\xbb\xbf" + json.dumps(PING).encode() + b"\n",
        b"\r\n\r\n" + json.dumps(PING).encode() + b"\r\n\r\n",
        json.dumps({**PING, "params": None, "more": 1}).encode(),
        json.dumps({**PING, "params": {"a": [[[]]] * 3}}).encode(),
        b'{"jsonrpc":"2.0","method":"ping","id":9,"params":{"_meta":{},"a":' + b"[" * 500 + b"]" * 500 + b"}}",
    ):
        assert said(server, words) == [b'{"jsonrpc":"2.0","id":9,"result":{}}\n']


def test_a_line_that_is_too_long_is_refused(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##% The server MUST refuse a line of more than 4 MiB on standard input, and an HTTP body above the configured limit,
    ##% before reading the rest.
    long = b'"' + b"x" * 10_000_000 + b'"'
    longest = json.dumps({**PING, "id": "longest"}).encode().ljust(handshake.MAX_LINE_BYTES)
    too_long = refused(f"the line is too long: the limit is {handshake.MAX_LINE_BYTES:,} bytes")
    found = answers(server, PING, long, longest, longest + b" ", PING)
    assert in_order(found) == in_order([PONG, too_long, result_of("longest"), too_long, PONG])
    # Half a character is written as an escape.
    assert encode_message({"path": "a\udcff\n"}) == b'{"path":"a\\udcff\\n"}\n'
    assert encode_message({"path": "ü\n"}) == '{"path":"ü\\n"}\n'.encode()


def after_greeting(server: DuvetServer, *messages: object, version: str = "2025-03-26") -> list[Any]:
    greeting, *others = answers(server, hello(version), *messages)
    assert greeting["result"]["protocolVersion"] == version
    return others


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_batch_is_answered_with_one_array_where_the_version_has_batches(version: str, server: DuvetServer) -> None:
    batch = [request("ping"), NOTICE, request("ping", id="b"), request("no/such", id=3)]
    # A batch without a request has no answer.
    found = after_greeting(server, [NOTICE, NOTICE], batch, request("ping", id=2), version=version)
    if version not in session.BATCH_VERSIONS:
        assert found == [refused(NO_BATCHES), refused(NO_BATCHES), result_of(2)]
        return
    (array,) = (one for one in found if isinstance(one, list))
    assert [one for one in found if one != array] == [result_of(2)]
    unknown = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "Method not found", "data": "no/such"}}
    assert in_order(array) == in_order([result_of(1), result_of("b"), unknown])


def test_errors_in_a_batch_are_answered_in_its_array(server: DuvetServer) -> None:
    # The era without a handshake has no batches.
    found = answers(server, request("server/discover", enveloped()), [request("tools/list", enveloped(), id=2)])
    assert sorted(("result" in answer, answer["id"]) for answer in found if answer["id"]) == [(True, 1)]
    assert refused(NO_BATCHES) in found
    one = request("ping")
    (found,) = after_greeting(server, [1, one, [], hello(id=2), {**request("ping", id=3), "params": []}, one])
    wrong = [refused("a batch must not contain initialize", 2), refused("a batch must not use an id twice", 1)]
    wrong += [*[refused("a message must be an object")] * 2, refused(WRONG_PARAMS, 3)]
    assert in_order(found) == in_order([result_of(1), *wrong])


def test_the_size_of_a_batch_is_limited(server: DuvetServer) -> None:
    full = [request("ping", id=id) for id in range(session.MAX_BATCH_SIZE)]
    found = after_greeting(server, [], full, [*full, request("ping", id="a")])
    (array,) = (one for one in found if isinstance(one, list))
    assert sorted(answer["id"] for answer in array) == list(range(session.MAX_BATCH_SIZE))
    told = refused(f"a batch must have 1 to {session.MAX_BATCH_SIZE} messages")
    assert [one for one in found if one != array] == [told] * 2


def test_a_cancelled_request_is_missing_in_the_array(patient: DuvetServer) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert after_greeting(patient, [request(FOREVER, id=1), request("ping", id=2)], cancel) == [[result_of(2)]]
    # A request without an answer does not keep the server from ending.
    found = said(patient, lines_of(hello(), request(FOREVER, id=5), request("ping")), grace=0.2)
    assert [json.loads(line)["id"] for line in found] == [0, 1, 5]
    assert json.loads(found[-1])["error"] == {"code": -32000, "message": "Connection closed"}


@contextmanager
def pipes() -> Iterator[tuple[handshake.ClientPipes, FileIO, FileIO]]:
    """Yield the server's descriptors, and the ends at which a client writes and reads; it may close them."""
    (their_reading, writing), (reading, their_writing) = os.pipe(), os.pipe()
    try:
        with FileIO(writing, "w") as writer, FileIO(reading) as reader:
            yield handshake.ClientPipes(their_reading, their_writing), writer, reader
    finally:
        os.close(their_reading)
        os.close(their_writing)


def test_an_early_answer_is_not_repeated(server: DuvetServer) -> None:
    words = lines_of(hello(id="a"), NOTICE, request("ping", id="a"))
    with pipes() as (wire, writing, reading):
        writing.write(words)
        writing.close()
        early = handshake.answer_handshake(wire, ServerSection(), INSTRUCTIONS)
        anyio.run(session.converse, wire, early, server)
        assert (early.read, early.is_answered) == (words, True)
        greeting = handshake.make_early_answer(json.dumps(hello(id="a")).encode(), ServerSection(), INSTRUCTIONS)
        assert reading.read(1 << 16) == encode_message(greeting) + lines_of(result_of("a")).replace(b" ", b"")
    # An incomplete first line is not answered early.
    with pipes() as (wire, writing, _):
        writing.write(lines_of(hello())[:-1])
        writing.close()
        assert handshake.answer_handshake(wire, ServerSection(), INSTRUCTIONS).is_answered is False


def test_services_are_closed_at_the_end(odd: OddMethods) -> None:
    closed: list[str] = []

    async def close() -> None:
        await anyio.lowlevel.checkpoint()
        closed.append("closed")

    for asked in (request("ping"), request(FOREVER)):
        said(server_of(NO_PROJECT, parts=[odd], closers=[close]), lines_of(hello(), asked), grace=0.1)
    assert closed == ["closed"] * 2


def test_a_client_that_reads_nothing_is_not_read_for_long(server: DuvetServer) -> None:
    ping = lines_of(request("ping", id="x" * 1000))

    async def pester(wire: handshake.ClientPipes, writing: FileIO) -> int:
        sent = 0
        with anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.converse, wire, handshake.SessionOpening(lines_of(hello())), server, 0.2)
                with suppress(TimeoutError):
                    while True:
                        with anyio.fail_after(0.5):
                            await anyio.wait_writable(writing)
                        sent += writing.write(ping)
                writing.close()
        return sent

    with pipes() as (wire, writing, _):
        # The waiting answers, plus the bytes in the pipes.
        assert anyio.run(pester, wire, writing) < session.MAX_PENDING_REQUESTS * 2 * len(ping)


def stay(server: DuvetServer, words: bytes, watch: Callable[[FileIO], Awaitable[Any]]) -> Any:
    async def converse_and_watch(wire: handshake.ClientPipes, reading: FileIO) -> Any:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.converse, wire, handshake.SessionOpening(words), server)
            with anyio.fail_after(LONGEST):
                found = await watch(reading)
            tasks.cancel_scope.cancel()
        return found

    with pipes() as (wire, _, reading):
        return anyio.run(converse_and_watch, wire, reading)


async def read_lines(reading: FileIO, count: int) -> list[Message]:
    heard = bytearray()
    while count > 0:
        await anyio.wait_readable(reading)
        data = os.read(reading.fileno(), 1 << 20)
        count -= data.count(b"\n")
        heard += data
    return [json.loads(line) for line in heard.splitlines()]


LARGE = request(FOREVER, {"a": "x" * (handshake.MAX_LINE_BYTES - 100)})


@pytest.mark.parametrize(
    ("requests", "most"),
    [
        ([request(FOREVER, id=id) for id in range(1, 2 * session.MAX_PENDING_REQUESTS)], session.MAX_PENDING_REQUESTS),
        ([LARGE] * 10, session.MAX_PENDING_BYTES // handshake.MAX_LINE_BYTES + 1),
    ],
    ids=["requests", "bytes"],
)
def test_open_requests_are_limited(patient: DuvetServer, odd: OddMethods, requests: list[Message], most: int) -> None:
    stay(patient, lines_of(hello(), *requests), lambda _: anyio.wait_all_tasks_blocked())
    assert odd.waiting == most


def test_open_streams_are_limited(server: DuvetServer) -> None:
    wanted = enveloped({"notifications": {"resourcesListChanged": True}})
    asked = lines_of(*(request(LISTEN_METHOD, wanted, id=id) for id in range(MAX_SUBSCRIPTIONS + 1)))
    found = stay(server, asked, lambda reading: read_lines(reading, MAX_SUBSCRIPTIONS + 1))
    told = [(one["id"], one["error"]["code"], one["error"]["message"]) for one in found if "error" in one]
    assert told == [(MAX_SUBSCRIPTIONS, -32010, "Too many streams are open")]


BIG = "tests/big"
TEXT = "x" * (session.MAX_UNREAD_BYTES // 4)


class BigAnswers:
    def __init__(self, live: LiveProject) -> None:
        self.live = live
        self.made = 0

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler(BIG, RequestParams, self._answer)

    async def _answer(self, ctx: ServerRequest, params: RequestParams) -> dict[str, Any]:
        return {"text": await self.live.ask(self._make)}

    def _make(self, context: object) -> str:
        self.made += 1
        return TEXT


def test_unread_answers_are_limited(project: Path) -> None:
    big = BigAnswers(live_of(project))
    # Nothing is read in a thread later, so that tasks which wait for one don't count as blocked.
    anyio.run(big.live.context)

    async def watch(reading: FileIO) -> int:
        await anyio.wait_all_tasks_blocked()
        made = big.made
        await read_lines(reading, 9)
        return made

    asked = lines_of(hello(), *(request(BIG, id=id) for id in range(1, 9)))
    # One has already been sent.
    assert (stay(server_of(big.live, parts=[big]), asked, watch), big.made) == (5, 8)


def test_answers_of_a_batch_are_limited(project: Path) -> None:
    big, batch = BigAnswers(live_of(project)), [request(BIG, id=id) for id in range(1, 7)]
    server = server_of(big.live, parts=[big])
    _, first, second = said(server, lines_of(hello("2025-03-26"), batch), lines_of([request(BIG, id=7)]))
    told = [one.get("error", {}).get("code") for one in json.loads(first)]
    assert (len(told), told[:3], set(told[3:])) == (6, [None] * 3, {-32010})
    assert json.loads(second)[0]["result"]["text"] == TEXT


METHODS = ["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/get", "resources/subscribe"]
METHODS += ["prompts/get", "completion/complete", "logging/setLevel", "server/discover", "notifications/initialized"]
METHODS += ["notifications/cancelled", ""]
known = some.sampled_from(["name", "arguments", "uri", "path", "cursor", "_meta", "requestId", "ref", "level"])
messages = some.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": some.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": some.integers() | WORDS | JSON,
        "method": some.sampled_from(METHODS) | JSON,
        "params": some.dictionaries(known | WORDS, JSON, max_size=3) | JSON,
        "result": JSON,
        "error": JSON,
    },
).map(lambda message: json.dumps(message).encode())
batches = some.lists(messages, max_size=3).map(lambda many: b"[" + b",".join(many) + b"]")
lines = some.binary(max_size=20) | messages | batches


def check_last_is_answered(server: DuvetServer, sent: list[bytes]) -> None:
    last = "the last one"
    greeting, ping = hello("2025-03-26", id="the first one"), request("ping", id=last)
    found = [json.loads(line) for line in said(server, lines_of(greeting, *sent, ping))]
    assert [one for one in found if isinstance(one, dict) and one["id"] == last] == [result_of(last)]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(some.lists(lines, max_size=5))
def test_the_server_answers_after_any_lines(sent: list[bytes]) -> None:
    check_last_is_answered(server_of(NO_PROJECT), sent)


@pytest.mark.parametrize("method", ["ping", "tools/call", "resources/get", "no/such"])
def test_the_server_answers_after_deeply_nested_lines(method: str, server: DuvetServer) -> None:
    lines = []
    for depth in (100, 800, 900, 950, 990, 1000, 1100, 5000):
        deep = b"[" * depth + b"]" * depth
        given = b'{"name":"resolve_spec_id","path":"/x","arguments":{"url":' + deep + b'},"_meta":{"a":' + deep + b"}}"
        line = b'{"jsonrpc":"2.0","id":%s,"method":"' + method.encode() + b'","params":' + given + b"}"
        lines += [line % b"1", line % deep, b'{"a":' + deep + b"}"]
    check_last_is_answered(server, lines)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [session.PolledStream, session.ThreadedStream])
class TestByteStream:
    """Reads and writes on blocking descriptors without blocking."""

    async def test_all_bytes_arrive(self, kind: Callable[[int], session.ByteStream]) -> None:
        sent = bytes(range(256)) * 4096
        heard = bytearray()

        async def write(writing: FileIO) -> None:
            await kind(writing.fileno()).write(sent)
            writing.close()

        with pipes() as (wire, writing, _), anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write, writing)
                while data := await kind(wire.reading).read():
                    heard += data
        assert heard == sent

    async def test_waiting_can_be_cancelled(self, kind: Callable[[int], session.ByteStream]) -> None:
        with pipes() as (wire, writing, _), anyio.fail_after(LONGEST):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(kind(wire.reading).read)
                tasks.start_soon(kind(writing.fileno()).write, bytes(1 << 21))
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()

    async def test_a_closed_reader_is_an_error(self, kind: Callable[[int], session.ByteStream]) -> None:
        with pipes() as (wire, _, reading):
            reading.close()
            with pytest.raises(BrokenPipeError):
                await kind(wire.writing).write(b"a")


@pytest.mark.anyio
async def test_the_end_of_a_file_and_a_closed_writer_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"words")
    with path.open("rb") as file:
        stream = session.PolledStream(file.fileno())
        assert (await stream.read(), await stream.read(), stream.hung_up) == (b"words", b"", False)
    with pipes() as (wire, writing, _):
        stream = session.PolledStream(wire.reading)
        before = stream.hung_up
        writing.write(b"unread")
        writing.close()
        assert (before, stream.hung_up) == (False, True)
