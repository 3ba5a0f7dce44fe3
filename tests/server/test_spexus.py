"""A server with a name, a title and a version of its own, and one version of the protocol: every criterion for its
handshake, over the pipes of a real process"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.made import make
from tests.conftest import ROOT
from tests.server.clients import HANDSHAKES
from tests.server.wire import Message, Wire, hello, request

SPEXUS = ROOT / "man" / "examples" / "spexus.toml"
FILES = {
    "requirements.md": "# Requirements\n\n## Login\n\nA user MUST log in.\nA session SHOULD end by itself.\n",
    "login.py": "##= requirements.md#login\n##% A user MUST log in.\ndef login(): ...\n",
}
ID = "the-7th"
LISTS = {"prompts": "prompts/list", "resources": "resources/list", "tools": "tools/list"}

Start = Callable[..., Wire]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "spexus", FILES)


@pytest.fixture
def start(duvet_command: str, folder: Path) -> Iterator[Start]:
    """Starts the server with that configuration, or another one."""
    started: list[Wire] = []

    def begin(config: Path = SPEXUS) -> Wire:
        started.append(Wire(duvet_command, folder, "--config", str(config), "mcp"))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


@pytest.fixture
def server(start: Start) -> Wire:
    return start()


@pytest.fixture
def line(server: Wire) -> bytes:
    """The answer to `initialize` as it came."""
    server.send(hello("2025-11-25", ID))
    return server.line()


@pytest.fixture
def answer(line: bytes) -> Message:
    message: Message = json.loads(line)
    return message


@pytest.fixture
def result(answer: Message) -> dict[str, Any]:
    found: dict[str, Any] = answer["result"]
    return found


@pytest.fixture
def instructions(result: dict[str, Any]) -> str:
    return str(result["instructions"])


def listed(server: Wire, name: str) -> list[dict[str, Any]]:
    """Everything of a kind, page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = server.ask(LISTS[name], {"cursor": cursor} if cursor else {})["result"]
        found += page[name]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


def greeted(server: Wire) -> Wire:
    server.greet()
    return server


def test_1_1_the_answer_has_all_required_fields(answer: Message, result: dict[str, Any]) -> None:
    assert answer.keys() == {"jsonrpc", "id", "result"}
    assert result.keys() == {"protocolVersion", "capabilities", "serverInfo", "instructions"}


@pytest.mark.parametrize("version", [*HANDSHAKES, "2026-07-28", "1999-12-31"])
def test_1_2_the_version_of_the_protocol(version: str, server: Wire) -> None:
    assert server.greet(version)["result"]["protocolVersion"] == "2025-03-26"


def test_1_3_what_the_server_is_called(result: dict[str, Any]) -> None:
    info = result["serverInfo"]
    assert (info["name"], info["title"], info["version"]) == (
        "spexus mcp",
        "MCP server for requirements management system",
        "1.0.0",
    )


def test_1_4_capabilities_have_three_sections(result: dict[str, Any]) -> None:
    assert result["capabilities"].keys() >= {"prompts", "resources", "tools"}


def test_1_5_their_lists_may_change(result: dict[str, Any]) -> None:
    capabilities = result["capabilities"]
    assert [capabilities[name]["listChanged"] for name in LISTS] == [True, True, True]


def test_2_1_the_answer_says_that_it_is_json_rpc(answer: Message) -> None:
    assert answer["jsonrpc"] == "2.0"


@pytest.mark.parametrize("id", [0, 1, -5, 2**53 - 1, "x", "", "0", 'a "b" \u20ac'])
def test_2_2_the_id_is_that_of_the_request(id: int | str, server: Wire) -> None:
    server.send(hello(id=id))
    found = server.read()["id"]
    assert (type(found), found) == (type(id), id)


def test_2_3_all_data_is_in_the_result(answer: Message) -> None:
    assert isinstance(answer["result"], dict)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (request("initialize", {}), -32602),
        (request("initialize", {"protocolVersion": 7, "capabilities": {}, "clientInfo": {}}), -32602),
        (request("frobnicate", {}), -32601),
    ],
)
def test_2_4_an_error_stands_in_place_of_a_result(sent: Message, code: int, server: Wire) -> None:
    server.send(sent)
    answer = server.read()
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", sent["id"], code)
    assert isinstance(answer["error"]["message"], str)


def test_2_5_the_answer_is_one_line_of_json(line: bytes) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    assert json.loads(line.decode("utf-8"), parse_constant=refuse)
    assert (b"\n" in line, b"\r" in line) == (False, False)


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


def test_4_1_each_section_of_the_capabilities_is_an_object(result: dict[str, Any]) -> None:
    capabilities = result["capabilities"]
    assert [isinstance(capabilities[name], dict) for name in LISTS] == [True, True, True]


def test_4_2_every_list_may_change(result: dict[str, Any]) -> None:
    assert [name for name in LISTS if result["capabilities"][name].get("listChanged") is not True] == []


def test_4_3_resources_can_be_subscribed_to(server: Wire, folder: Path) -> None:
    assert server.greet()["result"]["capabilities"]["resources"]["subscribe"] is True
    uri = "duvet:///specifications/requirements/sections/login"
    assert server.ask("resources/subscribe", {"uri": uri})["result"] == {}
    make(folder, {"requirements.md": FILES["requirements.md"].replace("# Login", "# Login\n\nOnce.")})
    assert server.read() == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def test_4_4_what_is_declared_works(server: Wire) -> None:
    declared = server.greet()["result"]["capabilities"]
    asked: dict[str, tuple[str, Message]] = {
        "completions": (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "triage_uncited"}, "argument": {"name": "spec", "value": "r"}},
        ),
        "logging": ("logging/setLevel", {"level": "warning"}),
        **{name: (method, {}) for name, method in LISTS.items()},
    }
    assert declared.keys() - {"experimental"} == asked.keys()
    assert [name for name, (method, params) in asked.items() if "result" not in server.ask(method, params)] == []


def test_4_5_what_is_listed_can_be_used(server: Wire) -> None:
    greeted(server)
    uri = listed(server, "resources")[0]["uri"]
    assert server.ask("resources/read", {"uri": uri})["result"]["contents"][0]["uri"] == uri
    for prompt in listed(server, "prompts"):
        needs = [one["name"] for one in prompt["arguments"] if one["required"]]
        answer = server.ask("prompts/get", {"name": prompt["name"]})
        assert ("error" in answer) == bool(needs)
    for tool in listed(server, "tools"):
        answer = server.ask("tools/call", {"name": tool["name"], "arguments": {}})
        assert answer["result"].get("isError", False) == bool(tool["inputSchema"].get("required")), tool["name"]
