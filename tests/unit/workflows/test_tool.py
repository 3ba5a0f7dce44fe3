"""Workflows among the tools that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec import to_builtins

from duvet.config.workflow_tables import VariableType as Kind
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import ErrorCode, Tool, ToolAnswer, ToolError
from duvet.workflows.check import WorkflowEnvironment, check_workflow
from duvet.workflows.engine import run_workflow
from duvet.workflows.workflow import Variable, Workflow, WorkflowRun, make_input_record, tool_name
from tests.unit.workflows.made import World, echo, tool, workflow

FLOW = workflow(
    tool("s", "echo", params={"spec-id": "${vars.spec-id}"}, expect={"spec-id": "rfc1"}),
    variables={"spec-id": Variable(Kind.STRING, "Which one"), "limit": Variable(Kind.INTEGER, "", 5)},
    outputs={"spec": "${steps.s.result.spec-id}"},
)


def handler(context: ProjectSnapshot, asked: object) -> ToolAnswer:
    raise AssertionError(asked)


def as_tool(flow: Workflow) -> Tool:
    return Tool(
        name=tool_name(flow.name),
        title=flow.name,
        description=flow.description,
        input=make_input_record(flow),
        output=WorkflowRun,
        handler=handler,
    )


def test_what_agents_are_told() -> None:
    assert input_schema(as_tool(FLOW)) == {
        "type": "object",
        "properties": {
            "spec-id": {"type": "string", "description": "Which one"},
            "limit": {"type": "integer", "default": 5},
        },
        "required": ["spec-id"],
    }


def refuse(arguments: Mapping[str, Any]) -> Any:
    raise ToolError(ErrorCode.NOT_FOUND, "nothing there", "look elsewhere")


@pytest.mark.anyio
@pytest.mark.parametrize("given", [{"spec-id": "rfc1"}, {"spec-id": "rfc2"}, {}])
@pytest.mark.parametrize("answer", [echo, refuse])
async def test_what_agents_are_answered(given: dict[str, Any], answer: Any) -> None:
    found = await run_workflow(FLOW, given, World({"echo": answer}))
    jsonschema.validate(to_builtins(found), output_schema(as_tool(FLOW)))


def test_the_tools_of_the_trace_are_known() -> None:
    known = WorkflowEnvironment(tools={one.name: one for one in Registry()}, workflows={}, models=())
    flow = workflow(
        tool("find", "search_requirements", params={"query": "tea", "limit": 3, "level": "MUST"}),
        tool("show", "get_requirement", params={"reference": "${steps.find.result.result[0].id}"}),
        tool("look", "search_requirements", params={"query": "tea", "limit": 0, "levl": "MUST"}),
        tool("go", "search_requirement", params={}),
    )
    assert [(one.path, one.message, one.hint) for one in check_workflow(flow, known)] == [
        ("steps[2].params.limit", "expected int >= 1", ""),
        ("steps[2].params.levl", 'search_requirements has no argument "levl"', "did you mean level?"),
        (
            "steps[3].tool",
            'there is no tool "search_requirement"',
            "did you mean search_requirements or get_requirement or list_uncited_requirements?",
        ),
    ]
