"""The checklists of the document about a server core, line by line, with the installed `contextive-mcp`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.plugin_runner import PackContext
from duvet.tools.tool import EnabledPack
from duvet.version import VERSION
from tests.cli.command import environment, run
from tests.cli.sample_project import make
from tests.unit.server.stdio_server import Wire
from tests.unit.tools.tool_calls import FILES, Fixed, context_of
from tests.unit.tools.tutorial.kettle_pack.pack import PACK as KETTLE, Boil, Boiled, boil

pytestmark = pytest.mark.anyio
CONFIG = """
[server]
name = "contextive"
title = "Contextive"

[toolPacks.introspect]
enabled = true

[workflows.look]
description = "Looks round"
steps = [{ id = "info", tool = "duvet_server_info" }, { id = "count", tool = "coverage_summary" }]
outputs = { name = "${steps.info.result.name}", total = "${steps.count.result.total.requirements}" }
"""


@pytest.fixture
def core(duvet_command: str) -> str:
    return str(Path(duvet_command).with_name("contextive-mcp"))


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    return make(tmp_path / "work", {**FILES, "contextive.config.toml": CONFIG})


@pytest.fixture
def harness(core: str, workplace: Path) -> Iterator[Wire]:
    wire = Wire(core, workplace)
    yield wire
    wire.kill()


@pytest.mark.criterion("core 4.1.1", "core 4.1.5")
async def test_4_1_a_client_of_the_installed_program(core: str, workplace: Path) -> None:
    """`.ci/interop` runs external test suites against the same server."""
    server = StdioServerParameters(command=core, args=[], env=environment(), cwd=workplace)
    async with Client(stdio_client(server)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("workflow_look", {})
        assert (await client.list_resources()).resources and (await client.list_prompts()).prompts
    assert names[-3:] == ["duvet_server_info", "duvet_health", "workflow.look"]
    assert answer.structured_content and answer.structured_content["outputs"] == {"name": "contextive", "total": 8}


@pytest.mark.criterion("core 2.2.3")
def test_4_1_the_loader_heeds_variables_of_the_environment(core: str, workplace: Path) -> None:
    make(workplace, {"other.json": '{"server": {"name": "other", "title": "$TITLE"}}'})
    found = run(core, workplace, "--describe", environ={"CONTEXTIVE_CONFIG": "other.json", "TITLE": "From outside"})
    assert json.loads(found.out)["server"] | {"description": ""} == {
        "name": "other",
        "title": "From outside",
        "version": VERSION,
        "description": "",
        "mode": "stdio",
    }
    absent = run(core, workplace, environ={"CONTEXTIVE_CONFIG": "absent.json"})
    assert (absent.code, "CONTEXTIVE_CONFIG" in absent.err) == (1, True)


@pytest.mark.criterion("core 4.2.2")
def test_4_2_an_example_of_a_pack_of_tools() -> None:
    """Its handler alone, and called as a guest; as an installed distribution it is in `tests/slow/tools/test_plugins.py`."""

    class Settings(PackContext):
        def __init__(self, **settings: Any) -> None:
            self.settings = settings

        def progress(self, done: float, total: float | None = None, message: str = "") -> None:
            assert (done, total) == (1, 1)

    assert boil(Boil(1.0), Settings(watts=1000, name="big")) == Boiled(335, "big")
    desk = ToolDispatcher(Registry([EnabledPack(KETTLE, is_guest=True)]), Fixed(context_of(FILES)))
    answer = anyio.run(desk.call, "boil", {"litres": 1, "celsius": 60}, Caller())
    assert answer.value == Boiled(84, "kettle")


@pytest.mark.criterion("core 4.2.3")
def test_4_2_from_end_to_end_over_standard_streams(harness: Wire) -> None:
    assert harness.greet()["result"]["serverInfo"]["title"] == "Contextive"
    assert harness.ask("prompts/list", {})["result"]["prompts"]
    uri = harness.ask("resources/list", {})["result"]["resources"][0]["uri"]
    assert harness.ask("resources/read", {"uri": uri})["result"]["contents"][0]["uri"] == uri
    params = {"name": "workflow.look", "arguments": {}, "_meta": {"progressToken": "p"}}
    harness.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
    told = [harness.read() for _ in range(4)]
    assert [one["params"]["message"] for one in told[:3]] == ["info", "count", "done"]
    assert told[3]["result"]["structuredContent"]["outputs"] == {"name": "contextive", "total": 8}
    assert harness.end() == 0
