"""What the server answers to `initialize`"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.server.spexus.made import LISTS
from tests.unit.server.clients import HANDSHAKES
from tests.unit.server.wire import Message, Wire, hello, request


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
