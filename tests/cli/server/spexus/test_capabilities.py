"""What the server says that it can do, and that it can"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.made import make
from tests.cli.server.spexus.made import FILES, LISTS, listed
from tests.unit.server.wire import Message, Wire


def greeted(server: Wire) -> Wire:
    server.greet()
    return server


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
