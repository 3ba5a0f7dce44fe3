"""A desk whose calls are forwarded to the server of a team, at ports of loopback"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.made import make
from tests.cli.running import Done, run
from tests.unit.knowledge.stored import fill
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.http.serving import value_of
from tests.unit.tools.made import FILES

LONGEST = 60
CONFIG = json.dumps({"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the server of the team serves."""
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": CONFIG}))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A project at which nothing was taken in, and no pack is asked for."""
    return make(tmp_path / "desk", FILES)


def at(url: str, **tokens: str) -> dict[str, str]:
    return {"KM_GATEWAY_URL": url.removesuffix("/mcp"), **tokens}


class Here:
    """`duvet mcp` over pipes, and the shell, with that environment."""

    def __init__(self, command: str, folder: Path, environ: dict[str, str]) -> None:
        self.command, self.folder, self.environ = command, folder, environ

    def run(self, *args: str) -> Done:
        return run(self.command, self.folder, *args, environ=self.environ)

    def call(self, tool: str, given: dict[str, Any]) -> Done:
        return self.run("call", tool, "--json", json.dumps(given))

    async def pipes(self, calls: dict[str, dict[str, Any]]) -> tuple[set[str], dict[str, Any]]:
        """The tools that are shown, and what each call comes to."""
        with anyio.fail_after(LONGEST):
            async with client_of(over_stdio(self.command, self.folder, **self.environ), MODERN) as client:
                shown = {tool.name for tool in (await client.list_tools()).tools}
                return shown, {tool: value_of(await client.call_tool(tool, given)) for tool, given in calls.items()}
