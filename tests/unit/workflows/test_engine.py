"""Workflows run to their end, or to their failure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from duvet.config.workflow_tables import VariableType as Kind
from duvet.errors import DuvetError
from duvet.tools.tool import ErrorCode, ToolError
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import ModelStepAnswer, ModelStepRequest
from duvet.workflows.workflow import FailureCode, ModelStep, StepRun, Variable, WorkflowFailure, WorkflowRun
from tests.unit.workflows.made import BEGIN, Clock, World, echo, ran, states, tool, why, workflow

pytestmark = pytest.mark.anyio


def failing(arguments: Mapping[str, Any]) -> Any:
    raise ToolError(ErrorCode.NOT_FOUND, "there is no cup", "did you mean mug?")


def failing_otherwise(arguments: Mapping[str, Any]) -> Any:
    raise DuvetError("the file is gone", path="a.md", line=3, hint="bring it back")


async def test_steps_are_done_in_their_order() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The engine MUST run the steps in order, pass on what they capture, and skip the rest after a failure.
    clock = Clock()

    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += 1.5
        return {"result": [{"id": arguments["q"]}], "total": 1}

    world = World({"slow": slow, "echo": echo})
    steps = (
        tool("find", "slow", params={"q": "${vars.q}"}),
        tool("use", params={"id": "${steps.find.result.result[0].id}"}),
    )
    flow = workflow(*steps, variables={"q": Variable(Kind.STRING)}, outputs={"found": "${steps.use.result}"})
    log: list[WorkflowRun] = []
    found = await run_workflow(flow, {"q": "tea"}, world, log=log.append, timing=clock)
    assert world.arguments == [{"q": "tea"}, {"id": "tea"}]
    assert found == WorkflowRun(
        workflow="w",
        status="success",
        outputs={"found": {"id": "tea"}},
        steps=[
            StepRun(id="find", status="success", duration_seconds=1.5, result={"result": [{"id": "tea"}], "total": 1}),
            StepRun(id="use", status="success", result={"id": "tea"}),
        ],
        started_at=BEGIN,
        finished_at=BEGIN + timedelta(seconds=1.5),
        duration_seconds=1.5,
        warnings=[],
    )
    assert log == [found]


async def test_after_a_failure_steps_are_skipped() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The engine MUST run the steps in order, pass on what they capture, and skip the rest after a failure.
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A step MUST fail with `tool_failed` or `model_failed` when its tool, workflow or model fails, and pass on the
    ##% code, the message and the hint of that failure.
    world = World({"echo": echo, "failing": failing})
    found = await ran(tool("a"), tool("b", "failing"), tool("c"), tool("d"), world=world, outputs={"x": 1})
    assert states(found) == [
        ("a", "success", ""),
        ("b", "error", "failing: there is no cup"),
        ("c", "skipped", ""),
        ("d", "skipped", ""),
    ]
    assert (found.status, found.outputs, len(world.calls)) == ("error", {}, 2)
    assert found.error == WorkflowFailure(
        code=FailureCode.TOOL_FAILED,
        step="b",
        message="failing: there is no cup",
        hint="did you mean mug?",
        cause="not_found",
    )


async def test_other_errors_of_tools() -> None:
    world = World({"a": failing_otherwise, "b": lambda _: object(), "c": lambda _: "x" * 16_000_001})
    assert why(await ran(tool("s", "a"), world=world)) == (
        "tool_failed",
        "s",
        "a: a.md:3: the file is gone",
        "bring it back",
        "upstream_error",
    )
    message = "b: the answer is no JSON: Encoding objects of type object is unsupported"
    assert why(await ran(tool("s", "b"), world=world)) == ("tool_failed", "s", message, "", "upstream_error")
    message = "c: the answer has more than 16,000,000 bytes"
    assert why(await ran(tool("s", "c"), world=world)) == ("tool_failed", "s", message, "", "upstream_error")


async def test_a_reference_that_leads_nowhere_names_step_and_key() -> None:
    world = World({"echo": echo})
    found = await ran(tool("a"), tool("b", params={"q": ["${steps.a.result.x}"]}), world=world)
    assert why(found) == (
        "invalid_request",
        "b",
        "params.q[0]: ${steps.a.result.x}: there is no steps.a.result.x",
        "steps.a.result is empty",
        "",
    )
    assert len(world.calls) == 1


async def test_a_model_is_asked() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The warnings of tools and models MUST be warnings of the run.
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A step that exceeds its own time limit, or that of the workflow, MUST fail with `timeout`.
    said = ModelStepAnswer(text="${vars.x}", model="backup/b", warnings=["main/a did not answer"])
    world = World({"echo": echo}, lambda asked: said)
    step = ModelStep(
        id="ask",
        model="summarize",
        prompt="Sum up ${steps.find.result}",
        system="${steps.find.result}",
        params={"maxTokens": "${steps.find.result.n}", "temperature": 0.5},
        time_limit=20,
    )
    found = await ran(tool("find", params={"n": 7}), step, world=world, outputs={"text": "${steps.ask.result.text}"})
    assert world.asked == [
        ModelStepRequest(
            model="summarize",
            prompt='Sum up {"n":7}',
            system='{"n":7}',
            max_tokens=7,
            temperature=0.5,
            time_limit=20,
        )
    ]
    assert world.calls == [("echo", {"n": 7}, 600)]
    answer = {"text": "${vars.x}", "model": "backup/b", "warnings": ["main/a did not answer"]}
    assert (found.steps[1].result, found.outputs) == (answer, {"text": "${vars.x}"})
    assert found.warnings == ["ask: main/a did not answer"]


async def test_a_model_that_fails() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A step MUST fail with `tool_failed` or `model_failed` when its tool, workflow or model fails, and pass on the
    ##% code, the message and the hint of that failure.
    def refuse(asked: ModelStepRequest) -> ModelStepAnswer:
        raise ToolError(ErrorCode.UNAUTHORIZED, "the key is wrong", "set OPENAI_API_KEY")

    def vanish(asked: ModelStepRequest) -> ModelStepAnswer:
        raise DuvetError("nobody answers")

    ask = ModelStep(id="ask", model="a/b", prompt="?")
    found = await ran(ask, tool("b"), world=World({}, refuse))
    assert why(found) == ("model_failed", "ask", "a/b: the key is wrong", "set OPENAI_API_KEY", "unauthorized")
    assert states(found)[1] == ("b", "skipped", "")
    found = await ran(ask, world=World({}, vanish))
    assert why(found) == ("model_failed", "ask", "a/b: nobody answers", "", "upstream_error")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"maxTokens": 0}, "params: Expected int >= 1 - at $.maxTokens"),
        ({"temperature": "hot"}, "params: Expected float | null, got str - at $.temperature"),
        ({"topP": 1}, "params: Object contains unknown field topP"),
    ],
)
async def test_params_of_a_model_that_it_does_not_know(params: dict[str, Any], message: str) -> None:
    found = await ran(ModelStep(id="ask", model="a", prompt="?", params=params))
    assert why(found) == ("invalid_request", "ask", message, "a model knows maxTokens and temperature", "")


async def test_progress_only_grows() -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% The engine MUST announce each step before it begins, and the end of the run.
    heard: list[tuple[int, int, str]] = []

    async def hear(done: int, total: int, message: str) -> None:
        heard.append((done, total, message))

    world = World({"echo": lambda _: list(heard)})
    steps = (tool("a", description="looks"), tool("b"))
    await run_workflow(workflow(*steps), {}, world, progress=hear, timing=Clock())
    assert heard == [(0, 2, "a: looks"), (1, 2, "b"), (2, 2, "done")]
    found = await run_workflow(workflow(*steps), {}, world, progress=hear, timing=Clock())
    assert [len(step.result) for step in found.steps] == [4, 5]


async def test_a_hundred_steps_and_no_more() -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse a workflow with more than 100 steps, one that calls itself, and one that is nested more
    ##% than five deep.
    world = World({"echo": echo})
    steps = [tool(f"s{number}", params={"n": number}) for number in range(101)]
    found = await ran(*steps[:100], world=world)
    assert (found.status, len(found.steps), len(world.calls)) == ("success", 100, 100)
    found = await ran(*steps, world=world)
    assert why(found) == ("invalid_request", "", "w has 101 steps; it may have 100", "", "")
    assert len(world.calls) == 100 and {step.status for step in found.steps} == {"skipped"}


async def test_names_of_any_kind() -> None:
    odd = 'a"]}.\n\x1b[31m日本'
    found = await ran(
        tool("é", params={odd: {"$${": "ok"}, "n": 1}),
        tool("b", params={"x": '${steps.é.result["a\\"]}.\\n\\u001b[31m日本"]}'}),
        outputs={odd: "${steps.b.result.x}"},
    )
    assert (found.error, found.outputs) == (None, {odd: {"$${": "ok"}})
