"""A project in which something goes wrong while it is served."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from tests.cli.made import CONFIG, KETTLE, SPECIFICATION, make
from tests.unit.server.conftest import server_of
from tests.unit.server.opened import LONGEST

pytestmark = pytest.mark.anyio
OTHER = "# Cup\n\nA cup MUST NOT leak.\n"
MISSING = "the first is at .duvet/config.toml:5: spec.md: No such file or directory (os error 2)"
WARNING = (
    f"1 error in the project, so not everything counts; {MISSING}; list_invalid_citations lists those of citations."
)
REFUSED = {
    "status": "error",
    "error": {
        "code": "upstream_error",
        "message": "the project has no requirements",
        "hint": f"1 error in the project; {MISSING}",
    },
}
TOOLS: dict[str, dict[str, Any]] = {
    "coverage_summary": {},
    "list_uncited_requirements": {},
    "get_prioritized_requirements": {},
    "search_requirements": {"query": "kettle"},
    "get_requirement": {"reference": "5d4daa0c"},
    "get_requirement_status": {"req_identifier": "5d4daa0c"},
    "get_section": {"reference": "spec#heating"},
}
"""With what each is asked of which nothing is known while the specification is missing."""


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", KETTLE)


@pytest.fixture
async def client(kettle: Path) -> AsyncIterator[Client]:
    server = server_of(kettle)
    with anyio.fail_after(LONGEST):
        async with Client(server) as client:
            yield client
    server.live.close()


async def told(client: Client, tool: str) -> list[str]:
    answer = await client.call_tool(tool, TOOLS[tool])
    return [block.text for block in answer.content if isinstance(block, TextContent)]


async def test_the_only_specification_is_gone_and_comes_back(client: Client, kettle: Path) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% While the project has errors, an answer MUST mention them in its second block, or be an `upstream_error` if they
    ##% leave no requirements.
    before = [await told(client, tool) for tool in TOOLS]
    (kettle / "spec.md").unlink()
    for tool in TOOLS:
        (block,) = await told(client, tool)
        assert json.loads(block) == REFUSED, tool
    (kettle / "spec.md").write_text(SPECIFICATION)
    assert [await told(client, tool) for tool in TOOLS] == before


async def test_one_of_two_specifications_is_gone(client: Client, kettle: Path) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% While the project has errors, an answer MUST mention them in its second block, or be an `upstream_error` if they
    ##% leave no requirements.
    config = CONFIG.replace("[report.json]", '[[specification]]\nsource = "cup.md"\n[report.json]')
    make(kettle, {"cup.md": OTHER, ".duvet/config.toml": config})
    assert len(json.loads((await told(client, "list_uncited_requirements"))[0])) == 3
    (kettle / "spec.md").unlink()
    found = {tool: await told(client, tool) for tool in TOOLS if not tool.startswith("get_")}
    assert {tool: blocks[1] for tool, blocks in found.items()} == {
        "coverage_summary": WARNING,
        "list_uncited_requirements": f"{WARNING} suggest_citation writes the comment for one of them.",
        "search_requirements": f"{WARNING} Nothing found.",
    }
    (kettle / "spec.md").write_text(SPECIFICATION)
    assert len(await told(client, "coverage_summary")) == 1


async def test_a_project_without_requirements_in_which_nothing_is_wrong(client: Client, kettle: Path) -> None:
    make(kettle, {"spec.md": "# Kettle\n", "src/a.rs": ""})
    assert json.loads((await told(client, "coverage_summary"))[0]) == {
        "total": {"requirements": 0},
        "specifications": [{"id": "spec", "requirements": 0}],
    }
