"""A server with its own name and version: criteria for handshakes; `test_stdio.py` has those for errors (2.4)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.unit.server.stdio_server import Message, Wire, hello

SPEXUS = ROOT / "man" / "examples" / "spexus.toml"
FILES = {
    "requirements.md": "# Requirements\n\n## Login\n\nA user MUST log in.\nA session SHOULD end by itself.\n",
    "login.py": "##= requirements.md#login\n##% A user MUST log in.\ndef login(): ...\n",
}
LISTS = {"prompts": "prompts/list", "resources": "resources/list", "tools": "tools/list"}
Start = Callable[..., Wire]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "spexus", FILES)


@pytest.fixture
def server(wire: Start) -> Wire:
    return wire("--config", str(SPEXUS), "mcp")


def listed(server: Wire, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = server.ask(LISTS[name], {"cursor": cursor} if cursor else {})["result"]
        found += page[name]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


def test_1_to_3_the_answer_to_a_handshake(server: Wire) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    server.send(hello("2025-11-25", "the-7th"))
    line = server.line()
    # 2.5: one line of JSON.
    assert b"\n" not in line and b"\r" not in line
    answer = json.loads(line.decode("utf-8"), parse_constant=refuse)
    result = answer.pop("result")
    # 2.1, 2.2 and 2.3: JSON-RPC, the id of the request, and all data in the result.
    assert answer == {"jsonrpc": "2.0", "id": "the-7th"}
    # 1.1: the required fields.
    assert result.keys() == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
    # 1.2: the configured version of the protocol.
    assert result["protocolVersion"] == "2025-03-26"
    # 1.3: the server.
    info, title = result["serverInfo"], "MCP server for requirements management system"
    assert (info["name"], info["title"], info["version"]) == ("spexus mcp", title, "1.0.0")
    # 1.4, 1.5, 4.1 and 4.2: three sections, whose lists may change.
    assert [result["capabilities"][name]["listChanged"] for name in LISTS] == [True, True, True]
    # 3.1 and 3.2: comprehensive instructions.
    instructions = result["instructions"]
    headings = [text.removeprefix("### ") for text in instructions.splitlines() if text.startswith("### ")]
    parts = ["Available Resources", "Available Tools", "How to Interact", "Example Usage", "How to Work"]
    assert headings == parts
    assert instructions.startswith(f"You are interacting with {title}, which ")


def test_3_3_to_4_5_instructions_are_true_and_what_is_declared_and_listed_works(server: Wire, project: Path) -> None:
    answer = server.greet()["result"]
    text, declared = answer["instructions"], answer["capabilities"]
    # 3.3: which tools exist, and how to use them.
    tools = listed(server, "tools")
    for tool in tools:
        needed = tool["inputSchema"].get("required", [])
        assert (f"- `{tool['name']}` ({', '.join(needed)}): " if needed else f"- `{tool['name']}`") in text
    assert 'Use `tools/call` with `{"name": "' in text
    # 3.4: how resources are reached.
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
    # 4.4: what is declared works.
    completion: Message = {
        "ref": {"type": "ref/prompt", "name": "triage_uncited"},
        "argument": {"name": "spec", "value": "r"},
    }
    asked: dict[str, tuple[str, Message]] = {
        "completions": ("completion/complete", completion),
        "logging": ("logging/setLevel", {"level": "warning"}),
        **{name: (method, {}) for name, method in LISTS.items()},
    }
    assert declared.keys() - {"experimental"} == asked.keys()
    assert [name for name, (method, params) in asked.items() if "result" not in server.ask(method, params)] == []
    # 4.5: what is listed can be used.
    uri = listed(server, "resources")[0]["uri"]
    assert server.ask("resources/read", {"uri": uri})["result"]["contents"][0]["uri"] == uri
    for prompt in listed(server, "prompts"):
        needs = [one["name"] for one in prompt["arguments"] if one["required"]]
        assert ("error" in server.ask("prompts/get", {"name": prompt["name"]})) == bool(needs)
    for tool in tools:
        called = server.ask("tools/call", {"name": tool["name"], "arguments": {}})["result"]
        assert called.get("isError", False) == bool(tool["inputSchema"].get("required")), tool["name"]
    # 4.3: resources can be subscribed to.
    assert declared["resources"]["subscribe"] is True
    uri = "duvet:///specifications/requirements/sections/login"
    assert server.ask("resources/subscribe", {"uri": uri})["result"] == {}
    make(project, {"requirements.md": FILES["requirements.md"].replace("# Login", "# Login\n\nOnce.")})
    assert server.read() == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def test_3_5_instructions_change_when_capabilities_change(wire: Start, server: Wire, tmp_path: Path) -> None:
    fewer = tmp_path / "fewer.toml"
    fewer.write_text(SPEXUS.read_text().replace("[server]\n", "[server]\npacks = []\n"))
    less = wire("--config", str(fewer), "mcp")
    told, less_told = (one.greet()["result"]["instructions"] for one in (server, less))
    tools = [tool["name"] for tool in listed(server, "tools")]
    assert tools and listed(less, "tools") == []
    assert all(name in told and name not in less_told for name in tools)
    assert "`resources/get`" in told and "`resources/get`" in less_told
    # The cached instructions are those of the same configuration.
    assert wire("--config", str(SPEXUS), "mcp").greet()["result"]["instructions"] == told
