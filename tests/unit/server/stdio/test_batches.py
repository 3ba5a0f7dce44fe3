"""Several messages in one array."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duvet.server.protocol.server import DuvetServer
from duvet.server.stdio.session import BATCH_VERSIONS, MAX_BATCH_SIZE
from tests.unit.server.clients import HANDSHAKES
from tests.unit.server.stdio.talking import FOREVER, said
from tests.unit.server.wire import enveloped, hello, request

NOTICE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ping(id: int | str) -> dict[str, Any]:
    return request("ping", id=id)


def pong(id: int | str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": {}}


def refused(reason: str, id: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": f"Invalid Request: {reason}"}}


def after_greeting(server: DuvetServer, *messages: object, version: str = "2025-03-26") -> list[Any]:
    """What is answered to messages after a handshake that came to this version."""
    words = b"".join(json.dumps(message).encode() + b"\n" for message in (hello(version), *messages))
    greeting, *answers = (json.loads(line) for line in said(server, words))
    assert greeting["result"]["protocolVersion"] == version
    return answers


@pytest.mark.parametrize("version", BATCH_VERSIONS)
def test_the_answers_are_one_array(version: str, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it in
    ##% all others, over HTTP too.
    (answers,) = after_greeting(server, [ping(1), NOTICE, ping("b"), request("no/such", id=3)], version=version)
    assert sorted(answers, key=str) == sorted(
        [
            pong(1),
            pong("b"),
            {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "Method not found", "data": "no/such"}},
        ],
        key=str,
    )


@pytest.mark.parametrize("version", [version for version in HANDSHAKES if version not in BATCH_VERSIONS])
def test_later_versions_have_no_batches(version: str, server: DuvetServer) -> None:
    ##= man/spec/mcp.md#standard-input-and-output
    ##= type=test
    ##% The server MUST answer a batch with one array in versions of the protocol that have batches, and refuse it in
    ##% all others, over HTTP too.
    expected = [refused("this version of the protocol has no batches"), pong(2)]
    assert after_greeting(server, [ping(1)], ping(2), version=version) == expected


def test_the_era_without_a_handshake_has_no_batches(server: DuvetServer) -> None:
    messages = [request("server/discover", enveloped()), [request("tools/list", enveloped(), id=2)]]
    answers = [json.loads(line) for line in said(server, b"\n".join(json.dumps(one).encode() for one in messages))]
    assert sorted(("result" in answer, answer["id"]) for answer in answers if answer["id"]) == [(True, 1)]
    assert refused("this version of the protocol has no batches") in answers


def test_what_is_wrong_in_a_batch_is_answered_there(server: DuvetServer) -> None:
    batch = [1, ping(1), [], hello(id=2), {**ping(3), "params": []}, ping(1)]
    (answers,) = after_greeting(server, batch)
    assert sorted(answers, key=str) == sorted(
        [
            refused("a message is an object"),
            pong(1),
            refused("a message is an object"),
            refused("a handshake is no part of a batch", 2),
            refused("params has to be an object", 3),
            refused("the id is used twice in a batch", 1),
        ],
        key=str,
    )


def test_a_batch_without_a_request_has_no_answer(server: DuvetServer) -> None:
    assert after_greeting(server, [NOTICE, NOTICE], ping(1)) == [pong(1)]


def test_a_batch_has_a_size(server: DuvetServer) -> None:
    full = [ping(id) for id in range(MAX_BATCH_SIZE)]
    found = after_greeting(server, [], full, [*full, ping("a")])
    (answers,) = (one for one in found if isinstance(one, list))
    assert sorted(answer["id"] for answer in answers) == list(range(MAX_BATCH_SIZE))
    assert [one for one in found if one != answers] == [refused(f"a batch has from 1 to {MAX_BATCH_SIZE} messages")] * 2


def test_a_cancelled_request_is_missing_in_the_array(patient: DuvetServer) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert after_greeting(patient, [request(FOREVER, id=1), ping(2)], cancel) == [[pong(2)]]
