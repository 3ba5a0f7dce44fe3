"""Workflows that call workflows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import to_builtins

from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import ModelStepAnswer, ModelStepRequest, StepResult
from duvet.workflows.workflow import Workflow
from tests.unit.workflows.made import tool, why, workflow

pytestmark = pytest.mark.anyio


class Nested:
    """Tools that are workflows, and one that answers what it is told."""

    def __init__(self, *workflows: Workflow) -> None:
        self.workflows = {one.name: one for one in workflows}
        self.calls = 0

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> StepResult:
        self.calls += 1
        inner = self.workflows.get(name.removeprefix("workflow."))
        return StepResult(to_builtins(await run_workflow(inner, arguments, self)) if inner else dict(arguments))

    async def model(self, asked: ModelStepRequest) -> ModelStepAnswer:
        raise AssertionError(asked)


def calling(name: str, *called: str) -> Workflow:
    return workflow(*(tool(f"to-{one}", f"workflow.{one}") for one in called), name=name)


async def test_a_workflow_calls_another() -> None:
    inner = workflow(tool("s", params={"x": 1}), name="inner", outputs={"y": "${steps.s.result.x}"})
    outer = workflow(tool("t", "workflow.inner"), outputs={"z": "${steps.t.result.outputs.y}"})
    found = await run_workflow(outer, {}, Nested(inner))
    assert (found.status, found.outputs) == ("success", {"z": 1})


async def test_a_workflow_that_fails_fails_the_step_that_called_it() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A step MUST fail with `tool_failed` or `model_failed` when its tool, workflow or model fails, and pass on the
    ##% code, the message and the hint of that failure.
    inner = workflow(tool("s", "echo", expect={"x": 1}), name="inner")
    found = await run_workflow(calling("outer", "inner"), {}, Nested(inner))
    message = "workflow.inner: step s: x is not there; it was to be 1"
    assert why(found) == ("tool_failed", "to-inner", message, "", "assert_failed")


async def test_no_workflow_calls_itself() -> None:
    world = Nested(calling("a", "a"), calling("b", "c"), calling("c", "b"))
    found = await run_workflow(world.workflows["a"], {}, world)
    assert why(found) == ("tool_failed", "to-a", "workflow.a: a calls itself: a > a", "", "invalid_request")
    found = await run_workflow(world.workflows["b"], {}, world)
    message = "workflow.c: step to-b: workflow.b: b calls itself: b > c > b"
    assert why(found) == ("tool_failed", "to-c", message, "", "tool_failed")
    assert world.calls == 3


async def test_workflows_stand_five_deep_in_each_other() -> None:
    chain = Nested(*(calling(f"w{number}", f"w{number + 1}") for number in range(6)), workflow(tool("s"), name="w6"))
    assert (await run_workflow(chain.workflows["w2"], {}, chain)).status == "success"
    found = await run_workflow(chain.workflows["w1"], {}, chain)
    assert found.error is not None and found.error.message.endswith(
        "workflows stand in each other 6 deep, 5 is the most: w1 > w2 > w3 > w4 > w5 > w6"
    )
    assert (await run_workflow(chain.workflows["w2"], {}, chain)).status == "success"
