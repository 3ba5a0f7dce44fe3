"""Workflows and recipes as clients are told of them."""

from __future__ import annotations

import pytest

from duvet.server.protocol.server import describe_tool
from duvet.tools.knowledge.maintenance import run_recipe_tool, upload_file
from duvet.tools.knowledge.search import search_everything
from duvet.tools.tool import EnabledPack
from duvet.workflows.pack import make_workflow_tools
from tests.unit.workflows.made import tool, workflow

FLOWS = {
    "looks": workflow(tool("a", "km-search", params={"query": "tea"}), name="looks"),
    "puts": workflow(tool("a", "km-upload", params={"source_path": "tea.md"}), name="puts"),
    "runs": workflow(tool("a", "km-recipe-run", params={"recipe": "daily-health"}), name="runs"),
    "within": workflow(tool("a", "workflow.puts"), name="within"),
}


@pytest.mark.parametrize(("name", "replaces"), [("looks", False), ("puts", True), ("runs", True), ("within", True)])
def test_what_may_replace_something(name: str, replaces: bool) -> None:
    found = make_workflow_tools(FLOWS, [search_everything, upload_file, run_recipe_tool], ())
    assert found.faults == {}
    tools = [*EnabledPack(found.pack).tools(), run_recipe_tool]
    told = {one.name: describe_tool(one).annotations for one in tools}
    hints = told[f"workflow.{name}"], told["km-recipe-run"]
    assert [one and one.destructive_hint for one in hints] == [replaces, True]
