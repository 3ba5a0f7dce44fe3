"""Who answers, where the model that was picked doesn't, too"""

from __future__ import annotations

import pytest

from duvet.llm.providers import Sampler
from duvet.llm.records import (
    ModelError,
    ModelFault,
    ModelRequest,
    ModelResponse,
    NoModelError,
    ProviderAnswer,
    ResolvedModel,
    TokenUsage,
)
from tests.unit.llm.made import at, routing
from tests.unit.llm.wire import Reply, Wire, anthropic_says, openai_says, refuses

pytestmark = pytest.mark.anyio


async def test_a_fallback_answers(wire: Wire, other: Wire) -> None:
    ##= man/spec/ask.md#choosing-a-model
    ##= type=test
    ##% duvet MUST warn when it skips an unusable provider or answers with a fallback, and say how to set up a model
    ##% when there is none.
    wire.plan(refuses(401, "no"))
    other.plan(anthropic_says("Hi"))
    config = {
        "providers": {"one": at(wire), "two": at(other, "anthropic")},
        "routing": {"ask": {"model": "one/big", "fallbacks": ["two", "one"]}},
    }
    async with routing(config) as made:
        words = "two/small answers instead: one refuses the key (401): no"
        assert await made.ask(task="ask") == ModelResponse("Hi", "two", "small", TokenUsage(12, 3), (words,))
        assert made.log == [words]
    assert [asked.body["model"] for asked in (*wire.asked, *other.asked)] == ["big", "small"]


async def test_nobody_answers(wire: Wire, other: Wire) -> None:
    wire.plan(refuses(401, "no"))
    other.plan(Reply(body=b"{}"))
    config = {
        "providers": {"one": at(wire), "two": at(other, "anthropic")},
        "routing": {"ask": {"model": "one", "fallbacks": ["two"]}},
    }
    async with routing(config) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask(task="ask")
    assert caught.value.code is ModelFault.MALFORMED
    assert caught.value.message == (
        "one refuses the key (401): no; two answers not what the protocol has: Object missing required field `content`"
    )


async def test_what_is_resolved_is_invoked(wire: Wire) -> None:
    wire.plan(openai_says("Hi"))
    async with routing({"providers": {"one": at(wire)}}) as made:
        request = ModelRequest(prompt="Hi")
        response = await made.router.invoke(request, ResolvedModel("one", "other", "because", warnings=("beware",)))
        assert response == ModelResponse("Hi", "one", "other", TokenUsage(12, 3), ("beware",))
        with pytest.raises(NoModelError, match="two/x: there is no such provider"):
            await made.router.invoke(request, ResolvedModel("two", "x", "because"))


def client_that(answers: str, heard: list[ModelRequest]) -> Sampler:
    """A client with a model of its own."""

    async def sample(request: ModelRequest) -> ProviderAnswer:
        heard.append(request)
        return ProviderAnswer(answers)

    return sample


async def test_the_model_of_the_client(wire: Wire) -> None:
    config = {"providers": {"own": {"kind": "client"}, "one": at(wire)}}
    wire.plan(openai_says("from one"))
    heard: list[ModelRequest] = []
    async with routing(config) as made:
        router = made.router.with_sampler(client_that("from the client", heard))
        request = ModelRequest(prompt="Hi", system="Be brief.")
        assert await router.invoke(request) == ModelResponse("from the client", "own", "")
        assert (await made.ask()).text == "from one"
        await router.discover()
    assert heard == [request]


@pytest.mark.parametrize("answer", ["", " \n"])
async def test_a_client_that_says_nothing(answer: str) -> None:
    async with routing({"providers": {"own": {"kind": "client"}}}, sampler=client_that(answer, [])) as made:
        with pytest.raises(ModelError, match="own answers nothing"):
            await made.ask()
