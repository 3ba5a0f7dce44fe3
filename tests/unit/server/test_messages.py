import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from msgspec.structs import replace

from duvet.config.service_tables import ServerSection
from duvet.prompts.library import list_prompts
from duvet.server.messages import load_instructions, render_instructions
from duvet.server.protocol.server import DuvetServer
from duvet.tools.packs import Registry, enable_packs
from duvet.tree.cache import BlobStore
from tests.slow.test_conformance import copy_with_links
from tests.tokens import MOST, tokens
from tests.unit.server.clients import blocks, prompt_text
from tests.unit.server.servers import server_of
from tests.unit.server.walk import make_plan

pytestmark = pytest.mark.anyio

RULE = ServerSection()


def tools_of(text: str) -> list[str]:
    return re.findall(r"^- `(\w+)`(?: \(.*\))?: .+$", text, re.MULTILINE)


def test_the_instructions_name_the_enabled_tools_and_no_others() -> None:
    assert tools_of(render_instructions(RULE, Registry())) == [tool.name for tool in Registry()]
    text = render_instructions(RULE, Registry(enable_packs(())))
    assert (tools_of(text), "tools/call" in text, "resources/read" in text) == ([], False, True)
    assert [tool.name for tool in Registry() if tool.name in text] == []


def test_the_instructions_begin_with_the_title_and_the_description() -> None:
    rule = replace(RULE, title="Tea", description="What tea has to be.", page_size=7)
    text = render_instructions(rule, Registry())
    assert text.startswith("You are interacting with Tea, which provides access to project specifications, ")
    assert " traceability. Its description: What tea has to be.\n" in text
    default = "You are interacting with the Duvet MCP server, which provides access to"
    assert render_instructions(RULE, Registry()).startswith(default)
    assert ("A list has up to 7 entries. For more, " in text, "Lists are complete" in text) == (True, False)
    text = render_instructions(replace(rule, page_size=0), Registry())
    assert "A list has up to" not in text and "Lists are complete unless you set `limit`. For more, " in text


async def test_the_instructions_name_methods_and_resources_of_the_server(server: DuvetServer, client: Client) -> None:
    part = render_instructions(RULE, Registry()).partition("### Available Resources")[2].partition("###")[0]
    path, paths = "", []
    for written in re.findall(r"^- `(\S+)`: .+$", part, re.MULTILINE):
        path = written.replace("…", path)
        paths.append(f"duvet://{path}")
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    collections = [one.uri for one in (await client.list_resources()).resources[:3]]
    assert sorted(paths) == sorted([*map(str, collections), *templates])
    text = " ".join(render_instructions(RULE, Registry()).split())
    ##= man/spec/mcp.md#connecting
    ##% The server's instructions MUST name exactly the enabled tools, the kinds of resources and the supported methods.
    assert "use `subscriptions/listen` (protocol 2026-07-28 or newer) or `resources/subscribe` (older)." in text
    named = set(re.findall(r"`((?:tools|prompts|resources|subscriptions)/[a-z/]+)`", text))
    resources = {f"resources/{name}" for name in ("get", "list", "read", "subscribe", "templates/list")}
    assert named == {"tools/call", "prompts/get", "subscriptions/listen", *resources}
    assert {name for name in named if server.get_request_handler(name) is None} == set()


def test_cached_instructions_are_used_for_the_same_configuration_alone(tmp_path: Path) -> None:
    def load(rule: ServerSection, blobs: BlobStore) -> str:
        return load_instructions(repr(rule), lambda: render_instructions(rule, Registry()), blobs)

    blobs = BlobStore(str(tmp_path))
    text = load(RULE, blobs)
    assert text == render_instructions(RULE, Registry()) == load(RULE, BlobStore())
    (name,) = blobs.names()
    kept = blobs.load(name, tuple[str, str])
    assert kept is not None
    blobs.save(name, (kept[0], "what was kept"))
    assert load(RULE, blobs) == "what was kept"
    other = replace(RULE, title="Tea")
    assert load(other, blobs) == render_instructions(other, Registry())
    assert load(RULE, blobs) == text
    # A damaged file is written again.
    (tmp_path / name).write_bytes(b"x")
    assert load(RULE, blobs) == text


async def test_tools_and_instructions_are_short(client: Client) -> None:
    ##= man/spec/mcp.md#connecting
    ##% The list of tools and the instructions together MUST have fewer than 4,000 tokens.
    tools = [one.model_dump_json(by_alias=True, exclude_none=True) for one in (await client.list_tools()).tools]
    instructions = tokens(render_instructions(ServerSection(), Registry()))
    assert len(tools) == len(list(Registry()))
    assert (instructions < 1_100, tokens("\n".join(tools)) + instructions < MOST) == (True, True)


async def test_answers_and_prompts_about_a_real_project_are_short(shared: Path, tmp_path: Path) -> None:
    served = server_of(copy_with_links(shared / "golden/s2n-tls-132053b/project", tmp_path / "project"))
    context = await served.live.context()
    catalogue = context.catalogue
    card = max(catalogue.requirements, key=lambda one: len(one.citations))
    plan = make_plan(catalogue, catalogue.citations[card.citations[0]])

    # Sections with only test vectors need more tokens, and agents rarely work on them.
    def length(spot: tuple[int, str]) -> int:
        known = context.project.specification(catalogue.specifications[spot[0]])
        return sum(map(len, known.sections[known.by_id[spot[1]]].lines))

    specification, name = max({(one.specification, one.section) for one in catalogue.requirements}, key=length)
    section = f"{catalogue.specifications[specification].id}#{name}"
    calls: dict[str, dict[str, Any]] = {
        "get_section": {"reference": section},
        "search_requirements": {"query": "stream"},
    }
    calls["validate_citations"] = {"citations": [plan.tools["validate_citation"]["citation"]] * 20}
    calls["get_citation_context"] = {"citation_id": plan.tools["get_citation_context"]["citation_id"]}
    paid = {}
    async with Client(served, mode="legacy") as agent:
        for tool in (await agent.list_tools()).tools:
            answer = await agent.call_tool(tool.name, dict({**plan.tools, **calls}[tool.name]))
            assert not answer.is_error, (tool.name, answer)
            paid[tool.name] = tokens("\n".join(blocks(answer)))
        for prompt in list_prompts(served.dispatcher.registry):
            given = {**plan.prompts, "explain_section": {"section": section}}[prompt.name]
            paid[prompt.name] = tokens(await prompt_text(agent, prompt.name, dict(given)))
    assert {name: count for name, count in paid.items() if count >= MOST} == {}
