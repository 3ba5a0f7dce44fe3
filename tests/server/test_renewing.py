"""What the server offers follows its configuration while it runs, with processes over pipes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.made import make
from tests.server.clients import MODERN
from tests.server.wire import Message, Wire, enveloped, request

LISTS = ("tools/list_changed", "prompts/list_changed")
FEW = '{"toolPacks": {"trace": {"tools": {"get_section": false}}, "introspect": {}}, "server": {"pageSize": 1}}'
Start = Callable[..., Wire]


def tools_of(answer: Message) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


def heard(wire: Wire, *methods: str) -> None:
    """These notices come, in whatever order and whatever else comes."""
    waiting = {f"notifications/{method}" for method in methods}
    while waiting:
        waiting.discard(wire.read().get("method", ""))


##= man/spec/service.md#configuration
##= type=test
##% While the server runs, an edit of its configuration MUST be in force with the next request, and clients MUST be told
##% that the lists of tools and prompts have changed; one that is wrong MUST be told of in the log, and what was in force
##% before stays.
@pytest.mark.parametrize("path", ["duvet.config.json", ".duvet/config.toml"])
def test_an_edit_is_in_force_with_the_next_request(wire: Start, project: Path, path: str) -> None:
    process = wire()
    process.greet()
    before = tools_of(process.ask("tools/list"))
    assert (
        len(process.ask("tools/call", {"name": "list_uncited_requirements"})["result"]["structuredContent"]["result"])
        > 1
    )
    if path.endswith("json"):
        make(project, {path: FEW})
    else:
        config = project / path
        text = config.read_text()
        config.write_text(f'{text}\n[server]\npacks = ["introspect", "trace"]\npage-size = 1\n')
    after = tools_of(process.ask("tools/list"))
    assert set(before) ^ set(after) >= {"duvet_server_info", "duvet_health"}
    assert ("get_section" in after) == path.endswith("toml")
    answer = process.ask("tools/call", {"name": "list_uncited_requirements"})["result"]["structuredContent"]
    assert len(answer["result"]) == 1 and answer["next_cursor"]
    told = process.ask("prompts/get", {"name": "system"})["result"]["messages"][0]["content"]["text"]
    assert "`duvet_health`" in told and ("`get_section`" in told) == path.endswith("toml")


def test_clients_with_a_handshake_are_told(wire: Start, project: Path) -> None:
    process = wire()
    process.greet()
    process.ask("tools/call", {"name": "coverage_summary"})
    make(project, {"duvet.config.json": FEW})
    heard(process, *LISTS)
    assert "get_section" not in tools_of(process.ask("tools/list"))


def test_clients_without_one_are_told(wire: Start, project: Path) -> None:
    process = wire()
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    process.send(request("subscriptions/listen", enveloped({"notifications": wanted}), id="listen"))
    heard(process, "subscriptions/acknowledged")
    assert len(tools_of(process.ask("tools/list", enveloped()))) == 13
    assert process.ask("tools/call", enveloped({"name": "coverage_summary"}))["result"]
    make(project, {"duvet.config.json": FEW})
    heard(process, *LISTS)
    assert len(tools_of(process.ask("tools/list", enveloped()))) == 14
    assert MODERN in process.ask("server/discover", enveloped())["result"]["supportedVersions"]


def test_one_that_is_wrong_changes_nothing(wire: Start, project: Path) -> None:
    process = wire()
    process.greet()
    before = tools_of(process.ask("tools/list"))
    assert process.ask("tools/call", {"name": "coverage_summary"})["result"]
    make(project, {"duvet.config.json": '{"toolPacks": {"trase": {}}}'})
    assert tools_of(process.ask("tools/list")) == before
    make(project, {"duvet.config.json": '{"serfer": {}}'})
    assert tools_of(process.ask("tools/list")) == before
    first, second = process.told().splitlines()
    assert (
        'ERROR the configuration stays as it was reason="duvet.config.json:1: toolPacks.trase: there is no pack'
        in first
    )
    assert "unknown field `serfer`" in second
    make(project, {"duvet.config.json": FEW})
    assert len(tools_of(process.ask("tools/list"))) == 14
