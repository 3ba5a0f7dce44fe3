from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import anyio
import pytest
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import CaptureSection, VariableType as Kind
from duvet.errors import DuvetError
from duvet.llm.records import ModelRequest, ModelResponse
from duvet.tools.call_context import CallJournal, CallState
from duvet.tools.tool import ErrorCode, ToolError
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import MAX_RECORD_BYTES, StepResult, WorkflowClock
from duvet.workflows.workflow import Check, ModelStep, Step, StepRun, ToolStep, Variable, WorkflowRun
from tests.unit.workflows.workflow_backend import BEGIN, Clock, World, echo, ran, states, text, tool, why, workflow

pytestmark = pytest.mark.anyio
LONGEST = 10  # Seconds after which a test counts as hanging.
RESULT = {"status": "ok", "n": 1, "none": None, "flag": True, "items": [{"id": "a.b", "k.l": []}], "result": "inner"}


def asking(*checks: Check, **more: Any) -> ToolStep:
    return tool("look", params=RESULT, asserts=checks, **more)


def raising(error: Exception) -> Callable[[Any], Any]:
    def fail(asked: Any) -> Any:
        raise error

    return fail


async def test_steps_run_in_their_order_and_are_recorded() -> None:
    ##= man/spec/workflows.md#steps
    ##% The engine MUST run the steps in order, and skip all later steps if a step fails.
    clock = Clock()

    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += 1.5
        return {"result": [{"id": arguments["q"]}], "total": 1}

    world = World({"slow": slow, "echo": echo})
    find = tool("find", "slow", params={"q": "${vars.q}"})
    use = tool("use", params={"id": "${steps.find.result.result[0].id}"})
    flow = workflow(find, use, variables={"q": Variable(Kind.STRING)}, outputs={"found": "${steps.use.result}"})
    log: list[WorkflowRun] = []
    found = await run_workflow(flow, {"q": "tea"}, world, log=log.append, timing=clock)
    assert world.arguments == [{"q": "tea"}, {"id": "tea"}]
    first = StepRun(id="find", status="success", duration_seconds=1.5, result={"result": [{"id": "tea"}], "total": 1})
    times: Any = {"started_at": BEGIN, "finished_at": BEGIN + timedelta(seconds=1.5), "duration_seconds": 1.5}
    assert found == WorkflowRun(
        workflow="w",
        status="success",
        outputs={"found": {"id": "tea"}},
        steps=[first, StepRun(id="use", status="success", result={"id": "tea"})],
        warnings=[],
        **times,
    )
    assert log == [found]
    # Names may be of any kind.
    odd = 'a"]}.\n\x1b[31m日本'
    found = await ran(
        tool("é", params={odd: {"$${": "ok"}, "n": 1}),
        tool("b", params={"x": '${steps.é.result["a\\"]}.\\n\\u001b[31m日本"]}'}),
        outputs={odd: "${steps.b.result.x}"},
    )
    assert (found.error, found.outputs) == (None, {odd: {"$${": "ok"}})


ASK = ModelStep(id="s", model="a/b", prompt="?")
WRONG_STEPS: list[Step] = [
    *(tool("s", name) for name in ("gone", "odd", "huge")),
    ASK,
    *(ModelStep(id="s", model="a", prompt="?", params=one) for one in ({"maxTokens": 0}, {"temperature": "hot"})),
    ModelStep(id="s", model="a", prompt="?", params={"topP": 1}),
    tool("s", params={"q": ["${steps.before.result.x}"]}),
    tool("s", params=RESULT, expect={"result.status": "ok", "n": 1, "items": []}),
    tool("s", expect={"a b": 1}),
    tool("s", params=RESULT, capture=[CaptureSection(name=one, path=one) for one in ("n", "items[3].id")]),
    tool("s", capture=[CaptureSection(name="x", path="a b")]),
]


async def test_a_step_fails_with_code_message_hint_and_cause(problem_files: Snapshot) -> None:
    ##= man/spec/workflows.md#steps
    ##% If the tool, workflow or model of a step fails, the step MUST fail with `tool_failed` or `model_failed`,
    ##% and give the code, message and hint of that failure.
    gone = DuvetError("the file is gone", path="a.md", line=3, hint="bring it back")
    tools = {"echo": echo, "gone": raising(gone), "odd": lambda _: object(), "huge": lambda _: "x" * 16_000_001}
    world = World(tools, raising(ToolError(ErrorCode.UNAUTHORIZED, "the key is wrong", "set OPENAI_API_KEY")))
    lines: list[str] = []
    for step in WRONG_STEPS:
        found = await ran(tool("before", params={"status": "ok"}), step, tool("c"), world=world, outputs={"x": 1})
        code, failing, message, hint, cause = why(found)
        lines.append("; ".join(filter(None, (code, message, hint, cause))))
        assert (failing, found.status, found.outputs) == ("s", "error", {})
        assert states(found) == [("before", "success", ""), ("s", "error", message), ("c", "skipped", "")]
    problem_files.assert_match("\n".join(lines), "steps.txt")
    found = await ran(ASK, world=World({}, raising(DuvetError("nobody answers"))))
    assert why(found) == ("model_failed", "s", "a/b: nobody answers", "", "upstream_error")
    # An output that leads nowhere fails the run.
    found = await ran(tool("a"), outputs={"x": "${captures.x}"})
    message = "outputs.x: ${captures.x}: captures.x does not exist"
    assert why(found) == ("invalid_request", "", message, "captures is empty", "")
    assert (found.status, found.outputs, states(found)) == ("error", {}, [("a", "success", "")])


async def test_a_model_is_asked() -> None:
    said = ModelResponse("${vars.x}", "backup", "b", warnings=("main/a did not answer",))
    world = World({"echo": echo}, lambda asked: said)
    params = {"maxTokens": "${steps.find.result.n}", "temperature": 0.5}
    texts: dict[str, Any] = {"prompt": "Sum up ${steps.find.result}", "system": "${steps.find.result}"}
    step = ModelStep(id="ask", model="summarize", params=params, time_limit=20, **texts)
    found = await ran(tool("find", params={"n": 7}), step, world=world, outputs={"text": "${steps.ask.result.text}"})
    assert world.asked == [
        ModelRequest(model="summarize", prompt='Sum up {"n":7}', system='{"n":7}', max_tokens=7, temperature=0.5)
    ]
    assert world.calls == [("echo", {"n": 7}, 600)]
    answer = {"text": "${vars.x}", "model": "backup/b", "warnings": ["main/a did not answer"]}
    assert (found.steps[1].result, found.outputs) == (answer, {"text": "${vars.x}"})
    assert found.warnings == ["ask: main/a did not answer"]


async def test_warnings_of_tools_are_warnings_of_the_run() -> None:
    world = World({"echo": lambda _: StepResult({"x": 1}, ["half of it", "y" * 600]), "quiet": echo})
    expecting = tool("c", expect={"x": 2})
    found = await ran(tool("a"), tool("b", "quiet"), expecting, world=world)
    cut = f"{'y' * 497}…"
    assert found.warnings == ["a: half of it", f"a: {cut}", "c: half of it", f"c: {cut}"]
    assert why(found)[0] == "assert_failed"
    # Warnings of a call of an earlier round are repeated.
    rounds = CallState()
    world = World({"echo": lambda _: StepResult(1, ["half of it"])})
    for _ in range(2):
        found = await run_workflow(workflow(tool("a")), {}, world, timing=Clock(), journal=CallJournal(rounds))
        assert found.warnings == ["a: half of it"]
    assert len(world.calls) == 1


async def test_each_step_and_the_end_are_announced() -> None:
    heard: list[tuple[int, int, str]] = []

    async def hear(done: int, total: int, message: str) -> None:
        heard.append((done, total, message))

    world = World({"echo": lambda _: list(heard)})
    steps = (tool("a", description="looks"), tool("b"))
    await run_workflow(workflow(*steps), {}, world, progress=hear, timing=Clock())
    assert heard == [(0, 2, "a: looks"), (1, 2, "b"), (2, 2, "done")]
    found = await run_workflow(workflow(*steps), {}, world, progress=hear, timing=Clock())
    assert [len(step.result) for step in found.steps] == [4, 5]


async def test_a_workflow_has_a_hundred_steps_at_most_and_results_of_64_mb() -> None:
    world = World({"echo": echo, "big": lambda _: "x" * 15_999_998})
    ##= man/spec/workflows.md#limits
    ##% The engine MUST reject a workflow that has more than 100 steps.
    steps = [tool(f"s{number}", params={"n": number}) for number in range(101)]
    found = await ran(*steps[:100], world=world)
    assert (found.status, len(found.steps), len(world.calls)) == ("success", 100, 100)
    found = await ran(*steps, world=world)
    assert why(found) == ("invalid_request", "", "w has 101 steps; the limit is 100", "", "")
    assert len(world.calls) == 100 and {step.status for step in found.steps} == {"skipped"}
    found = await ran(*(tool(f"s{number}", "big") for number in range(5)), world=world)
    message = "the results of the steps together exceed 64,000,000 bytes"
    assert why(found) == ("invalid_request", "s4", message, "request smaller results", "")


# A path begins at a name, or at the result of its step.
PATHS = ("status", "result.status", "result['status']", 'result["status"]', "steps.before.result.status")
CHECKS = [
    *(Check(path=path, equals=value) for path in PATHS for value in ("ok", "no")),
    *(Check(path="n", equals=value) for value in (1.0, True, None)),
    *(Check(path="flag", equals=value) for value in (True, 1)),
    *(Check(path="status", equals=value) for value in ("${result.status}", "${vars.v}")),
    *(Check(path="status", not_equals=value) for value in ("${vars.v}", "ok")),
    *(Check(path=path, exists=True) for path in ("none", "nothing", "items.0", "status.x")),
    *(Check(path=path, exists=False) for path in ("nothing", "items[1]", "none")),
    *(Check(path=path, equals=None) for path in ("none", "nothing")),
    Check(path="items[0]", equals={"k.l": [], "id": "a.b"}),
    Check(path="items[0]['k.l']", equals=[]),
    *(Check(path="result.result", equals="inner"), Check(path="vars.v", equals="w"), Check(path="n", not_equals=True)),
    *(Check(path="nothing", not_equals=1), Check(path="none", not_equals=None)),
    Check(path="n", exists=True, not_equals=1),
]


async def test_a_check_compares_as_json(problem_files: Snapshot) -> None:
    ##= man/spec/workflows.md#steps
    ##% If a check fails, its step MUST fail with `assert_failed`, and name the checked path, its value and the expected
    ##% value.
    lines = []
    for check in CHECKS:
        found = await ran(tool("before", params={"status": "ok"}), asking(check), variables={"v": text("w")})
        (_, (_, status, message)) = states(found)
        assert not message or why(found) == ("assert_failed", "look", message, "", "")
        assert found.steps[1].result == RESULT
        lines.append(f"{json.encode(check).decode()}: {status} {message}".rstrip())
    problem_files.assert_match("\n".join(lines), "checks.txt")


CUT = "shortened to keep the record within 200,000 bytes:"


async def test_the_largest_results_of_a_record_are_cut() -> None:
    big = ["x" * 99] * 2_000
    world = World({"big": lambda _: big, "echo": echo})
    steps = (tool("a"), tool("b", "big"), tool("c", params={"n": ["y"] * 20_000}), tool("d", params={"all": 1}))
    found = await ran(*steps, world=world, outputs={"out": "${steps.b.result[0]}", "most": "${steps.b.result}"})
    assert found.steps[1].result == f"{json.encode(big).decode()[:500]}… (cut from 204,001 bytes)"
    assert found.steps[2].result == {"n": ["y"] * 20_000} and found.steps[3].result == {"all": 1}
    assert found.outputs == {"out": "x" * 99, "most": found.steps[1].result}
    assert found.warnings == [f"{CUT} steps.b, outputs.most"]
    assert len(json.encode(found)) < MAX_RECORD_BYTES


async def test_many_large_results_are_cut() -> None:
    steps = [tool(f"s{number}", "big") for number in range(20)]
    world = World({"big": lambda _: '"\\' * 50_000})
    found = await ran(*steps, world=world)
    assert len(json.encode(found)) < MAX_RECORD_BYTES and len(found.steps[19].result) == 526
    outputs = {f"o{number}": '"' * 1_000 for number in range(400)} | {"small": ""}
    found = await ran(*steps, world=world, outputs=outputs)
    assert (found.status, len(json.encode(found)) < MAX_RECORD_BYTES) == ("success", True)
    assert found.steps[0].result == "… (cut from 200,002 bytes)"
    # Small outputs stay whole.
    shown = [found.outputs[name] for name in ("o0", "o399", "small")]
    assert shown == ["… (cut from 2,002 bytes)", '"' * 1_000, ""]
    assert found.warnings == [f"{CUT} steps.s0, steps.s1, steps.s2, steps.s3, steps.s4 and 323 more"]
    # Too many outputs are left out.
    found = await ran(tool("a", params={"n": 1}), outputs={f"o{number}": number for number in range(30_000)})
    assert (found.status, found.outputs, found.steps[0].result) == ("success", {}, {"n": 1})
    assert found.warnings == [f"{CUT} outputs"]


async def test_long_messages_and_warnings_are_cut() -> None:
    world = World({"big": lambda _: {"x" * 10_000: "x" * 10_000}})
    found = await ran(tool("a", "big", asserts=[Check(path="y" * 10_000, equals=1)]), world=world)
    assert [len(text) for text in (why(found)[2], found.steps[0].message)] == [501, 501]
    said = ModelResponse("", "m", "", warnings=("w" * 10_000,) * 500)
    found = await ran(ASK, world=World({}, lambda _: said))
    assert len(found.warnings) == 101 and {len(one) for one in found.warnings[:100]} == {501}


def taking(seconds: float, clock: Clock, error: Exception | None = None) -> World:
    """Return a tool that takes some time, and then answers or fails."""

    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.seconds += seconds
        if error:
            raise error

    return World({"echo": slow})


async def test_a_step_and_a_workflow_have_time_limits() -> None:
    for limits, limit, step, message, calls in (
        ((4, 3.5, None), 600, "b", "the step took longer than 3.5 s", [4, 3.5]),
        ((None, None, None), 7, "b", "the workflow took longer than 7 s", [7, 3]),
        ((None, None, None), 8, "c", "the workflow took longer than 8 s", [8, 4]),
    ):
        ##= man/spec/workflows.md#steps
        ##% A step that exceeds its own time limit or that of the workflow MUST fail with `timeout`.
        clock = Clock()
        world = taking(4, clock)
        steps = (tool(id, time_limit=one) for id, one in zip("abc", limits, strict=True))
        found = await ran(*steps, world=world, clock=clock, time_limit=limit)
        assert why(found) == ("timeout", step, message, "", "")
        assert [limit for _, _, limit in world.calls] == calls


async def test_a_tool_that_fails_after_its_time_limit_or_hangs_is_a_timeout() -> None:
    clock = Clock()
    world = taking(5, clock, ToolError(ErrorCode.UPSTREAM_ERROR, "it took too long"))
    found = await ran(tool("a", time_limit=5), world=world, clock=clock)
    assert why(found) == ("timeout", "a", "the step took longer than 5 s", "", "")
    ended: list[str] = []

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("hang")

    timing = WorkflowClock()
    before = timing.clock()
    with anyio.fail_after(LONGEST):
        steps = (tool("a", time_limit=0.01), tool("b"))
        found = await run_workflow(workflow(*steps), {}, World({"echo": lambda _: hang()}), timing=timing)
    assert why(found) == ("timeout", "a", "the step took longer than 0.01 s", "", "")
    assert ended == ["hang"] and timing.clock() >= before and timing.now().tzinfo is not None


@pytest.mark.parametrize("ignores", [False, True])
async def test_a_cancelled_workflow_is_in_the_log(ignores: bool) -> None:
    ##= man/spec/workflows.md#steps
    ##% After a workflow is cancelled, the engine MUST NOT start another step.
    at_work, door = anyio.Event(), anyio.Event()

    async def wait() -> object:
        at_work.set()
        with anyio.CancelScope(shield=ignores):
            await door.wait()
        return {"done": True}

    log: list[WorkflowRun] = []
    world = World({"echo": echo, "gate": lambda _: wait()})
    flow = workflow(tool("a", params={"x": 1}), tool("b", "gate"), tool("c"))

    async def running() -> None:
        await run_workflow(flow, {}, world, log=log.append, timing=Clock())

    with anyio.fail_after(LONGEST):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running)
            await at_work.wait()
            tasks.cancel_scope.cancel()
            door.set()
    (found,) = log
    assert why(found)[:2] == ("cancelled", "" if ignores else "b")
    # A step that cannot be stopped is finished.
    last = ("b", "success", "") if ignores else ("b", "error", "the step was cancelled")
    assert states(found) == [("a", "success", ""), last, ("c", "skipped", "")]
    assert [name for name, _, _ in world.calls] == ["echo", "gate"] and found.steps[0].result == {"x": 1}
