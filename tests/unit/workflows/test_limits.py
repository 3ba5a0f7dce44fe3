"""Time that is up, waits, and cancellation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from duvet.tools.tool import ErrorCode, ToolError
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import WorkflowClock
from duvet.workflows.workflow import WorkflowRun
from tests.unit.workflows.made import Clock, World, echo, ran, states, tool, why, workflow

pytestmark = pytest.mark.anyio
LONGEST = 10
"""What takes more seconds hangs."""


def taking(seconds: float, clock: Clock) -> World:
    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += seconds

    return World({"echo": slow})


async def test_time_limits_of_steps_and_of_the_whole() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A step that exceeds its own time limit, or that of the workflow, MUST fail with `timeout`.
    clock = Clock()
    world = taking(4, clock)
    found = await ran(tool("a", time_limit=4), tool("b", time_limit=3.5), tool("c"), world=world, clock=clock)
    assert why(found) == ("timeout", "b", "it took longer than 3.5 s", "", "")
    assert states(found)[2] == ("c", "skipped", "")
    clock = Clock()
    world = taking(4, clock)
    found = await ran(*map(tool, "abc"), world=world, clock=clock, time_limit=7)
    assert why(found) == ("timeout", "b", "the workflow took longer than 7 s", "", "")
    assert [limit for _, _, limit in world.calls] == [7, 3]
    clock = Clock()
    world = taking(4, clock)
    found = await ran(*map(tool, "abc"), world=world, clock=clock, time_limit=8)
    assert why(found) == ("timeout", "c", "the workflow took longer than 8 s", "", "")
    assert len(world.calls) == 2


async def test_a_tool_that_says_itself_that_its_time_is_up() -> None:
    clock = Clock()

    def late(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += 5
        raise ToolError(ErrorCode.UPSTREAM_ERROR, "it took too long")

    found = await ran(tool("a", time_limit=5), world=World({"echo": late}), clock=clock)
    assert why(found) == ("timeout", "a", "it took longer than 5 s", "", "")


async def test_a_tool_that_hangs_is_left() -> None:
    ended: list[str] = []

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("hang")

    with anyio.fail_after(LONGEST):
        steps = (tool("a", time_limit=0.01), tool("b"))
        found = await run_workflow(workflow(*steps), {}, World({"echo": lambda _: hang()}), timing=WorkflowClock())
    assert why(found) == ("timeout", "a", "it took longer than 0.01 s", "", "")
    assert ended == ["hang"]


async def test_time_goes_on() -> None:
    timing = WorkflowClock()
    before = timing.clock()
    await timing.sleep(0)
    assert timing.clock() >= before and timing.now().tzinfo is not None


class Gate:
    """A tool that waits at a door, once it is told that it is at work."""

    def __init__(self, ignores: bool) -> None:
        self.ignores = ignores
        self.at_work, self.door = anyio.Event(), anyio.Event()

    async def wait(self) -> object:
        self.at_work.set()
        with anyio.CancelScope(shield=self.ignores):
            await self.door.wait()
        return {"done": True}


@pytest.mark.parametrize("ignores", [False, True])
async def test_what_is_cancelled_is_in_the_log(ignores: bool) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A cancelled workflow MUST NOT begin another step, and the log MUST contain what became of each step.
    gate = Gate(ignores)
    log: list[WorkflowRun] = []
    world = World({"echo": echo, "gate": lambda _: gate.wait()})
    flow = workflow(tool("a", params={"x": 1}), tool("b", "gate"), tool("c"))

    async def running() -> None:
        await run_workflow(flow, {}, world, log=log.append, timing=Clock())

    with anyio.fail_after(LONGEST):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running)
            await gate.at_work.wait()
            tasks.cancel_scope.cancel()
            gate.door.set()
    (found,) = log
    assert why(found)[0] == "cancelled"
    # What can't be stopped is done, and then no more.
    last = ("b", "success", "") if ignores else ("b", "error", "it was cancelled")
    assert states(found) == [("a", "success", ""), last, ("c", "skipped", "")]
    assert found.error is not None and found.error.step == ("" if ignores else "b")
    assert [name for name, _, _ in world.calls] == ["echo", "gate"] and found.steps[0].result == {"x": 1}
