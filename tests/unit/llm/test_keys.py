"""Keys, hosts and paths that a provider says again, which nothing shows"""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from msgspec import json

from duvet.llm.records import ModelError, ModelFault, strip_invisible
from tests.unit.llm.made import FINE, KEY, at, fails, routing
from tests.unit.llm.wire import Reply, Wire, anthropic_says, openai_says, refuses

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("said", [f"key {KEY} is wrong", f"{KEY[:5]}\x00{KEY[5:]}", f"{KEY}{KEY}", "x" * 190 + KEY])
async def test_a_key_that_is_said_again(said: str, wire: Wire) -> None:
    wire.plan(refuses(401, said))
    async with routing({"providers": {"one": at(wire, apiKey="$K")}}, {"K": KEY}) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
        assert KEY not in repr(vars(made.router))
        told = [str(caught.value), repr(caught.value), caught.value.hint, *made.log]
    assert "***" in told[0] or said.startswith("x")
    assert not any(KEY[:8] in words or KEY[-8:] in words for words in told)


async def test_a_key_that_is_in_an_answer(wire: Wire) -> None:
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
    wire.plan(Reply(body=says("Your key is KEY.").body.replace(b"KEY", written.encode())))
    wire.files = {"/v1/models": Reply(body=f'{{"data": [{{"id": "model-{written}"}}]}}'.encode())}
    async with routing({"providers": {"one": at(wire, kind, apiKey="$K", discover=True)}}, {"K": KEY}) as made:
        assert (await made.ask()).text == "Your key is ***."
        assert [one.model for one in made.router.known_models()] == ["small", "model-***"]
        assert strip_invisible("".join(made.log)).find(KEY) == -1


async def test_a_slash_of_a_key_may_be_written_in_two_ways(wire: Wire) -> None:
    wire.plan(Reply(body=openai_says("KEY").body.replace(b"KEY", rb"Bearer ab\/cdef")))
    async with routing({"providers": {"one": at(wire, apiKey="$K")}}, {"K": "ab/cdef"}) as made:
        assert (await made.ask()).text == "Bearer ***"


async def test_a_key_that_stands_among_hints(wire: Wire) -> None:
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


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ##= man/spec/ask.md#keys
        ##= type=test
        ##% duvet MUST NOT show or log a provider's key, nor its `baseUrl` when a call fails.
        base = f"http://127.0.0.1:{taken.getsockname()[1]}"
        error, waits = await fails({"baseUrl": base, "defaultModel": "m"})
    assert (error.code, error.message) == (ModelFault.UNAVAILABLE, "one can't be reached: ConnectError")
    assert (error.hint, waits) == ("is `providers.one.baseUrl` right, and up?", [0.5, 1.0])


async def test_a_host_and_a_path_that_are_said_again(wire: Wire) -> None:
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
