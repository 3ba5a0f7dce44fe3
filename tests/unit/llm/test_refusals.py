"""What is refused: by a provider, and of what it answers"""

from __future__ import annotations

import gzip

import pytest
from msgspec import json

from duvet.llm.endpoint import MAX_RESPONSE_BYTES
from duvet.llm.records import ModelError, ModelFault
from tests.unit.llm.made import FINE, KEY, at, fails, routing
from tests.unit.llm.wire import Reply, Wire, refuses

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("reply", "code", "message", "hint"),
    [
        (
            refuses(401, "bad key"),
            ModelFault.UNAUTHORIZED,
            "one refuses the key (401): bad key",
            "check the key that `providers.one.apiKey` names",
        ),
        (
            Reply(403),
            ModelFault.UNAUTHORIZED,
            "one refuses the key (403)",
            "check the key that `providers.one.apiKey` names",
        ),
        (
            refuses(404, "no such model"),
            ModelFault.REFUSED,
            "one refuses the request (404): no such model",
            "check `baseUrl` and the model of `providers.one`",
        ),
        (
            Reply(400, b'{"error": "so \\u001b[31mred"}'),
            ModelFault.REFUSED,
            "one refuses the request (400): so [31mred",
            "check `baseUrl` and the model of `providers.one`",
        ),
        (
            Reply(204),
            ModelFault.REFUSED,
            "one refuses the request (204)",
            "check `baseUrl` and the model of `providers.one`",
        ),
    ],
)
async def test_refusals(reply: Reply, code: ModelFault, message: str, hint: str, wire: Wire) -> None:
    wire.plan(reply)
    error, waits = await fails(at(wire))
    assert (error.code, error.message, error.hint, waits) == (code, message, hint, [])
    assert len(wire.asked) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"error": {"message": 7}}', b"[" * 100_000, b'"\xff"'])
async def test_refusals_without_words(body: bytes, wire: Wire) -> None:
    wire.plan(Reply(400, body))
    assert (await fails(at(wire)))[0].message == "one refuses the request (400)"


async def test_long_words_of_a_provider(wire: Wire) -> None:
    wire.plan(refuses(400, "a\n\x1b]0;title\x07\u202e b " + "c" * 5000))
    error, _ = await fails(at(wire))
    assert error.message == "one refuses the request (400): a ]0;title b " + "c" * 186 + "…"
    assert len(error.message.partition(": ")[2]) == 200


async def test_what_is_no_text_is_not_sent(wire: Wire) -> None:
    async with routing({"providers": {"one": at(wire)}}) as made:
        with pytest.raises(ModelError, match="what is asked holds characters that are none"):
            await made.ask("\udcff")
    assert wire.asked == []


async def test_a_redirect_is_not_followed(wire: Wire, other: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% duvet MUST reach a provider over HTTPS unless it runs on the same machine, and MUST NOT follow its redirects.
    wire.plan(Reply(307, headers={"location": f"{other.url}/v1/chat/completions"}))
    other.plan(FINE)
    error, _ = await fails(at(wire, apiKey="$K"), {"K": KEY})
    assert (error.code, error.message) == (ModelFault.REFUSED, "one is elsewhere (307)")
    assert (len(wire.asked), other.asked) == (1, [])


@pytest.mark.parametrize("size", [MAX_RESPONSE_BYTES + 1, 3 * MAX_RESPONSE_BYTES])
async def test_huge(size: int, wire: Wire) -> None:
    wire.plan(Reply(body=b" " * size))
    error, _ = await fails(at(wire))
    assert (error.code, error.message) == (ModelFault.TOO_LARGE, "one answers more than 4,194,304 bytes")


async def test_as_large_as_it_may_be(wire: Wire) -> None:
    wire.plan(Reply(body=FINE.body.ljust(MAX_RESPONSE_BYTES)))
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert (await made.ask()).text == "Hi"


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_bomb(status: int, wire: Wire) -> None:
    bomb = gzip.compress(json.encode({"error": "x" * 20_000_000}))
    wire.plan(Reply(status, bomb, {"content-encoding": "gzip"}))
    error, _ = await fails(at(wire, retries=0))
    assert (
        error.message
        == {
            200: "one answers compressed, which it was not asked for",
            400: "one refuses the request (400)",
            500: "one is out of order (500)",
        }[status]
    )


async def test_a_refusal_without_end(wire: Wire) -> None:
    wire.plan(Reply(400, b'{"error": "' + b"x" * 10_000_000))
    assert (await fails(at(wire)))[0].message == "one refuses the request (400)"
