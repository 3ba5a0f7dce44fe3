"""What is answered to lines that are no messages, and to those that barely are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duvet.server.messages import encode_message
from duvet.server.protocol.server import DuvetServer
from duvet.server.stdio.handshake import MAX_LINE_BYTES
from tests.unit.server.stdio.talking import said
from tests.unit.server.wire import hello, request

PING = request("ping", id=9)
PONG = {"jsonrpc": "2.0", "id": 9, "result": {}}
NOT_JSON = (-32700, "Parse error: the line is not JSON in UTF-8")


def answers(server: DuvetServer, *lines: object) -> list[Any]:
    """What is answered to lines, which go out as they are if they are bytes."""
    words = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return [json.loads(line) for line in said(server, words)]


def refused(code: int, message: str, id: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"hello",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
        b"\x00",
        b'{"jsonrpc":"2.0","id":1,"method":"ping\x00"}',
        b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
        b"{'jsonrpc':'2.0'}",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "ping".encode("utf-16"),
    ],
    ids=range(15),
)
def test_no_json(line: bytes, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST answer a line that is not JSON with the error -32700, and JSON that is not a message with
    ##% -32600.
    assert answers(server, line, PING) == [refused(*NOT_JSON), PONG]


@pytest.mark.parametrize(
    ("message", "reason", "id"),
    [
        (1, "a message is an object", None),
        ("ping", "a message is an object", None),
        (None, "a message is an object", None),
        ({}, 'jsonrpc has to be "2.0"', None),
        ({"id": 4, "method": "ping"}, 'jsonrpc has to be "2.0"', 4),
        ({**PING, "jsonrpc": "1.0"}, 'jsonrpc has to be "2.0"', 9),
        ({**PING, "jsonrpc": 2.0}, 'jsonrpc has to be "2.0"', 9),
        ({"jsonrpc": "2.0", "id": "a"}, "method has to be a string", "a"),
        ({**PING, "method": 1}, "method has to be a string", 9),
        ({**PING, "method": None}, "method has to be a string", 9),
        ({**PING, "id": None}, "id has to be a string or an integer", None),
        ({**PING, "id": 1.0}, "id has to be a string or an integer", None),
        ({**PING, "id": 1.5}, "id has to be a string or an integer", None),
        ({**PING, "id": True}, "id has to be a string or an integer", None),
        ({**PING, "id": []}, "id has to be a string or an integer", None),
        ({**PING, "params": []}, "params has to be an object", 9),
        ({**PING, "params": "a"}, "params has to be an object", 9),
        ({"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}, "params has to be an object", None),
        ([], "this version of the protocol has no batches", None),
        ([PING], "this version of the protocol has no batches", None),
    ],
)
def test_no_message(message: object, reason: str, id: object, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST answer a line that is not JSON with the error -32700, and JSON that is not a message with
    ##% -32600.
    assert answers(server, message, PING) == [refused(-32600, f"Invalid Request: {reason}", id), PONG]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" \t\r",
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 5, "result": []},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}},
        {"jsonrpc": "2.0", "error": "no"},
        {"jsonrpc": "2.0", "method": "notifications/nothing"},
        {"jsonrpc": "2.0", "method": "ping", "params": None},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
    ],
)
def test_what_needs_no_answer(line: object, server: DuvetServer) -> None:
    assert answers(server, line, PING) == [PONG]


@pytest.mark.parametrize("id", ["", "a", "ü\n", 0, -1, 2**63, 10**30])
def test_an_id_comes_back_as_it_was(id: object, server: DuvetServer) -> None:
    assert answers(server, {**PING, "id": id}) == [{**PONG, "id": id}]


@pytest.mark.parametrize(
    "words",
    [
        json.dumps(PING).encode(),
        b"\xef\xbb\xbf" + json.dumps(PING).encode() + b"\n",
        b"\r\n\r\n" + json.dumps(PING).encode() + b"\r\n\r\n",
        json.dumps({**PING, "params": None, "more": 1}).encode(),
        json.dumps({**PING, "params": {"a": [[[]]] * 3}}).encode(),
        b'{"jsonrpc":"2.0","method":"ping","id":9,"params":{"_meta":{},"a":' + b"[" * 500 + b"]" * 500 + b"}}",
    ],
)
def test_what_is_barely_a_message(words: bytes, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST write nothing to its client but messages of the protocol, each one line of UTF-8 that ends in a
    ##% line feed, whatever it or a child process prints.
    assert said(server, words) == [b'{"jsonrpc":"2.0","id":9,"result":{}}\n']


def test_a_line_that_is_too_long(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST refuse a line of more than 4 MiB with the error -32600, and a larger body than configured with
    ##% 413, without reading it all.
    long = b'"' + b"x" * 10_000_000 + b'"'
    longest = json.dumps({**PING, "id": "longest"}).encode().ljust(MAX_LINE_BYTES)
    too_long = refused(-32600, f"Invalid Request: a line has at most {MAX_LINE_BYTES} bytes")
    found = answers(server, PING, long, longest, longest + b" ", PING)
    assert sorted(found, key=str) == sorted([PONG, too_long, {**PONG, "id": "longest"}, too_long, PONG], key=str)


def test_methods_before_the_handshake(server: DuvetServer) -> None:
    found = answers(server, request("tools/list"), request("no/such", id=2), PING, hello())
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in found] == [
        (1, -32602),
        (2, -32601),
        (9, None),
        (0, None),
    ]


def test_half_a_character_is_told_as_an_escape() -> None:
    assert encode_message({"path": "a\udcff\n"}) == b'{"path":"a\\udcff\\n"}\n'
