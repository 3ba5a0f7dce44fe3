"""What workflows are told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, json

from duvet.config.workflow_tables import VariableType as Kind
from duvet.workflows.engine import run_workflow
from duvet.workflows.workflow import Variable, Workflow, find_called_workflow, make_input_record, tool_alias, tool_name
from tests.unit.workflows.made import World, echo, states, tool, why, workflow

pytestmark = pytest.mark.anyio

VARIABLES = {
    "query": Variable(Kind.STRING, "What to look for"),
    "most": Variable(Kind.INTEGER, "", 5),
    "share": Variable(Kind.NUMBER, "", 0.5),
    "deep": Variable(Kind.BOOLEAN, "", False),
    "of-kinds": Variable(Kind.ARRAY, "Which", ["a"]),
    "class": Variable(Kind.OBJECT, "", {"b": 1}),
}


def flow(variables: dict[str, Variable] | None = None) -> Workflow:
    chosen = VARIABLES if variables is None else variables
    return workflow(tool("s", params={"all": "${vars}"}), variables=chosen, outputs={"all": "${vars}"})


def test_variables_are_arguments() -> None:
    ##= man/spec/workflows.md#variables
    ##= type=test
    ##% The tool of a workflow MUST take the workflow's variables as typed arguments, and refuse missing, unknown and
    ##% mistyped ones by name before the first step.
    record = make_input_record(flow())
    assert json.schema_components([record], ref_template="{name}")[1]["Input"] == {
        "title": "Input",
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for"},
            "most": {"type": "integer", "default": 5},
            "share": {"type": "number", "default": 0.5},
            "deep": {"type": "boolean", "default": False},
            "of-kinds": {"type": "array", "description": "Which"},
            "class": {"type": "object"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    made: Any = msgspec.convert({"query": "tea"}, record)
    assert msgspec.to_builtins(made) == {
        "query": "tea",
        "most": 5,
        "share": 0.5,
        "deep": False,
        "of-kinds": ["a"],
        "class": {"b": 1},
    }
    again: Any = msgspec.convert({"query": "tea"}, record)
    assert getattr(made, "class") is not getattr(again, "class")


async def test_arguments_come_by_name_or_as_a_record() -> None:
    record = msgspec.convert({"query": "tea", "of-kinds": []}, make_input_record(flow()))
    found = await run_workflow(flow(), record, World({"echo": echo}))
    all_of_them = {"query": "tea", "most": 5, "share": 0.5, "deep": False, "of-kinds": [], "class": {"b": 1}}
    assert found.outputs == {"all": all_of_them}
    found = await run_workflow(flow(), {"query": "tea", "share": 2, "of-kinds": []}, World({"echo": echo}))
    assert found.outputs == {"all": {**all_of_them, "share": 2.0}}


REFUSED: list[tuple[dict[str, object], str, str]] = [
    ({}, "the variable query is missing", "What to look for"),
    ({"query": None}, "the variable query has to be a text", "What to look for"),
    ({"query": 1}, "the variable query has to be a text", "What to look for"),
    ({"query": "a", "most": True}, "the variable most has to be a whole number", ""),
    ({"query": "a", "most": 1.5}, "the variable most has to be a whole number", ""),
    ({"query": "a", "share": float("nan")}, "the variable share has to be a number", ""),
    ({"query": "a", "deep": 1}, "the variable deep has to be true or false", ""),
    ({"query": "a", "of-kinds": "a"}, "the variable of-kinds has to be a list", "Which"),
    ({"query": "a", "class": []}, "the variable class has to be an object", ""),
    ({"query": "a", "mots": 1}, 'w has no variable "mots"', "did you mean most?"),
    ({"\0\ud800": 1}, 'w has no variable "\\0\\u{d800}"', "there are query, most, share, deep, of-kinds, class"),
    ({"query": object()}, "what is given is no JSON: Encoding objects of type object is unsupported", ""),
    ({"query": "a" * 1_000_001}, "what is given has more than 1,000,000 bytes", ""),
]


@pytest.mark.parametrize(("given", "message", "hint"), REFUSED, ids=range(len(REFUSED)))
async def test_variables_that_are_wrong(given: dict[str, object], message: str, hint: str) -> None:
    ##= man/spec/workflows.md#variables
    ##= type=test
    ##% The tool of a workflow MUST take the workflow's variables as typed arguments, and refuse missing, unknown and
    ##% mistyped ones by name before the first step.
    world = World({"echo": echo})
    found = await run_workflow(flow(), given, world)
    assert why(found) == ("invalid_request", "", message, hint, "")
    assert states(found) == [("s", "skipped", "")] and world.calls == []


async def test_a_workflow_without_variables() -> None:
    found = await run_workflow(flow({}), {"x" * 100_000: 1}, World({"echo": echo}))
    assert why(found)[3] == "it has none" and len(why(found)[2]) < 200
    assert (await run_workflow(flow({}), {}, World({"echo": echo}))).status == "success"


async def test_defaults_are_of_their_type() -> None:
    wrong = {"n": Variable(Kind.INTEGER, "", "five")}
    found = await run_workflow(flow(wrong), {}, World({"echo": echo}))
    assert why(found)[2] == "the variable n has to be a whole number"
    assert Variable().default is UNSET


def test_names_of_tools() -> None:
    assert (tool_name("a-b"), tool_alias("a-b")) == ("workflow.a-b", "workflow_a-b")
    assert [find_called_workflow(name) for name in ("workflow.a", "workflow_a", "workflows", "a")] == ["a", "a", "", ""]
