"""Records that would be too large."""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.workflows.steps import MAX_RECORD_BYTES, ModelStepAnswer
from duvet.workflows.workflow import Check, ModelStep
from tests.unit.workflows.made import World, echo, ran, tool, why

pytestmark = pytest.mark.anyio


async def test_the_largest_results_are_cut() -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST shorten the record of a run to 200,000 bytes, the largest results first, and say so.
    big = ["x" * 99] * 2_000
    world = World({"big": lambda _: big, "echo": echo})
    steps = (tool("a"), tool("b", "big"), tool("c", params={"n": ["y"] * 20_000}), tool("d", params={"all": 1}))
    found = await ran(*steps, world=world, outputs={"out": "${steps.b.result[0]}", "most": "${steps.b.result}"})
    assert found.steps[1].result == f"{json.encode(big).decode()[:500]}… (cut: 204,001 bytes)"
    assert found.steps[2].result == {"n": ["y"] * 20_000} and found.steps[3].result == {"all": 1}
    assert found.outputs == {"out": "x" * 99, "most": found.steps[1].result}
    assert found.warnings == ["cut, for a record has 200,000 bytes at most: steps.b, outputs.most"]
    assert len(json.encode(found)) < MAX_RECORD_BYTES


async def test_many_large_results() -> None:
    steps = [tool(f"s{number}", "big") for number in range(100)]
    world = World({"big": lambda _: '"\\' * 50_000})
    found = await ran(*steps, world=world)
    assert len(json.encode(found)) < MAX_RECORD_BYTES and len(found.steps[99].result) == 522
    found = await ran(*steps, world=world, outputs={f"o{number}": '"' * 1_000 for number in range(400)} | {"small": ""})
    assert (found.status, len(json.encode(found)) < MAX_RECORD_BYTES) == ("success", True)
    assert found.steps[0].result == "… (cut: 200,002 bytes)"
    # What is small enough stays whole.
    assert (found.outputs["o0"], found.outputs["o399"], found.outputs["small"]) == (
        "… (cut: 2,002 bytes)",
        '"' * 1_000,
        "",
    )
    named = "steps.s0, steps.s1, steps.s2, steps.s3, steps.s4 and 406 more"
    assert found.warnings == [f"cut, for a record has 200,000 bytes at most: {named}"]


async def test_results_of_all_steps() -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse values that are not JSON or deeper than 64 levels, arguments, prompts and outputs above 1
    ##% MB, and results above 16 MB or 64 MB in total.
    world = World({"big": lambda _: "x" * 15_999_998})
    found = await ran(*(tool(f"s{number}", "big") for number in range(5)), world=world)
    message = "with its result those of all steps have more than 64,000,000 bytes"
    assert why(found) == ("invalid_request", "s4", message, "ask for less", "")


async def test_outputs_without_end_are_left_out() -> None:
    found = await ran(tool("a", params={"n": 1}), outputs={f"o{number}": number for number in range(30_000)})
    assert (found.status, found.outputs, found.steps[0].result) == ("success", {}, {"n": 1})
    assert found.warnings == ["cut, for a record has 200,000 bytes at most: outputs"]


async def test_messages_and_warnings_end() -> None:
    world = World({"big": lambda _: {"x" * 10_000: "x" * 10_000}})
    path = "y" * 10_000
    found = await ran(tool("a", "big", asserts=[Check(path=path, equals=1)]), world=world)
    assert [len(text) for text in (why(found)[2], found.steps[0].message)] == [501, 501]
    said = ModelStepAnswer(text="", model="m", warnings=["w" * 10_000] * 500)
    found = await ran(ModelStep(id="a", model="m", prompt="?"), world=World({}, lambda _: said))
    assert len(found.warnings) == 101 and {len(one) for one in found.warnings[:100]} == {501}
