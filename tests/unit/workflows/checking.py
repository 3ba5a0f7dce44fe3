"""What is found wrong with workflows of two tools and three models"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from duvet.config.workflow_tables import VariableType as Kind
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import Scope, Tool, ToolAnswer
from duvet.workflows.check import WorkflowEnvironment, check_workflow
from duvet.workflows.workflow import ModelStep, Step, Variable, Workflow
from tests.unit.workflows.made import tool, workflow


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
MODELS = ("openai", "local/tiny", "summarize")


def faults(*steps: Step, others: Sequence[Workflow] = (OTHER,), **more: Any) -> list[tuple[str, str, str]]:
    flow = workflow(*steps, **more)
    known = WorkflowEnvironment(tools=TOOLS, workflows={one.name: one for one in (*others, flow)}, models=MODELS)
    return [(one.path, one.message, "warning" if one.is_warning else one.hint) for one in check_workflow(flow, known)]


def search(id: str = "s", **more: Any) -> Step:
    return tool(id, "search", **{"params": {"query": "a"}, **more})


def ask(**more: Any) -> ModelStep:
    return ModelStep(**{"id": "ask", "model": "summarize", "prompt": "?", **more})
