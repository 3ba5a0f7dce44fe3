"""What the server offers follows its configuration while it runs, with processes over pipes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.unit.knowledge.stored import fill
from tests.unit.llm.wire import Wire as Provider
from tests.unit.llm.wire import openai_says
from tests.unit.server.clients import MODERN
from tests.unit.server.wire import Message, Wire, enveloped, request
from tests.unit.specs.serving import at_work

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
##% The server MUST apply a valid edit of its configuration from the next request on, except for `uploads` and `store`
##% over HTTP, notify its clients, and keep the previous configuration after an invalid edit.
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


PROFILE = "search: {{profile: {name}}}\ntoolPacks: {{knowledge: {{}}}}\ningest: {{semantic: false}}\n"


def test_an_edit_is_in_force_where_there_is_no_trace(wire: Start, project: Path) -> None:
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% The server MUST apply a valid edit of its configuration from the next request on, except for `uploads` and
    ##% `store` over HTTP, notify its clients, and keep the previous configuration after an invalid edit.
    (project / ".duvet/config.toml").unlink()
    make(fill(project), {"duvet.config.yaml": PROFILE.format(name="operations")})
    process = wire()
    process.greet()
    search = {"name": "km-search", "arguments": {"query": "boil"}}
    for name in ("operations", "analysis", "docs-heavy"):
        make(project, {"duvet.config.yaml": PROFILE.format(name=name)})
        assert "km-search" in tools_of(process.ask("tools/list"))
        answer = process.ask("tools/call", search)["result"]["structuredContent"]
        assert answer["metadata"]["weight_profile"] == name
    make(project, {"duvet.config.yaml": "toolPacks: {introspect: {}}\n"})
    assert "km-search" not in tools_of(process.ask("tools/list"))
    make(project, {"duvet.config.yaml": "search: {profile: none}\n"})
    assert "duvet_health" in tools_of(process.ask("tools/list"))
    assert "the configuration stays as it was" in process.told()


ASKING = """
server: {{ logLevel: {level}, name: {name} }}
providers: {{ one: {{ baseUrl: "{url}/v1", defaultModel: small, enabled: {enabled} }} }}
workflows:
  w: {{ description: Asks, steps: [{{ id: ask, model: one, prompt: Hi }}] }}
  {more}
"""


def test_providers_and_the_log_follow_too(wire: Start, project: Path) -> None:
    def configure(url: str, enabled: str = "true", level: str = "warn", name: str = "a", more: str = "") -> None:
        text = ASKING.format(url=url, enabled=enabled, level=level, name=name, more=more)
        make(project, {"duvet.config.yaml": text})

    def said(answer: Message) -> str:
        result = answer["result"]
        told = json.loads(result["content"][0]["text"])
        return str(told["error"]["message"] if result.get("isError") else told["steps"][0]["result"]["text"])

    with at_work(Provider()) as first, at_work(Provider()) as second:
        first.plan(openai_says("first"))
        second.plan(openai_says("second"))
        configure(first.url)
        process = wire()
        process.greet()
        ask = {"name": "workflow.w", "arguments": {}}
        assert said(process.ask("tools/call", ask)) == "first"
        configure(second.url, level="info", name="b")
        assert said(process.ask("tools/call", ask)) == "second"
        configure(second.url, enabled="false", more="bad: { description: x, steps: [{ id: s, tool: nothing }] }")
        assert "it is disabled" in said(process.ask("tools/call", ask))
        assert (len(first.asked), len(second.asked)) == (1, 1)
        told = process.told()
    assert "WARN a restart is needed for some of the configuration keys=name" in told
    assert "INFO call face=mcp" in told and "WARN a workflow is faulty workflow=bad at=steps[0].tool" in told


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
