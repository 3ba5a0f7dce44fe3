"""What goes wrong with calls: refusals, delays, connections that end, and answers without end."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import json

from duvet.llm.errors import Fault, ModelError
from duvet.llm.http import MOST_BYTES
from duvet.llm.words import plain
from tests.llm.made import KEY, NOW, at, routing
from tests.llm.wire import Reply, Wire, anthropic_says, openai_says, refuses

pytestmark = pytest.mark.anyio
FINE = openai_says("Hi")
DATE = "Tue, 14 Nov 2023 22:13:27 GMT"
"""Seven seconds from now."""


async def fails(section: dict[str, Any], environ: dict[str, str] | None = None) -> tuple[ModelError, list[float]]:
    """Why there is no answer, and what was waited for until then."""
    async with routing({"providers": {"one": section}}, environ) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
        return caught.value, made.clock.waits


@pytest.mark.parametrize(
    ("reply", "code", "message", "hint"),
    [
        (
            refuses(401, "bad key"),
            Fault.UNAUTHORIZED,
            "one refuses the key (401): bad key",
            "check the key that `providers.one.apiKey` names",
        ),
        (
            Reply(403),
            Fault.UNAUTHORIZED,
            "one refuses the key (403)",
            "check the key that `providers.one.apiKey` names",
        ),
        (
            refuses(404, "no such model"),
            Fault.REFUSED,
            "one refuses the request (404): no such model",
            "check `baseUrl` and the model of `providers.one`",
        ),
        (
            Reply(400, b'{"error": "so \\u001b[31mred"}'),
            Fault.REFUSED,
            "one refuses the request (400): so [31mred",
            "check `baseUrl` and the model of `providers.one`",
        ),
        (
            Reply(204),
            Fault.REFUSED,
            "one refuses the request (204)",
            "check `baseUrl` and the model of `providers.one`",
        ),
    ],
)
async def test_refusals(reply: Reply, code: Fault, message: str, hint: str, wire: Wire) -> None:
    wire.plan(reply)
    error, waits = await fails(at(wire))
    assert (error.code, error.message, error.hint, waits) == (code, message, hint, [])
    assert len(wire.asked) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"error": {"message": 7}}', b"[" * 100_000, b'"\xff"'])
async def test_refusals_without_words(body: bytes, wire: Wire) -> None:
    wire.plan(Reply(400, body))
    assert (await fails(at(wire)))[0].message == "one refuses the request (400)"


async def test_long_words_of_a_provider(wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% What a provider says of an error MUST be shown on one line of at most 200 characters, without control characters.
    wire.plan(refuses(400, "a\n\x1b]0;title\x07\u202e b " + "c" * 5000))
    error, _ = await fails(at(wire))
    assert error.message == "one refuses the request (400): a ]0;title b " + "c" * 186 + "…"
    assert len(error.message.partition(": ")[2]) == 200


@pytest.mark.parametrize("said", [f"key {KEY} is wrong", f"{KEY[:5]}\x00{KEY[5:]}", f"{KEY}{KEY}", "x" * 190 + KEY])
async def test_a_key_that_is_said_again(said: str, wire: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% A key MUST NOT be shown or logged, whatever a provider answers.
    wire.plan(refuses(401, said))
    async with routing({"providers": {"one": at(wire, apiKey="$K")}}, {"K": KEY}) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
        assert KEY not in repr(vars(made.router))
        told = [str(caught.value), repr(caught.value), caught.value.hint, *made.log]
    assert "***" in told[0] or said.startswith("x")
    assert not any(KEY[:8] in words or KEY[-8:] in words for words in told)


async def test_a_key_that_is_in_an_answer(wire: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% A key MUST NOT be shown or logged, whatever a provider answers.
    wire.plan(openai_says(f"Your key is {KEY}."))
    wire.files = {"/v1/models": Reply(body=json.encode({"data": [{"id": f"model-{KEY}"}]}))}
    async with routing({"providers": {"one": at(wire, apiKey="$K", discover=True)}}, {"K": KEY}) as made:
        assert (await made.ask()).text == "Your key is ***."
        assert [one.model for one in made.router.known_models()] == ["small", "model-***"]
        assert KEY not in "".join(made.log)


WRITTEN = [KEY.replace("-", "\\u002d"), f"\\u0073{KEY[1:]}", f"{KEY[:5]}\\u0000{KEY[5:]}", f"{KEY[:5]}\\u200b{KEY[5:]}"]
"""The key as JSON may write it."""


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("kind", "says"), [("openai", openai_says), ("anthropic", anthropic_says)])
async def test_a_key_that_an_answer_writes_in_another_way(
    kind: str, says: Callable[[str], Reply], written: str, wire: Wire
) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% A key MUST NOT be shown or logged, whatever a provider answers.
    wire.plan(Reply(body=says("Your key is KEY.").body.replace(b"KEY", written.encode())))
    wire.files = {"/v1/models": Reply(body=f'{{"data": [{{"id": "model-{written}"}}]}}'.encode())}
    async with routing({"providers": {"one": at(wire, kind, apiKey="$K", discover=True)}}, {"K": KEY}) as made:
        assert (await made.ask()).text == "Your key is ***."
        assert [one.model for one in made.router.known_models()] == ["small", "model-***"]
        assert plain("".join(made.log)).find(KEY) == -1


async def test_a_slash_of_a_key_may_be_written_in_two_ways(wire: Wire) -> None:
    wire.plan(Reply(body=openai_says("KEY").body.replace(b"KEY", rb"Bearer ab\/cdef")))
    async with routing({"providers": {"one": at(wire, apiKey="$K")}}, {"K": "ab/cdef"}) as made:
        assert (await made.ask()).text == "Bearer ***"


async def test_a_key_that_stands_among_hints(wire: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% A key MUST NOT be shown or logged, whatever a provider answers.
    wire.plan(FINE)
    hidden = f"{KEY[:5]}\x00{KEY[5:]}"
    text = f"## Models\n- [model {KEY}](https://h/{KEY}): {'x' * 190} {KEY}\n- [{hidden}](u): {hidden}\n"
    wire.files = {"/llms.txt": Reply(body=text.encode())}
    async with routing({"providers": {"one": at(wire, apiKey="$K", llmsTxt=True)}}, {"K": KEY}) as made:
        await made.ask()
        assert [(one.model, one.url, one.note) for one in made.router.known_models()] == [
            ("small", "", ""),
            ("model ***", "https://h/***", f"{'x' * 190} ***"),
            ("***", "u", "***"),
        ]


async def test_what_is_no_text_is_not_sent(wire: Wire) -> None:
    async with routing({"providers": {"one": at(wire)}}) as made:
        with pytest.raises(ModelError, match="what is asked holds characters that are none"):
            await made.ask("\udcff")
    assert wire.asked == []


async def test_a_redirect_is_not_followed(wire: Wire, other: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% duvet MUST NOT follow where a provider redirects to.
    wire.plan(Reply(307, headers={"location": f"{other.url}/v1/chat/completions"}))
    other.plan(FINE)
    error, _ = await fails(at(wire, apiKey="$K"), {"K": KEY})
    assert (error.code, error.message) == (Fault.REFUSED, "one is elsewhere (307)")
    assert (len(wire.asked), other.asked) == (1, [])


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_what_is_out_of_order_is_tried_again(status: int, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% What a provider refuses for now, and what fails on the way, MUST be tried again as often as the configuration
    ##% says.
    wire.plan(refuses(status, "overloaded"), refuses(status, "overloaded"), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert (await made.ask()).text == "Hi"
        assert made.clock.waits == [0.5, 1.0]
    wire.replies.appendleft(refuses(status, "overloaded"))
    error, waits = await fails(at(wire, retries=0))
    assert (error.code, error.message) == (Fault.UNAVAILABLE, f"one is out of order ({status}): overloaded")
    assert waits == []


async def test_tried_as_often_as_is_said(wire: Wire) -> None:
    wire.plan(Reply(500))
    error, waits = await fails(at(wire, retries=7))
    assert (error.code, waits, len(wire.asked)) == (Fault.UNAVAILABLE, [0.5, 1, 2, 4, 8, 8, 8], 8)


@pytest.mark.parametrize("reply", [Reply(body=FINE.body, is_cut=True), Reply(500, b"{", is_cut=True)])
async def test_a_connection_that_is_cut(reply: Reply, wire: Wire) -> None:
    wire.plan(reply, FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", [0.5])


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ##= man/spec/ask.md#keys
        ##= type=test
        ##% The `baseUrl` of a provider MUST NOT be shown or logged where a call goes wrong, neither its host nor a secret
        ##% in its path.
        base = f"http://127.0.0.1:{taken.getsockname()[1]}"
        error, waits = await fails({"baseUrl": base, "defaultModel": "m"})
    assert (error.code, error.message) == (Fault.UNAVAILABLE, "one can't be reached: ConnectError")
    assert (error.hint, waits) == ("is `providers.one.baseUrl` right, and up?", [0.5, 1.0])


async def test_a_host_and_a_path_that_are_said_again(wire: Wire) -> None:
    ##= man/spec/ask.md#keys
    ##= type=test
    ##% The `baseUrl` of a provider MUST NOT be shown or logged where a call goes wrong, neither its host nor a secret in
    ##% its path.
    host, port = wire.url.removeprefix("http://").split(":")
    base = f"{wire.url}/tenant-7c3e/v1"
    wire.plan(refuses(404, f"no {base}/chat, none at {host}:{port}, at {host}, at \u200b/tenant-\u200b7c3e/v1/chat"))
    error, _ = await fails({"baseUrl": base, "defaultModel": "m"})
    assert error.message == "one refuses the request (404): no ***/chat, none at ***, at ***, at /***/v1/chat"


async def test_hints_that_can_not_be_reached_are_told_of_without_the_host(wire: Wire) -> None:
    wire.plan(FINE)
    wire.files = {
        "/llms.txt": Reply(404, b'{"error": "not at %s"}' % wire.url.encode()),
        "/v1/models": Reply(is_cut=True),
    }
    async with routing({"providers": {"one": at(wire, discover=True, llmsTxt=True)}}) as made:
        await made.ask()
        assert made.log == [
            "models can't be looked up: one can't be reached: RemoteProtocolError",
            "llms.txt can't be looked up: one refuses the request (404): not at ***",
        ]


@pytest.mark.parametrize(
    ("after", "waits"), [("3", [3.0]), ("0", [0.0]), ("1.5", [1.5]), (DATE, [7.0]), ("soon", [0.5]), ("-5", [0.5])]
)
async def test_a_provider_is_waited_for(after: str, waits: list[float], wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% The time that a provider asks to wait MUST be waited where it is not too long, and MUST be an error where it is.
    wire.plan(refuses(429, "slow down", retry_after=after), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", waits)


@pytest.mark.parametrize(
    ("after", "hint"),
    [
        ("3600", "try again in 3600 seconds"),
        ("9" * 18, "try again later"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "try again later"),
    ],
)
async def test_a_provider_that_wants_to_be_waited_for_too_long(after: str, hint: str, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% The time that a provider asks to wait MUST be waited where it is not too long, and MUST be an error where it is.
    wire.plan(refuses(429, "slow down", retry_after=after), FINE)
    error, waits = await fails(at(wire))
    assert (error.code, error.message) == (Fault.RATE_LIMITED, "one takes no more for now (429): slow down")
    assert (error.hint, waits, len(wire.asked)) == (hint, [], 1)


@pytest.mark.parametrize(
    "after", ["9" * 400, "Sun, 99 Foo 2023", "Tue, 14 Nov 99999 22:13:27 GMT", "nan", "1e9", "\u0665"]
)
async def test_a_wait_that_makes_no_sense(after: str, wire: Wire) -> None:
    headers = {"retry-after": after} if after.isascii() else {"retry-after": after.encode().decode("latin-1")}
    wire.plan(Reply(429, headers=headers), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", [0.5])


@pytest.mark.parametrize("place", ["headers", "body"])
@pytest.mark.parametrize("status", [200, 500])
async def test_slow(place: str, status: int, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% A call MUST be over within the time limit of its provider, with all that is tried again.
    wire.plan(Reply(status, FINE.body, stops_before=place))
    error, _ = await fails(at(wire, timeout=0.2))
    assert (error.code, error.message) == (Fault.TIMEOUT, "one has not answered within 0.2 seconds")
    assert len(wire.asked) == 1


async def test_no_wait_is_longer_than_an_answer_may_take(wire: Wire) -> None:
    wire.plan(refuses(429, retry_after="6"), FINE)
    error, waits = await fails(at(wire, timeout=5))
    assert (error.code, waits) == (Fault.RATE_LIMITED, [])


@pytest.mark.parametrize("size", [MOST_BYTES + 1, 3 * MOST_BYTES])
async def test_huge(size: int, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% An answer that is larger than 4 MiB, or is compressed although that was not asked for, MUST be an error.
    wire.plan(Reply(body=b" " * size))
    error, _ = await fails(at(wire))
    assert (error.code, error.message) == (Fault.TOO_LARGE, "one answers more than 4,194,304 bytes")


async def test_as_large_as_it_may_be(wire: Wire) -> None:
    wire.plan(Reply(body=FINE.body.ljust(MOST_BYTES)))
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert (await made.ask()).text == "Hi"


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_bomb(status: int, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% An answer that is larger than 4 MiB, or is compressed although that was not asked for, MUST be an error.
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


def test_the_date_is_as_said() -> None:
    assert NOW == 1_700_000_000
