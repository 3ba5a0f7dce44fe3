"""`km-recipe-run` by the protocol over pipes and HTTP, and by plain HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.made import make
from tests.unit.knowledge.stored import fill
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, READER, asking, call
from tests.unit.tools.made import FILES

pytestmark = pytest.mark.anyio
LONGEST = 60
TOOL = "km-recipe-run"
TOKENS = {"KM_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN}
CONFIG = {"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}}
RECIPES = {
    "recipes/look.yaml": 'variables: { x: 1 }\nsteps: [{ id: a, tool: km-help }]\noutputs: { x: "${vars.x}" }\n',
    "recipes/gone.yaml": "steps: [{ id: a, tool: km-graph-node, params: { node_id: Code:gone.py } }, { id: b, tool: km-help }]\n",
    "recipes/odd.yaml": "steps: [{ id: a, tool: km-help, expect: { status: odd } }]\n",
    "recipes/slow.yaml": "steps:\n  - id: a\n    wait:\n      { tool: km-help, until: { path: status, equals: odd }, interval_seconds: 2, timeout_seconds: 1 }\n",
    "recipes/bad.yaml": "steps: [{ id: a, tool: km-hlep }]\n",
}
FAILURES = {
    "gone": (503, "tool_failed", ["error", "skipped"]),
    "odd": (409, "assert_failed", ["error"]),
    "slow": (504, "timeout", ["error"]),
    "bad": (400, "invalid_request", None),
    "none": (404, "recipe_not_found", None),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(make(tmp_path / "pot", {**FILES, **RECIPES, "duvet.config.json": json.dumps(CONFIG)}))


def steps(found: Any) -> list[str] | None:
    return [step["status"] for step in found["details"]["steps"]] if "steps" in found.get("details", {}) else None


async def test_by_plain_http(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            status, found = await post(client, TOOL, recipe="look", vars={"x": 2})
            assert (status, found["status"], found["outputs"]) == (200, "success", {"x": 2})
            for name, (wanted, code, states) in FAILURES.items():
                status, found = await post(client, TOOL, recipe=name)
                assert (status, found["status"], found["code"], steps(found)) == (wanted, "error", code, states), name
                assert str(project) not in json.dumps(found)
        async with asking(command.where, READER) as client:
            assert (await post(client, TOOL, recipe="look"))[0] == 403
            assert TOOL not in {tool["name"] for tool in (await client.get(API)).json()["tools"]}
    # Without tokens, nobody is told who may do what.
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            assert (await post(client, TOOL, recipe="look"))[0] == 403


async def test_by_the_protocol(duvet_command: str, project: Path) -> None:
    with anyio.fail_after(LONGEST):
        async with client_of(over_stdio(duvet_command, project), MODERN) as client:
            (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == TOOL]
            assert tool.annotations and tool.annotations.read_only_hint is False
            found = await client.call_tool(TOOL, {"recipe": "look"})
            assert found.structured_content and found.structured_content["outputs"] == {"x": 1}
            failed = await client.call_tool(TOOL, {"recipe": "odd"})
            told = json.loads(failed.content[0].text)  # type: ignore[union-attr]
            assert (failed.is_error, told["status"], told["error"]["code"]) == (True, "error", "assert_failed")
            assert [step["status"] for step in told["error"]["details"]["steps"]] == ["error"]
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, READER) as client:
            refused = (await call(client, TOOL, {"recipe": "look"})).json()["result"]
            assert json.loads(refused["content"][0]["text"])["error"]["code"] == "forbidden"
