"""Small workflows, a backend with prepared answers, and checks of workflows."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from inspect import isawaitable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from duvet.config.service_tables import VariableType as Kind
from duvet.llm.records import ModelRequest, ModelResponse
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import Scope, Tool, ToolAnswer
from duvet.workflows.check import WorkflowEnvironment, check_workflow
from duvet.workflows.engine import run_workflow
from duvet.workflows.steps import StepResult, WorkflowClock
from duvet.workflows.workflow import Check, ModelStep, Step, ToolStep, Variable, WaitStep, Workflow, WorkflowRun

Answers = Mapping[str, Callable[[Mapping[str, Any]], Any]]
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Clock(WorkflowClock):
    """A clock that advances only on demand."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=self.seconds)

    def clock(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class World:
    """Tools by name and a model, with the calls that both received."""

    def __init__(self, tools: Answers, model: Callable[[ModelRequest], ModelResponse] | None = None) -> None:
        self.tools = tools
        self.answers_as = model
        self.calls: list[tuple[str, Mapping[str, object], float | None]] = []
        self.asked: list[ModelRequest] = []

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> StepResult:
        self.calls.append((name, arguments, time_limit))
        answer = self.tools[name](arguments)
        answer = await answer if isawaitable(answer) else answer
        return answer if isinstance(answer, StepResult) else StepResult(answer)

    async def model(self, asked: ModelRequest) -> ModelResponse:
        self.asked.append(asked)
        assert self.answers_as is not None
        return self.answers_as(asked)

    @property
    def arguments(self) -> list[Mapping[str, object]]:
        return [arguments for _, arguments, _ in self.calls]


def echo(arguments: Mapping[str, Any]) -> Any:
    return dict(arguments)


def workflow(*steps: Step, name: str = "w", **more: Any) -> Workflow:
    return Workflow(name=name, description="Does it.", steps=steps, **more)


def tool(id: str, tool: str = "echo", **more: Any) -> ToolStep:
    return ToolStep(id=id, tool=tool, **more)


def text(default: str) -> Variable:
    return Variable(Kind.STRING, "", default)


async def ran(*steps: Step, world: World | None = None, clock: Clock | None = None, **more: Any) -> WorkflowRun:
    return await run_workflow(workflow(*steps, **more), {}, world or World({"echo": echo}), timing=clock or Clock())


def states(found: WorkflowRun) -> Sequence[tuple[str, str, str]]:
    return [(step.id, step.status, step.message) for step in found.steps]


def why(found: WorkflowRun) -> tuple[str, str, str, str, str]:
    """Return why a run failed: code, step, message, hint and cause."""
    assert found.error is not None
    error = found.error
    return error.code.value, error.step, error.message, error.hint, error.cause


class Search(Struct, frozen=True, kw_only=True):
    query: str
    most: Annotated[int, Meta(ge=1, le=100)] | None = None
    level: Literal["MUST", "MAY"] | None = None
    paths: tuple[str, ...] = ()


def handler(context: ProjectSnapshot, asked: object) -> ToolAnswer:
    raise AssertionError(asked)


def made_tool(name: str, scope: Scope = Scope.READER) -> Tool:
    return Tool(name=name, title=name, description=name, input=Search, output=Search, handler=handler, scope=scope)


TOOLS = {one.name: one for one in (made_tool("search"), made_tool("write", Scope.MAINTAINER))}
OTHER = workflow(tool("s", "write"), name="other", variables={"of-what": Variable(Kind.STRING)})


def faults(*steps: Step, others: Sequence[Workflow] = (OTHER,), **more: Any) -> list[tuple[str, str, str]]:
    flow = workflow(*steps, **more)
    known = WorkflowEnvironment(tools=TOOLS, workflows={one.name: one for one in (*others, flow)})
    return [(one.path, one.message, "warning" if one.is_warning else one.hint) for one in check_workflow(flow, known)]


def search(id: str = "s", **more: Any) -> Step:
    return tool(id, "search", **{"params": {"query": "a"}, **more})


def ask(**more: Any) -> ModelStep:
    return ModelStep(**{"id": "ask", "model": "summarize", "prompt": "?", **more})


def waiting(tool: str, until: Check, id: str = "s", **more: Any) -> WaitStep:
    return WaitStep(**{"id": id, "tool": tool, "until": until, "interval": 1, **more})
