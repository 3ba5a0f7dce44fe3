"""Whatever a client says, it is answered afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from duvet.server.protocol.server import DuvetServer
from tests.unit.server.conftest import server_of
from tests.unit.server.stdio.talking import said
from tests.unit.server.wire import hello, request

METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/get",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "notifications/initialized",
    "notifications/cancelled",
    "",
)
leaves = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text(max_size=5)
)
values = some.recursive(
    leaves,
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(some.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
known = some.sampled_from(["name", "arguments", "uri", "path", "cursor", "_meta", "requestId", "ref", "level"])
messages = some.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": some.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": some.integers() | some.text(max_size=3) | values,
        "method": some.sampled_from(METHODS) | values,
        "params": some.dictionaries(known | some.text(max_size=3), values, max_size=3) | values,
        "result": values,
        "error": values,
    },
).map(lambda message: json.dumps(message).encode())
lines = (
    some.binary(max_size=20)
    | messages
    | some.lists(messages, max_size=3).map(lambda many: b"[" + b",".join(many) + b"]")
)
LAST: Any = "the last one"


def check(server: DuvetServer, words: list[bytes]) -> None:
    greeting = json.dumps(hello("2025-03-26", id="the first one")).encode()
    last = json.dumps(request("ping", id=LAST)).encode()
    answers = [json.loads(line) for line in said(server, b"\n".join([greeting, *words, last]))]
    assert [one for one in answers if isinstance(one, dict) and one["id"] == LAST] == [
        {"jsonrpc": "2.0", "id": LAST, "result": {}}
    ]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(some.lists(lines, max_size=5))
def test_anything_may_be_said(words: list[bytes]) -> None:
    check(server_of(Path("/no/such/folder")), words)


@pytest.mark.parametrize("depth", [100, 800, 900, 950, 990, 1000, 1100, 5000])
@pytest.mark.parametrize("method", ["ping", "tools/call", "resources/get", "no/such"])
def test_nothing_is_too_deep(method: str, depth: int, server: DuvetServer) -> None:
    deep = b"[" * depth + b"]" * depth
    arguments = b'{"name":"resolve_spec_id","path":"/x","arguments":{"url":' + deep + b'},"_meta":{"a":' + deep + b"}}"
    line = b'{"jsonrpc":"2.0","id":%s,"method":"' + method.encode() + b'","params":' + arguments + b"}"
    check(server, [line % b"1", line % deep, b'{"a":' + deep + b"}"])
