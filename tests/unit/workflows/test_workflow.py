from collections.abc import Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from msgspec import json, to_builtins
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import VariableType as Kind, WorkflowSection
from duvet.tools.arguments import output_schema
from duvet.tools.knowledge.maintenance import run_recipe_tool, upload_file
from duvet.tools.knowledge.search import search_everything
from duvet.tools.tool import EnabledPack, ErrorCode, ToolError
from duvet.workflows import workflow as workflows
from duvet.workflows.engine import run_workflow
from duvet.workflows.pack import make_workflow_tools
from duvet.workflows.workflow import Variable, Workflow, make_input_record
from tests.conftest import ROOT
from tests.unit.workflows.recipe_project import FILES
from tests.unit.workflows.workflow_backend import World, echo, made_tool, states, tool, why, workflow

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


async def test_a_section_becomes_a_workflow_and_its_variables_typed_arguments(snapshot: Snapshot) -> None:
    defaults = {"most": 5, "share": 0.5, "deep": False, "of-kinds": ["a"], "class": {"b": 1}}
    ##= man/spec/workflows.md#variables
    ##% Before the first step, the engine MUST reject missing and unknown variables, and values of the wrong type.
    section = json.decode((FILES / "sum.json").read_bytes(), type=WorkflowSection)
    snapshot.snapshot_dir = ROOT / "tests/gold/workflows"
    snapshot.assert_match(json.format(json.encode(workflows.make_configured_workflow("sum", section))), "section.json")
    record = make_input_record(flow())
    schema = json.schema_components([record], ref_template="{name}")[1]["Input"]
    snapshot.assert_match(json.format(json.encode(schema)).decode(), "input.json")
    made: Any = msgspec.convert({"query": "tea"}, record)
    assert msgspec.to_builtins(made) == {"query": "tea", **defaults}
    again: Any = msgspec.convert({"query": "tea"}, record)
    assert getattr(made, "class") is not getattr(again, "class")
    # Arguments come by name or as a record.
    found = await run_workflow(flow(), msgspec.convert({"query": "tea", "of-kinds": []}, record), World({"echo": echo}))
    assert found.outputs == {"all": {"query": "tea", **defaults, "of-kinds": []}}
    found = await run_workflow(flow(), {"query": "tea", "share": 2, "of-kinds": []}, World({"echo": echo}))
    assert found.outputs == {"all": {"query": "tea", **defaults, "share": 2.0, "of-kinds": []}}


REFUSED: list[Mapping[str, object]] = [
    *({}, {"query": None}, {"query": 1}, {"query": "a", "most": True}, {"query": "a", "most": 1.5}),
    *({"query": "a", "share": float("nan")}, {"query": "a", "deep": 1}, {"query": "a", "of-kinds": "a"}),
    *({"query": "a", "class": []}, {"query": "a", "mots": 1}, {"\0\ud800": 1}, {"query": object()}),
    {"query": "a" * 1_000_001},
]


async def test_no_variables_wrong_defaults_and_names() -> None:
    found = await run_workflow(flow({}), {"x" * 100_000: 1}, World({"echo": echo}))
    assert why(found)[3] == "it has no variables" and len(why(found)[2]) < 200
    assert (await run_workflow(flow({}), {}, World({"echo": echo}))).status == "success"
    found = await run_workflow(flow({"n": Variable(Kind.INTEGER, "", "five")}), {}, World({"echo": echo}))
    assert why(found)[2] == "variable n must be an integer"
    names = ("workflow.a", "workflow_a", "workflows", "a")
    assert [workflows.find_called_workflow(name) for name in names] == ["a", "a", "", ""]


FLOW = workflow(
    tool("s", "echo", params={"spec-id": "${vars.spec-id}"}, expect={"spec-id": "rfc1"}),
    variables={"spec-id": Variable(Kind.STRING, "Which one"), "limit": Variable(Kind.INTEGER, "", 5)},
    outputs={"spec": "${steps.s.result.spec-id}"},
)


def refuse(arguments: Mapping[str, Any]) -> Any:
    raise ToolError(ErrorCode.NOT_FOUND, "nothing there", "look elsewhere")


@pytest.mark.parametrize("given", [{"spec-id": "rfc1"}, {"spec-id": "rfc2"}, {}])
@pytest.mark.parametrize("answer", [echo, refuse])
async def test_the_record_of_a_run_conforms_to_the_schema(given: dict[str, Any], answer: Any) -> None:
    found = await run_workflow(FLOW, given, World({"echo": answer}))
    as_tool = replace(made_tool("w"), output=workflows.WorkflowRun)
    jsonschema.validate(to_builtins(found), output_schema(as_tool))


def test_a_workflow_may_replace_something_if_one_of_its_tools_may() -> None:
    flows = {
        "looks": workflow(tool("a", "km-search", params={"query": "tea"}), name="looks"),
        "puts": workflow(tool("a", "km-upload", params={"source_path": "tea.md"}), name="puts"),
        "runs": workflow(tool("a", "km-recipe-run", params={"recipe": "daily-health"}), name="runs"),
        "within": workflow(tool("a", "workflow.puts"), name="within"),
    }
    found = make_workflow_tools(flows, [search_everything, upload_file, run_recipe_tool])
    assert found.faults == {}
    replacing = {one.name for one in (*EnabledPack(found.pack).tools(), run_recipe_tool) if one.replaces}
    assert replacing == {"workflow.puts", "workflow.runs", "workflow.within", "km-recipe-run"}


async def test_wrong_variables_are_refused_before_any_step(problem_files: Snapshot) -> None:
    lines = []
    for given in REFUSED:
        world = World({"echo": echo})
        found = await run_workflow(flow(), given, world)
        code, step, message, hint, cause = why(found)
        assert (code, step, cause) == ("invalid_request", "", "")
        assert states(found) == [("s", "skipped", "")] and world.calls == []
        lines.append(f"{message}; {hint}")
    problem_files.assert_match("\n".join(lines), "workflow_variables.txt")
