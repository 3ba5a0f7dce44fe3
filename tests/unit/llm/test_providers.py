from collections.abc import Mapping
from typing import Any

import pytest

from duvet.config.service_tables import ProviderKind, Secret
from duvet.llm.endpoint import DEFAULT_URLS, Endpoint, ProviderClient
from duvet.llm.providers import OpenAiProvider
from duvet.llm.records import ModelFault, ModelRequest, ModelResponse, ProviderAnswer, TokenUsage
from duvet.version import VERSION
from tests.unit.llm.provider_server import Reply, Wire, anthropic_says, openai_says
from tests.unit.llm.routers import FINE, KEY, FakeClock, fails, one

pytestmark = pytest.mark.anyio
USAGE = TokenUsage(12, 3)
FULL: dict[str, Any] = {"prompt": "And now?", "system": "Be brief.", "max_tokens": 7, "temperature": 0.0}
SAID = [{"role": "user", "content": "And now?"}]
LIMITS = {"model": "small", "max_tokens": 7, "temperature": 0.0}
LITTLE = {"model": "small", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1024}
HEADERS: dict[str, dict[str, str | None]] = {
    "openai": {
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "accept-encoding": "identity",
        "user-agent": f"duvet/{VERSION}",
        "x-api-key": None,
    },
    "anthropic": {"x-api-key": KEY, "anthropic-version": "2023-06-01", "authorization": None},
}


async def test_requests_have_the_format_of_the_provider(wire: Wire) -> None:
    brief = {"role": "system", "content": "Be brief."}
    for kind, path, reply, body in (
        ("openai", "/v1/chat/completions", FINE, {"messages": [brief, *SAID]}),
        ("anthropic", "/v1/messages", anthropic_says("Hi"), {"system": "Be brief.", "messages": SAID}),
    ):
        wire.asked.clear()
        async with one(wire, reply, kind=kind, apiKey="$K") as made:
            assert await made.ask(**FULL) == ModelResponse("Hi", "one", "small", USAGE)
        async with one(wire, reply, kind=kind) as made:
            await made.ask("Hi")
        full, little = wire.asked
        assert (full.method, full.path, full.body) == ("POST", path, {**LIMITS, **body})
        assert {name: full.headers.get(name) for name in HEADERS[kind]} == HEADERS[kind]
        assert little.body == LITTLE
        assert {"authorization", "x-api-key", "cookie"}.isdisjoint(little.headers)


class RecordingClient(ProviderClient):
    async def post(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: object) -> bytes:
        self.sent = (f"{endpoint.base}{path}", headers, body)
        return FINE.body


async def test_openai_itself_has_another_name_for_the_limit() -> None:
    http = RecordingClient(FakeClock())
    endpoint = Endpoint("one", DEFAULT_URLS[ProviderKind.OPENAI], Secret(KEY), 60.0, 2)
    answer = await OpenAiProvider(endpoint, http).complete("big", ModelRequest(prompt="Hi", max_tokens=1024))
    assert answer == ProviderAnswer("Hi", USAGE)
    assert http.sent == (
        "https://api.openai.com/v1/chat/completions",
        {"authorization": f"Bearer {KEY}"},
        {"model": "big", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 1024},
    )


async def test_cut_answers_blocks_and_wrong_usage(wire: Wire) -> None:
    cut = ModelResponse("So", "one", "small", USAGE, ("the answer is incomplete: it reached the token limit",))
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    usages: list[object] = [None, 3, [], {"prompt_tokens": "many", "completion_tokens": -1}, {"x": True}]
    for kind, reply, response in (
        ("openai", openai_says("So", "length"), cut),
        ("anthropic", anthropic_says("So", "max_tokens"), cut),
        ("anthropic", anthropic_says("", content=blocks), ModelResponse("AB", "one", "small", USAGE)),
        *(("openai", openai_says("Hi", usage=usage), ModelResponse("Hi", "one", "small")) for usage in usages),
    ):
        async with one(wire, reply, kind=kind) as made:
            assert await made.ask() == response
            assert made.log == [*response.warnings]


async def test_malformed_answers_are_rejected(wire: Wire) -> None:
    no_json, protocol = "an answer that is not JSON", "an unexpected answer: "
    nested = b'{"usage": ' + b"[" * 200_000
    content = "at `$.choices[0].message.content`"
    for kind, body, what in (
        *(("openai", body, no_json) for body in (b"", b"<html>", b"\xff\xfe", nested, FINE.body[:-9])),
        ("openai", b"[]", f"{protocol}Expected `object`, got `array`"),
        ("openai", b"{}", f"{protocol}Object missing required field `choices`"),
        ("openai", b'{"choices": []}', "an answer without choices"),
        ("openai", openai_says(None).body, f"{protocol}Expected `str`, got `null` - {content}"),
        ("openai", openai_says({"a": 1}).body, f"{protocol}Expected `str`, got `object` - {content}"),
        ("openai", openai_says(" \n").body, "an empty answer"),
        ("anthropic", FINE.body, f"{protocol}Object missing required field `content`"),
        ("anthropic", b'{"content": "Hi"}', f"{protocol}Expected `array`, got `str` - at `$.content`"),
        ("anthropic", anthropic_says("Hi", content=[]).body, "an empty answer"),
        ("anthropic", anthropic_says("Hi", content=[{"type": "tool_use"}]).body, "an empty answer"),
        ("anthropic", anthropic_says(7).body, f"{protocol}Expected `str`, got `int` - at `$.content[0].text`"),
    ):
        wire.asked.clear()
        error, _ = await fails(wire, Reply(body=body), kind=kind)
        assert (error.code, error.message) == (ModelFault.MALFORMED, f"provider `one` sent {what}")
        assert len(wire.asked) == 1
