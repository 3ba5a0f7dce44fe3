"""What tools warn of while a workflow is run."""

from __future__ import annotations

import pytest

from duvet.tools.call_context import CallJournal, CallState
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import StepResult
from tests.unit.workflows.made import Clock, World, echo, ran, tool, why, workflow

pytestmark = pytest.mark.anyio


async def test_what_tools_warn_of() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The warnings of tools and models MUST be warnings of the run.
    world = World({"echo": lambda _: StepResult({"x": 1}, ["half of it", "y" * 600]), "quiet": echo})
    expecting = tool("c", expect={"x": 2})
    found = await ran(tool("a"), tool("b", "quiet"), expecting, world=world)
    cut = f"{'y' * 497}…"
    assert found.warnings == ["a: half of it", f"a: {cut}", "c: half of it", f"c: {cut}"]
    assert why(found)[0] == "assert_failed"


async def test_what_was_warned_of_in_an_earlier_round() -> None:
    rounds = CallState()
    world = World({"echo": lambda _: StepResult(1, ["half of it"])})
    for _ in range(2):
        found = await run_workflow(workflow(tool("a")), {}, world, timing=Clock(), journal=CallJournal(rounds))
        assert found.warnings == ["a: half of it"]
    assert len(world.calls) == 1
