"""Workflows among the tools that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec import to_builtins

from duvet.config.service.workflows import VariableType as Kind
from duvet.runs import Run
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.tools.registry import Registry
from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import Answer, Tool
from duvet.workflows.check import check
from duvet.workflows.inputs import workflow_inputs
from duvet.workflows.known import Known
from duvet.workflows.names import tool_name
from duvet.workflows.records import Variable, Workflow
from duvet.workflows.tool import run_workflow
from tests.unit.workflows.made import World, echo, tool, workflow

FLOW = workflow(
    tool("s", "echo", params={"spec-id": "${vars.spec-id}"}, expect={"spec-id": "rfc1"}),
    variables={"spec-id": Variable(Kind.STRING, "Which one"), "limit": Variable(Kind.INTEGER, "", 5)},
    outputs={"spec": "${steps.s.result.spec-id}"},
)


def handler(context: Context, asked: object) -> Answer:
    raise AssertionError(asked)


def as_tool(flow: Workflow) -> Tool:
    return Tool(
        name=tool_name(flow.name),
        title=flow.name,
        description=flow.description,
        input=workflow_inputs(flow),
        output=Run,
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
    raise ToolError(Code.NOT_FOUND, "nothing there", "look elsewhere")


@pytest.mark.anyio
@pytest.mark.parametrize("given", [{"spec-id": "rfc1"}, {"spec-id": "rfc2"}, {}])
@pytest.mark.parametrize("answer", [echo, refuse])
async def test_what_agents_are_answered(given: dict[str, Any], answer: Any) -> None:
    found = await run_workflow(FLOW, given, World({"echo": answer}))
    jsonschema.validate(to_builtins(found), output_schema(as_tool(FLOW)))


def test_the_tools_of_the_trace_are_known() -> None:
    known = Known(tools={one.name: one for one in Registry()}, workflows={}, models=())
    flow = workflow(
        tool("find", "search_requirements", params={"query": "tea", "limit": 3, "level": "MUST"}),
        tool("show", "get_requirement", params={"reference": "${steps.find.result.result[0].id}"}),
        tool("look", "search_requirements", params={"query": "tea", "limit": 0, "levl": "MUST"}),
        tool("go", "search_requirement", params={}),
    )
    assert [(one.path, one.message, one.hint) for one in check(flow, known)] == [
        ("steps[2].params.limit", "expected int >= 1", ""),
        ("steps[2].params.levl", 'search_requirements has no argument "levl"', "did you mean level?"),
        (
            "steps[3].tool",
            'there is no tool "search_requirement"',
            "did you mean search_requirements or get_requirement or list_uncited_requirements?",
        ),
    ]
