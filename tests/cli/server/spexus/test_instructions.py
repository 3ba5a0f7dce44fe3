"""What the server tells of its use"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.server.spexus.made import SPEXUS, Start, listed
from tests.unit.server.wire import Wire


def test_3_1_instructions_are_a_string(result: dict[str, Any]) -> None:
    assert isinstance(result["instructions"], str)


def test_3_2_instructions_are_comprehensive(instructions: str) -> None:
    headings = [text for text in instructions.splitlines() if text.startswith("### ")]
    assert headings == [
        "### Available Resources",
        "### Available Tools",
        "### How to Interact",
        "### Example Usage",
        "### How to Work",
    ]
    assert instructions.startswith("You are interacting with MCP server for requirements management system, which ")


def test_3_3_instructions_say_which_tools_there_are_and_how_to_use_them(server: Wire) -> None:
    text = server.greet()["result"]["instructions"]
    tools = listed(server, "tools")
    assert [tool["name"] for tool in tools if f"- `{tool['name']}`" not in text] == []
    needed = [(tool["name"], tool["inputSchema"].get("required", [])) for tool in tools]
    assert [name for name, words in needed if words and f"- `{name}` ({', '.join(words)}): " not in text] == []
    assert 'Use `tools/call` with `{"name": "' in text


def test_3_4_instructions_say_how_resources_are_reached_and_that_works(server: Wire) -> None:
    text = server.greet()["result"]["instructions"]
    for method in ("resources/list", "resources/get", "resources/read", "resources/templates/list"):
        assert f"`{method}`" in text
    assert '`{"path": "/specifications"}`' in text
    (child,) = server.ask("resources/list", {"path": "/specifications"})["result"]["resources"]
    assert child["uri"] == "duvet:///specifications/requirements"
    (document,) = server.ask("resources/get", {"path": "/specifications"})["result"]
    assert document["id"] == "requirements"
    assert server.ask("resources/get", {"uri": child["uri"]})["result"] == document
    (read,) = server.ask("resources/read", {"uri": "duvet:///specifications?limit=10"})["result"]["contents"]
    assert json.loads(read["text"]) == [document]


def test_3_5_instructions_change_when_capabilities_change(start: Start, tmp_path: Path) -> None:
    fewer = tmp_path / "fewer.toml"
    fewer.write_text(SPEXUS.read_text().replace("[server]\n", "[server]\npacks = []\n"))
    whole, less = start(), start(fewer)
    told, less_told = (one.greet()["result"]["instructions"] for one in (whole, less))
    tools = [tool["name"] for tool in listed(whole, "tools")]
    assert tools and listed(less, "tools") == []
    assert [name for name in tools if name not in told] == []
    assert [name for name in tools if name in less_told] == []
    assert ("`resources/get`" in told, "`resources/get`" in less_told) == (True, True)
    # What was told last time is kept, and not for another configuration.
    again = start()
    assert again.greet()["result"]["instructions"] == told
