"""What goes over the wire in each protocol, and what comes of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from duvet.config.service_tables import ProviderKind
from duvet.llm.endpoint import PROVIDER_DEFAULTS, Endpoint, ProviderClient, ProviderKey
from duvet.llm.providers import OpenAiProvider
from duvet.llm.records import (
    ModelError,
    ModelFault,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ProviderAnswer,
    TokenUsage,
)
from duvet.version import VERSION
from tests.unit.llm.made import KEY, FakeClock, at, routing
from tests.unit.llm.wire import Reply, Wire, anthropic_says, openai_says

pytestmark = pytest.mark.anyio
USAGE = TokenUsage(12, 3)
FULL: dict[str, Any] = {
    "prompt": "And now?",
    "system": "Be brief.",
    "messages": (ModelMessage("user", "Hi"), ModelMessage("assistant", "Hello")),
    "max_tokens": 7,
    "temperature": 0.0,
}
SAID = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "And now?"},
]
CUT = "the answer is cut: the model was allowed no more tokens"


async def test_openai(wire: Wire) -> None:
    wire.plan(openai_says("Warm it."))
    async with routing({"providers": {"one": at(wire, apiKey="$K")}}, {"K": KEY}) as made:
        assert await made.ask(**FULL) == ModelResponse("Warm it.", "one", "small", USAGE)
    (asked,) = wire.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, *SAID],
        "max_tokens": 7,
        "temperature": 0.0,
    }
    assert {
        name: asked.headers[name] for name in ("authorization", "content-type", "accept-encoding", "user-agent")
    } == {
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "accept-encoding": "identity",
        "user-agent": f"duvet/{VERSION}",
    }


async def test_anthropic(wire: Wire) -> None:
    wire.plan(anthropic_says("Warm it."))
    async with routing({"providers": {"one": at(wire, "anthropic", apiKey="${K}")}}, {"K": KEY}) as made:
        assert await made.ask(**FULL) == ModelResponse("Warm it.", "one", "small", USAGE)
    (asked,) = wire.asked
    assert (asked.method, asked.path) == ("POST", "/v1/messages")
    assert asked.body == {
        "model": "small",
        "system": "Be brief.",
        "messages": SAID,
        "max_tokens": 7,
        "temperature": 0.0,
    }
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in asked.headers


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_little_is_sent_where_little_is_asked(kind: str, wire: Wire) -> None:
    wire.plan(openai_says("Hi") if kind == "openai" else anthropic_says("Hi"))
    async with routing({"providers": {"one": at(wire, kind)}}) as made:
        await made.ask("Hi")
    (asked,) = wire.asked
    assert asked.body == {"model": "small", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1024}
    assert {"authorization", "x-api-key", "cookie"}.isdisjoint(asked.headers)


class Kept(ProviderClient):
    """Sends nothing, and keeps what would be sent."""

    async def post(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: object) -> bytes:
        self.sent = (f"{endpoint.base}{path}", headers, body)
        return openai_says("Hi").body


async def test_openai_itself() -> None:
    http = Kept(FakeClock())
    endpoint = Endpoint("one", PROVIDER_DEFAULTS[ProviderKind.OPENAI].base_url, ProviderKey(KEY), 60.0, 2)
    assert await OpenAiProvider(endpoint, http).complete("big", ModelRequest(prompt="Hi")) == ProviderAnswer(
        "Hi", USAGE
    )
    assert http.sent == (
        "https://api.openai.com/v1/chat/completions",
        {"authorization": f"Bearer {KEY}"},
        {"model": "big", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 1024},
    )


@pytest.mark.parametrize(
    ("kind", "reply"), [("openai", openai_says("So", "length")), ("anthropic", anthropic_says("So", "max_tokens"))]
)
async def test_an_answer_that_is_cut(kind: str, reply: Reply, wire: Wire) -> None:
    wire.plan(reply)
    async with routing({"providers": {"one": at(wire, kind)}}) as made:
        assert await made.ask() == ModelResponse("So", "one", "small", USAGE, (CUT,))
        assert made.log == [CUT]


@pytest.mark.parametrize("usage", [None, 3, [], {"prompt_tokens": "many", "completion_tokens": -1}, {"x": True}])
async def test_how_much_was_used_is_no_reason_to_fail(usage: object, wire: Wire) -> None:
    wire.plan(openai_says("Hi", usage=usage))
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert await made.ask() == ModelResponse("Hi", "one", "small")


async def test_blocks_without_text_are_left_out(wire: Wire) -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    wire.plan(anthropic_says("", content=content))
    async with routing({"providers": {"one": at(wire, "anthropic")}}) as made:
        assert (await made.ask()).text == "AB"


NESTED = b'{"usage": ' + b"[" * 200_000
MALFORMED: list[tuple[str, bytes, str]] = [
    ("openai", b"", "what is no JSON"),
    ("openai", b"<html>", "what is no JSON"),
    ("openai", b"\xff\xfe", "what is no JSON"),
    ("openai", NESTED, "what is no JSON"),
    ("openai", b"[]", "not what the protocol has: Expected `object`, got `array`"),
    ("openai", b"{}", "not what the protocol has: Object missing required field `choices`"),
    ("openai", b'{"choices": []}', "without any choice"),
    (
        "openai",
        openai_says(None).body,
        "not what the protocol has: Expected `str`, got `null` - at `$.choices[0].message.content`",
    ),
    (
        "openai",
        openai_says({"a": 1}).body,
        "not what the protocol has: Expected `str`, got `object` - at `$.choices[0].message.content`",
    ),
    ("openai", openai_says(" \n").body, "nothing"),
    ("openai", openai_says("Hi").body[:-9], "what is no JSON"),
    ("anthropic", openai_says("Hi").body, "not what the protocol has: Object missing required field `content`"),
    ("anthropic", b'{"content": "Hi"}', "not what the protocol has: Expected `array`, got `str` - at `$.content`"),
    ("anthropic", anthropic_says("Hi", content=[]).body, "nothing"),
    ("anthropic", anthropic_says("Hi", content=[{"type": "tool_use"}]).body, "nothing"),
    (
        "anthropic",
        anthropic_says(7).body,
        "not what the protocol has: Expected `str`, got `int` - at `$.content[0].text`",
    ),
]


@pytest.mark.parametrize(("kind", "body", "what"), MALFORMED)
async def test_malformed(kind: str, body: bytes, what: str, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% duvet MUST reject an answer that is larger than 4 MiB, compressed without being asked for, or without text.
    wire.plan(Reply(body=body))
    async with routing({"providers": {"one": at(wire, kind)}}) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
    assert (caught.value.code, caught.value.message) == (ModelFault.MALFORMED, f"one answers {what}")
    assert len(wire.asked) == 1
