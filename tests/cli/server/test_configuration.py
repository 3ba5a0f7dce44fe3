import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duvet.config.service_tables import ServerSection
from duvet.server.messages import render_instructions
from duvet.tools.packs import Registry
from tests.cli.sample_project import make
from tests.cli.tea_project import CONFIG
from tests.unit.knowledge.stored_project import fill
from tests.unit.llm.provider_server import Wire as Provider, openai_says
from tests.unit.server.clients import MODERN
from tests.unit.server.stdio_server import Message, Wire, enveloped, request
from tests.unit.specs.download_server import at_work

TRACE_CONFIG = ".duvet/config.toml"
LISTS = ("tools/list_changed", "prompts/list_changed")
FEW = '{"toolPacks": {"trace": {"tools": {"get_section": false}}, "introspect": {}}, "server": {"pageSize": 1}}'
Start = Callable[..., Wire]


def call(server: Wire, name: str, **arguments: object) -> dict[str, Any]:
    result: dict[str, Any] = server.ask("tools/call", {"name": name, "arguments": arguments})["result"]
    return result


def tools_of(server: Wire, params: Message | None = None) -> list[str]:
    return [tool["name"] for tool in server.ask("tools/list", params)["result"]["tools"]]


def wait_for(wire: Wire, *methods: str) -> None:
    waiting = {f"notifications/{method}" for method in methods}
    while waiting:
        waiting.discard(wire.read().get("method", ""))


@pytest.fixture
def process(wire: Start) -> Wire:
    server = wire()
    server.greet()
    return server


def test_the_configured_identity(wire: Start, project: Path) -> None:
    about = 'name = "teas"\ntitle = "Teas"\nversion = "7"\ndescription = "All tea"\nprotocol-version = "2024-11-05"\n'
    make(project, {TRACE_CONFIG: f"{CONFIG}[server]\n{about}"})
    result = wire().greet("2025-11-25")["result"]
    assert (result["serverInfo"], result["protocolVersion"], result["instructions"]) == (
        {"name": "teas", "title": "Teas", "version": "7", "description": "All tea"},
        "2024-11-05",
        render_instructions(ServerSection(title="Teas", description="All tea"), Registry()),
    )


def test_a_wrong_configuration_fails_calls_until_it_is_fixed(wire: Start, project: Path) -> None:
    make(project, {TRACE_CONFIG: f"{CONFIG}[server]\nname = 7\n"})
    server = wire()
    assert server.greet()["result"]["serverInfo"]["name"] == "duvet"
    for more in ("[server]\nname = 7\n", "[server]\npage-size = -1\n", "[[["):
        make(project, {TRACE_CONFIG: CONFIG + more})
        failed = call(server, "coverage_summary")
        error = json.loads(failed["content"][0]["text"])["error"]
        assert (failed["isError"], error["code"]) == (True, "upstream_error")
        make(project, {TRACE_CONFIG: CONFIG})
        assert call(server, "coverage_summary").get("isError", False) is False


##= man/spec/service.md#configuration
##% After a valid edit of its configuration or of a pack's file, the server MUST use the new version for the next
##% request, or log which keys require a restart.
##= man/spec/service.md#configuration
##% After an invalid edit of its configuration, the server MUST keep the previous configuration.
@pytest.mark.parametrize("path", ["duvet.config.json", TRACE_CONFIG])
def test_an_edit_applies_to_the_next_request(process: Wire, project: Path, path: str) -> None:
    before = tools_of(process)
    assert len(call(process, "list_uncited_requirements")["structuredContent"]["result"]) > 1
    more = '\n[server]\npacks = ["introspect", "trace"]\npage-size = 1\n'
    make(project, {path: FEW if path.endswith("json") else (project / path).read_text() + more})
    after = tools_of(process)
    assert set(before) ^ set(after) >= {"duvet_server_info", "duvet_health"}
    assert ("get_section" in after) == path.endswith("toml")
    answer = call(process, "list_uncited_requirements")["structuredContent"]
    assert len(answer["result"]) == 1 and answer["next_cursor"]
    told = process.ask("prompts/get", {"name": "system"})["result"]["messages"][0]["content"]["text"]
    assert "`duvet_health`" in told and ("`get_section`" in told) == path.endswith("toml")


def test_clients_without_a_handshake_are_notified(wire: Start, project: Path) -> None:
    process = wire()
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    process.send(request("subscriptions/listen", enveloped({"notifications": wanted}), id="listen"))
    wait_for(process, "subscriptions/acknowledged")
    assert len(tools_of(process, enveloped())) == 13
    assert process.ask("tools/call", enveloped({"name": "coverage_summary"}))["result"]
    make(project, {"duvet.config.json": FEW})
    wait_for(process, *LISTS)
    assert len(tools_of(process, enveloped())) == 14
    assert MODERN in process.ask("server/discover", enveloped())["result"]["supportedVersions"]


def test_an_edit_applies_without_a_trace(wire: Start, project: Path) -> None:
    profile = "search: {{profile: {}}}\ntoolPacks: {{knowledge: {{}}}}\ningest: {{semantic: false}}\n"

    def configure(text: str) -> None:
        make(project, {"duvet.config.yaml": text})

    (fill(project) / TRACE_CONFIG).unlink()
    configure(profile.format("operations"))
    process = wire()
    process.greet()
    # Edits are noticed from the first reading on, for which this waits.
    assert call(process, "coverage_summary")["isError"]
    for name in ("operations", "analysis", "docs-heavy"):
        configure(profile.format(name))
        assert "km-search" in tools_of(process)
        answer = call(process, "km-search", query="boil")["structuredContent"]
        assert answer["metadata"]["weight_profile"] == name
    configure("toolPacks: {introspect: {}}\n")
    assert "km-search" not in tools_of(process)
    configure("search: {profile: none}\n")
    assert "duvet_health" in tools_of(process)
    assert "the configuration is invalid; the previous one remains in effect" in process.told()


ASKING = """
server: {{ logLevel: {level}, name: {name} }}
providers: {{ one: {{ baseUrl: "{url}/v1", defaultModel: small, enabled: {enabled} }} }}
workflows:
  w: {{ description: Asks, steps: [{{ id: ask, model: one, prompt: Hi }}] }}
  {more}
"""


def test_an_edit_applies_to_providers_and_to_the_log(wire: Start, project: Path) -> None:
    def configure(url: str, enabled: str = "true", level: str = "warn", name: str = "a", more: str = "") -> None:
        text = ASKING.format(url=url, enabled=enabled, level=level, name=name, more=more)
        make(project, {"duvet.config.yaml": text})

    def said(process: Wire) -> str:
        result = call(process, "workflow.w")
        told = json.loads(result["content"][0]["text"])
        return str(told["error"]["message"] if result.get("isError") else told["steps"][0]["result"]["text"])

    with at_work(Provider()) as first, at_work(Provider()) as second:
        first.plan(openai_says("first"))
        second.plan(openai_says("second"))
        configure(first.url)
        process = wire()
        process.greet()
        assert said(process) == "first"
        configure(second.url, level="info", name="b")
        assert said(process) == "second"
        configure(second.url, enabled="false", more="bad: { description: x, steps: [{ id: s, tool: nothing }] }")
        assert "the provider is disabled" in said(process)
        assert (len(first.asked), len(second.asked)) == (1, 1)
        told = process.told()
    assert "WARN restart the server to apply changes to these configuration keys keys=name" in told
    assert "INFO call face=mcp" in told and "WARN a workflow was not loaded workflow=bad at=steps[0].tool" in told


def test_an_invalid_edit_changes_nothing(process: Wire, project: Path) -> None:
    before = tools_of(process)
    assert call(process, "coverage_summary")
    for wrong in ('{"toolPacks": {"trase": {}}}', '{"serfer": {}}'):
        make(project, {"duvet.config.json": wrong})
        assert tools_of(process) == before
    first, second = process.told().splitlines()
    reason = 'reason="duvet.config.json:1: toolPacks.trase: unknown pack'
    assert f"ERROR the configuration is invalid; the previous one remains in effect {reason}" in first
    assert "unknown field `serfer`" in second
    make(project, {"duvet.config.json": FEW})
    wait_for(process, *LISTS)
    assert len(tools_of(process)) == 14
