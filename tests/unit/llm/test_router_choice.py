"""Models that discovery chooses, and the thoughts of models."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.llm.records import ModelError, ModelRequest, NoModelError
from tests.unit.llm.provider_server import Reply, Wire, openai_says, refuses
from tests.unit.llm.routers import FINE, make_provider, one, routing
from tests.unit.llm.test_router_discovery import models

pytestmark = pytest.mark.anyio
HINTS = """\
## Models
- [the large one](/models/large): best to summarize
- [small](/models/small): best for short answers
"""
FILES = {"/v1/models": models("embedding", "large", "small")}
HINTED = {**FILES, "/llms.txt": Reply(body=HINTS.encode())}


@pytest.mark.parametrize(
    ("files", "task", "asked"),
    [
        ({"/v1/models": models("small")}, None, ["small"]),
        (FILES, None, ["embedding", "large"]),
        (HINTED, None, ["large", "small"]),
        (HINTED, "short", ["small", "large"]),
        (HINTED, "summarize", ["large", "small"]),
        ({"/llms.txt": Reply(body=HINTS.encode())}, None, ["small"]),
    ],
    ids=["the only one", "the first", "with hints", "for a task", "for another task", "without a list"],
)
async def test_a_discovered_model_is_used(
    wire: Wire, files: dict[str, Reply], task: str | None, asked: list[str]
) -> None:
    wire.files = files
    section = make_provider(wire, discover="/v1/models" in files, llmsTxt="/llms.txt" in files)
    del section["defaultModel"]
    wire.plan(*[refuses(400)] * (len(asked) - 1), FINE)
    async with routing({"providers": {"one": section}}) as made:
        answer = await made.ask(task=task)
        assert (answer.model, answer.warnings) == (asked[-1], ())
        # The model that has answered is tried first.
        assert task or (await made.ask()).model == asked[-1]
    sent = [one.body["model"] for one in wire.asked if one.method == "POST"]
    assert sent == [*asked, *([] if task else asked[-1:])]


async def test_choosing_without_a_model_is_an_error(wire: Wire) -> None:
    section = make_provider(wire, discover=True)
    del section["defaultModel"]
    wire.files = {"/v1/models": models()}
    async with routing({"providers": {"one": section}}) as made:
        with pytest.raises(ModelError) as error:
            await made.ask()
    assert (error.value.message, error.value.hint) == (
        "provider `one` lists no models",
        "set `providers.one.defaultModel`",
    )
    del section["discover"]
    async with routing({"providers": {"one": section}}) as made:
        with pytest.raises(NoModelError, match="the provider has no `defaultModel`"):
            await made.ask()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>hm</think>\n\nTea.", "Tea."),
        ("\n<think>\nhm <b>\n</think>Tea.", "Tea."),
        ("hm</think>\nTea.", "Tea."),
        ("Tea is </tea>.", "Tea is </tea>."),
        ("Write <think>x</think>.", "Write <think>x</think>."),
        ("<think>hm", None),
    ],
)
async def test_thoughts_are_removed_from_an_answer(wire: Wire, text: str, answer: str | None) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST remove the `<think>` block from a model's answer.
    async with one(wire, openai_says(text)) as made:
        if answer is not None:
            assert (await made.ask()).text == answer
            return
        with pytest.raises(ModelError, match="provider `one` sent an empty answer"):
            await made.ask()


@pytest.mark.parametrize(("section", "sent"), [({}, 1024), ({"maxTokens": 9}, 9)])
async def test_the_limit_of_an_answer(wire: Wire, section: dict[str, Any], sent: int) -> None:
    async with one(wire, FINE, **section) as made:
        await made.ask()
        await made.ask(max_tokens=5)
    assert [asked.body["max_tokens"] for asked in wire.asked] == [sent, 5]


@pytest.mark.parametrize("host", ["http://host.docker.internal:1", "http://192.168.1.2:8080", "http://model.example"])
async def test_http_elsewhere_is_allowed_explicitly(host: str) -> None:
    ##= man/spec/ask.md#keys
    ##% duvet MUST use HTTPS for a provider on another machine unless the provider has `allowHttp: true`.
    section = {"baseUrl": host, "defaultModel": "small"}
    async with routing({"providers": {"one": section}}) as made:
        with pytest.raises(NoModelError) as error:
            made.router.pick(ModelRequest(prompt="Hi"))
        assert error.value.hint == (
            "use https://, or set `providers.one.allowHttp` for a machine in a network that you trust"
        )
    async with routing({"providers": {"one": {**section, "allowHttp": True}}}) as made:
        assert made.router.pick(ModelRequest(prompt="Hi")).model == "small"
