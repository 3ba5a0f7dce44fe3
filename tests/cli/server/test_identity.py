"""What the configuration says of the server, over real pipes"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duvet.config.settings import ServerRule
from duvet.server.messages import ServerIdentity, make_identity, render_instructions
from tests.cli.made_tea import CONFIG
from tests.unit.server.wire import Message, Wire

Start = Callable[..., Wire]


def config(project: Path, text: str) -> None:
    (project / ".duvet/config.toml").write_text(text)


def called(server: Wire, name: str, **arguments: object) -> dict[str, Any]:
    result: dict[str, Any] = server.ask("tools/call", {"name": name, "arguments": arguments})["result"]
    return result


def test_the_defaults_are_those_of_the_configuration() -> None:
    assert make_identity(ServerRule()) == ServerIdentity()


def test_all_that_is_said_of_it(wire: Start, project: Path) -> None:
    more = '[server]\nname = "teas"\ntitle = "Teas"\nversion = "7"\ndescription = "All tea"\nprotocol-version = "2024-11-05"\n'
    config(project, CONFIG + more)
    result = wire().greet("2025-11-25")["result"]
    assert (result["serverInfo"], result["protocolVersion"], result["instructions"]) == (
        {"name": "teas", "title": "Teas", "version": "7", "description": "All tea"},
        "2024-11-05",
        render_instructions(ServerRule(title="Teas", description="All tea")),
    )


@pytest.mark.parametrize("more", ["[server]\nname = 7\n", "[server]\npage-size = -1\n", "[[["])
def test_what_is_wrong_is_told_by_the_tools_and_can_be_mended(more: str, wire: Start, project: Path) -> None:
    config(project, CONFIG + more)
    server = wire()
    assert server.greet()["result"]["serverInfo"]["name"] == "duvet"
    failed = called(server, "coverage_summary")
    error = json.loads(failed["content"][0]["text"])["error"]
    assert (failed["isError"], error["code"]) == (True, "upstream_error")
    config(project, CONFIG)
    assert called(server, "coverage_summary").get("isError", False) is False


@pytest.mark.parametrize(("size", "shown"), [(2, 2), (0, 7)])
def test_how_long_lists_are(size: int, shown: int, wire: Start, project: Path) -> None:
    config(project, f"{CONFIG}[server]\npage-size = {size}\n")
    server = wire()
    server.greet()
    listed: Message = called(server, "get_prioritized_requirements")["structuredContent"]
    assert (len(listed["result"]), listed["total"]) == (shown, 7)
