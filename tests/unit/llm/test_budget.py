import os
from pathlib import Path

import pytest

from duvet.llm.records import ModelError, ModelFault
from tests.unit.llm.provider_server import Reply, Wire, openai_says
from tests.unit.llm.routers import FINE, Made, make_provider, routing

pytestmark = pytest.mark.anyio


# 15 reported tokens, or 1 and 1 estimated ones.
@pytest.mark.parametrize(("said", "limit", "spent"), [(FINE, 16, 30), (openai_says("Hi", usage=None), 3, 4)])
async def test_a_day_has_a_limit(wire: Wire, tmp_path: Path, said: Reply, limit: int, spent: int) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST NOT call a provider that has used up its `dailyTokens` or its `dailySpend`.
    folder = str(tmp_path / "state")
    wire.plan(said)
    config = {"providers": {"one": make_provider(wire, dailyTokens=limit)}}
    async with routing(config, spending_folder=folder) as made:
        await made.ask()
    # Another process.
    async with routing(config, spending_folder=folder) as made:
        await made.ask()
        with pytest.raises(ModelError) as error:
            await made.ask()
        assert error.value.code is ModelFault.LIMIT_REACHED
        used = f"provider `one` has used up its limit for today: {spent} of {limit} tokens"
        hint = "increase `providers.one.dailyTokens`, or wait until midnight (UTC)"
        assert (error.value.message, error.value.hint) == (used, hint)
        made.clock.time += 86_400
        assert (await made.ask()).text == "Hi"
        assert spent_today(made) == [f"{spent // 2} of {limit} tokens"]
    assert len(wire.asked) == 3


def spent_today(made: Made) -> list[str]:
    return [str(limit) for limit in made.router.budget.list_limits("one", made.router.providers["one"])]


PRICES = {"small": {"input": 200_000, "output": 0.5e6}, "free": {"input": 0, "output": 0}}


async def test_a_day_costs_no_more_than_allowed(wire: Wire, tmp_path: Path) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST NOT call a provider that has used up its `dailyTokens` or its `dailySpend`.
    # 12 input tokens for 2.4, and 3 output tokens for 1.5.
    wire.plan(FINE)
    section = make_provider(wire, dailySpend=7.5, dailyTokens=1000, prices=PRICES)
    folder = str(tmp_path / "state")
    async with routing({"providers": {"one": section}}, spending_folder=folder) as made:
        await made.ask(model="one/free")
        assert spent_today(made) == ["15 of 1,000 tokens", "0.0000 of 7.5"]
        await made.ask()
    async with routing({"providers": {"one": section}}, spending_folder=folder) as made:
        await made.ask()
        assert spent_today(made) == ["45 of 1,000 tokens", "7.8000 of 7.5"]
        with pytest.raises(ModelError, match=r"`one` has used up its limit for today: 7\.8000 of 7\.5") as error:
            await made.ask(model="one/free")
        assert error.value.hint == "increase `providers.one.dailySpend`, or wait until midnight (UTC)"
        made.clock.time += 86_400
        assert (await made.ask()).text == "Hi"
    assert len(wire.asked) == 4


async def test_a_model_without_a_price_is_not_called(wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##% If a provider has a `dailySpend`, duvet MUST NOT call its models that have no price.
    wire.plan(FINE)
    section = make_provider(wire, dailySpend=1, prices={"other": PRICES["small"]})
    routes = {"brief": {"model": "one", "fallbacks": ["one/other"]}}
    async with routing({"providers": {"one": section}, "routing": routes}) as made:
        with pytest.raises(ModelError) as error:
            await made.ask()
        answer = await made.ask(task="brief")
    why = "the model one/small has no price, so its costs can't be limited by `dailySpend`"
    assert (error.value.message, error.value.hint) == (why, "set `input` and `output` in `providers.one.prices.small`")
    assert (answer.model, answer.warnings) == ("other", (f"used the fallback one/other, because {why}",))
    assert [one.body["model"] for one in wire.asked] == ["other"]


async def test_the_files_of_a_day(wire: Wire, tmp_path: Path) -> None:
    wire.plan(FINE)
    folder = tmp_path / "state"
    providers = {"one": make_provider(wire, dailyTokens=1000), "two": make_provider(wire)}
    async with routing({"providers": providers}, spending_folder=str(folder)) as made:
        # A provider without a limit is not counted.
        await made.ask(model="two")
        assert not folder.exists()
        await made.ask()
        (first,) = folder.iterdir()
        assert (first.name, first.read_text()) == ("2023-11-14.jsonl", '{"provider":"one","tokens":15,"cost":0.0}\n')
        assert (folder.stat().st_mode & 0o777, first.stat().st_mode & 0o777) == (0o700, 0o600)
        # A line that is cut, and lines of another version, don't count.
        with first.open("a") as file:
            file.write('{"provider":"one","tokens":5,"cost":0.0}\n{"provider":"one"}\n{"provider":"one","tok')
        assert spent_today(made) == ["20 of 1,000 tokens"]
        made.clock.time += 86_400
        await made.ask()
    assert [path.name for path in folder.iterdir()] == ["2023-11-15.jsonl"]


async def test_an_answer_without_text_counts(wire: Wire) -> None:
    wire.plan(openai_says(""), openai_says("<think>Hm</think>"))
    async with routing({"providers": {"one": make_provider(wire, dailyTokens=20)}}) as made:
        for message in ("sent an empty answer", "sent an empty answer", "has used up its limit for today"):
            with pytest.raises(ModelError, match=message):
                await made.ask()


async def test_without_a_folder_the_process_counts(wire: Wire, tmp_path: Path) -> None:
    wire.plan(FINE)
    config = {"providers": {"one": make_provider(wire, dailyTokens=30)}}
    # A call counts once if an old file can't be removed.
    (tmp_path / "state/2023-11-13.jsonl").mkdir(parents=True)
    async with routing(config, spending_folder=str(tmp_path / "state")) as made:
        await made.ask()
        assert spent_today(made) == ["15 of 30 tokens"]
    (tmp_path / "file").touch()
    for folder in ("", str(tmp_path / "file"), str(tmp_path / "file" / "state")):
        async with routing(config, spending_folder=folder) as made:
            await made.ask()
            await made.ask()
            with pytest.raises(ModelError, match="30 of 30 tokens"):
                await made.ask()
            made.clock.time += 86_400
            await made.ask()
            assert spent_today(made) == ["15 of 30 tokens"]
    assert sorted(os.listdir(tmp_path)) == ["file", "state"]
