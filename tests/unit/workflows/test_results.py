"""What has to hold of results, and what is kept of them."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.workflows.workflow import Capture, Check, ToolStep
from tests.unit.workflows.made import ran, states, text, tool, why

pytestmark = pytest.mark.anyio

PARAMS = {"status": "ok", "n": 1, "none": None, "flag": True, "items": [{"id": "a.b", "k.l": []}], "result": "inner"}


def asking(*checks: Check, **more: Any) -> ToolStep:
    return tool("look", params=PARAMS, asserts=checks, **more)


@pytest.mark.parametrize(
    "path", ["status", "result.status", "result['status']", 'result["status"]', "steps.before.result.status"]
)
async def test_a_path_begins_where_it_says(path: str) -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% A path MUST start at `vars`, `steps`, `captures` or `result`, or otherwise at the result of its own step.
    before = tool("before", params={"status": "ok"})
    found = await ran(before, asking(Check(path=path, equals="ok")))
    assert states(found) == [("before", "success", ""), ("look", "success", "")]
    wrong = await ran(before, asking(Check(path=path, equals="no")))
    assert why(wrong)[2] == f'{path} is "ok"; it was to be "no"'


HOLDING = [
    Check(path="n", equals=1.0),
    Check(path="flag", equals=True),
    Check(path="none", equals=None),
    Check(path="none", exists=True),
    Check(path="nothing", exists=False),
    Check(path="nothing", not_equals=1),
    Check(path="items[1]", exists=False),
    Check(path="items[0]", equals={"k.l": [], "id": "a.b"}),
    Check(path="items[0]['k.l']", equals=[]),
    Check(path="result.result", equals="inner"),
    Check(path="vars.v", equals="w"),
    Check(path="n", not_equals=True),
    Check(path="status", equals="${result.status}"),
    Check(path="status", not_equals="${vars.v}"),
]
FAILING = [
    (Check(path="n", equals=True), "n is 1; it was to be true"),
    (Check(path="flag", equals=1), "flag is true; it was to be 1"),
    (Check(path="nothing", equals=None), "nothing is not there; it was to be null"),
    (Check(path="n", equals=None), "n is 1; it was to be null"),
    (Check(path="nothing", exists=True), "nothing is not there"),
    (Check(path="none", exists=False), "none is null; nothing was to stand there"),
    (Check(path="status", not_equals="ok"), 'status is "ok"; it was to be something else'),
    (Check(path="items.0", exists=True), "items.0 is not there"),
    (Check(path="status.x", exists=True), "status.x is not there"),
    (Check(path="status", equals="${vars.v}"), 'status is "ok"; it was to be "w"'),
]


@pytest.mark.parametrize("check", HOLDING, ids=range(len(HOLDING)))
async def test_a_check_that_holds(check: Check) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A check MUST compare values as JSON, distinguish null from a missing value, and fail its step with
    ##% `assert_failed`, the path and both values.
    assert states(await ran(asking(check), variables={"v": text("w")})) == [("look", "success", "")]


@pytest.mark.parametrize(("check", "message"), FAILING, ids=range(len(FAILING)))
async def test_a_check_that_does_not_hold(check: Check, message: str) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A check MUST compare values as JSON, distinguish null from a missing value, and fail its step with
    ##% `assert_failed`, the path and both values.
    found = await ran(asking(check), variables={"v": text("w")})
    assert states(found) == [("look", "error", message)]
    assert why(found) == ("assert_failed", "look", message, "", "")
    assert found.steps[0].result == PARAMS


async def test_what_is_expected_by_path() -> None:
    step = tool("look", params=PARAMS, expect={"result.status": "ok", "n": 1, "items": []})
    assert why(await ran(step))[2] == 'items is [{"id":"a.b","k.l":[]}]; it was to be []'
    assert why(await ran(tool("look", expect={"a b": 1})))[1:4] == (
        "look",
        'expect["a b"]: "a b" is no path',
        'write it as in result.items[0]["a.b"]',
    )


async def test_what_is_captured_is_known_later() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The engine MUST run the steps in order, pass on what they capture, and skip the rest after a failure.
    first = asking(capture=[Capture("all", "result"), Capture("first", "items[0].id")])
    second = tool("use", params={"id": "${captures.first}", "n": "${captures.all.n}"})
    outputs = {"id": "${captures.first}", "also": ["${steps.use.result.n} of ${steps.use.status}"]}
    found = await ran(first, second, outputs=outputs)
    assert (found.status, found.outputs) == ("success", {"id": "a.b", "also": ["1 of success"]})
    assert found.steps[1].result == {"id": "a.b", "n": 1}


async def test_what_is_not_there_can_not_be_captured() -> None:
    found = await ran(asking(capture=[Capture("x", "n"), Capture("y", "items[3].id")]))
    assert why(found) == (
        "assert_failed",
        "look",
        "capture[1].path: items[3].id: there is no result.items[3]",
        "result.items is a list of 1",
        "",
    )
    found = await ran(asking(capture=[Capture("x", "a b")]))
    assert why(found)[:3] == ("assert_failed", "look", 'capture[0].path: "a b" is no path')


async def test_outputs_that_lead_nowhere_fail_the_run() -> None:
    found = await ran(tool("a"), outputs={"x": "${captures.x}"})
    assert why(found) == (
        "invalid_request",
        "",
        "outputs.x: ${captures.x}: there is no captures.x",
        "captures is empty",
        "",
    )
    assert (found.status, found.outputs, states(found)) == ("error", {}, [("a", "success", "")])


async def test_a_bomb_of_captures_is_refused() -> None:
    doubled = [
        tool(f"s{number}", params={"x": "${captures.x}${captures.x}"}, capture=[Capture("x", "x")])
        for number in range(99)
    ]
    found = await ran(tool("begin", params={"x": "ha"}, capture=[Capture("x", "x")]), *doubled)
    assert why(found) == (
        "invalid_request",
        "s18",
        "params.x: with ${captures.x} it has more than 1,000,000 bytes",
        "",
        "",
    )
    assert [step.status for step in found.steps] == ["success"] * 19 + ["error"] + ["skipped"] * 80
