from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import pytest

from duvet.tools.tool import ErrorCode, ToolError
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import WorkflowClock
from duvet.workflows.workflow import Check, WaitStep, WorkflowRun
from tests.unit.workflows.workflow_backend import Clock, World, echo, ran, states, tool, why, workflow

pytestmark = pytest.mark.anyio


def waiting(interval: float = 5, limit: float = 30, **more: Any) -> WaitStep:
    until = Check(path="status", equals="ok")
    return WaitStep(id="wait", tool="look", until=until, interval=interval, time_limit=limit, **more)


def one_by_one(answers: Sequence[object], clock: Clock) -> Callable[[Mapping[str, Any]], Any]:
    """Return a tool that gives one answer after another, each after a second."""
    left = iter(answers)

    def look(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += 1
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return look


async def waited(*answers: object, limit: float = 30, **more: Any) -> tuple[WorkflowRun, World, Clock]:
    clock = Clock()
    world = World({"look": one_by_one(answers, clock), "echo": echo})
    found = await ran(waiting(limit=limit, **more), tool("next"), world=world, clock=clock)
    return found, world, clock


OK, NO = {"status": "ok"}, {"status": "no"}
AWAY = ToolError(ErrorCode.UPSTREAM_ERROR, "nobody answers")
FORBIDDEN = ToolError(ErrorCode.FORBIDDEN, "not for you", "bring a token")
WANTED = 'status is "no"; expected "ok"'


async def test_a_wait_ends_when_the_result_is_as_wanted() -> None:
    ##= man/spec/workflows.md#steps
    ##% A wait MUST repeat its call at the given interval until its condition is met or its time limit expires.
    found, world, clock = await waited(NO, {}, OK, params={"x": "1"})
    assert states(found) == [("wait", "success", ""), ("next", "success", "")]
    assert found.steps[0].result == OK
    assert world.calls == [("look", {"x": "1"}, limit) for limit in (30, 24, 18)] + [("echo", {}, 587)]
    assert clock.slept == [5, 5]
    # A later timeout is not that of the wait.
    clock = Clock()

    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += 9

    world = World({"look": one_by_one([NO, OK], clock), "echo": slow})
    found = await ran(waiting(), tool("next", time_limit=5), world=world, clock=clock)
    assert why(found)[1:3] == ("next", "the step took longer than 5 s")


async def test_a_wait_goes_on_while_nobody_answers() -> None:
    found, world, _ = await waited(AWAY, AWAY, OK)
    assert (found.status, len(world.calls)) == ("success", 4)
    found, world, _ = await waited(AWAY, FORBIDDEN, OK)
    assert why(found) == ("tool_failed", "wait", "look: not for you", "bring a token", "forbidden")
    assert len(world.calls) == 2
    # A reference that leads nowhere is an error.
    step = WaitStep(id="w", tool="echo", until=Check(path="x", equals="${vars.x}"), interval=1, time_limit=5)
    assert why(await ran(step))[:3] == ("invalid_request", "w", "wait.until.equals: ${vars.x}: vars.x does not exist")


async def test_a_wait_asks_a_last_time_before_its_time_is_up() -> None:
    for end, slept in ((4, [1.5]), (5, [2]), (8, [5]), (9, [5, 0.75]), (12, [5, 3])):
        found, _, clock = await waited(*[NO] * len(slept), OK, limit=end)
        assert (found.status, clock.slept) == ("success", slept)
        clock = Clock()
        found = await ran(waiting(limit=end), world=World({"look": lambda _: NO}), clock=clock)
        assert (why(found)[0], clock.seconds) == ("timeout", end - 0.5)
    for answer, limit, slept, seconds, reason in (
        (NO, 30, [5, 5, 5, 5, 3], 29, f"6 calls: {WANTED}"),
        (AWAY, 5, [2], 4, "2 calls: look: nobody answers"),
        (AWAY, 0.9, [], 1, "1 call: look: nobody answers"),
    ):
        found, _, clock = await waited(*[answer] * 9, limit=limit)
        assert why(found) == ("timeout", "wait", f"condition not met after {reason}", "", "")
        assert states(found)[1] == ("next", "skipped", "")
        assert (clock.slept, clock.seconds) == (slept, seconds)


async def test_a_last_call_that_could_not_end_is_not_begun() -> None:
    cases = [(0.2, 0.1, 0.9, [0.1, 0.1], 3), (0.2, 0.1, 1.05, [0.1, 0.1, 0], 4), (0.4, 0.5, 2.0, [0.5, 0.2], 3)]
    for took, interval, limit, slept, calls in cases:
        clock = Clock()

        def slow(arguments: Mapping[str, Any], clock: Clock = clock, took: float = took) -> Any:
            clock.seconds += took
            return NO

        world = World({"look": slow})
        found = await ran(waiting(interval=interval, limit=limit), world=world, clock=clock)
        assert why(found) == ("timeout", "wait", f"condition not met after {calls} calls: {WANTED}", "", "")
        assert [round(seconds, 3) for seconds in clock.slept] == slept
        assert len(world.calls) == calls and clock.seconds <= limit


@pytest.mark.parametrize(("limit", "time_limit"), [(30, 600), (90, 30)])
@pytest.mark.parametrize("code", [ErrorCode.TIMEOUT, ErrorCode.UPSTREAM_ERROR])
async def test_a_last_call_that_is_cut_off_is_a_timeout(limit: float, time_limit: float, code: ErrorCode) -> None:
    clock = Clock()
    answers = iter([NO, {"status": "not yet"}])

    def look(arguments: Mapping[str, Any]) -> Any:
        for answer in answers:
            return answer
        # As a tool does that knows its time limit.
        clock.seconds = 30
        raise ToolError(code, "it took too long")

    found = await ran(waiting(limit=limit), world=World({"look": look}), clock=clock, time_limit=time_limit)
    message = 'condition not met after 2 calls: status is "not yet"; expected "ok"'
    assert why(found) == ("timeout", "wait", message, "", "")


async def test_a_last_call_that_hangs_is_cancelled() -> None:
    answers = iter([NO])

    async def look() -> object:
        for answer in answers:
            return answer
        await anyio.sleep_forever()
        return None

    with anyio.fail_after(10):
        flow = workflow(waiting(interval=0.01, limit=0.5))
        found = await run_workflow(flow, {}, World({"look": lambda _: look()}), timing=WorkflowClock())
    assert why(found)[:3] == ("timeout", "wait", f"condition not met after 1 call: {WANTED}")
