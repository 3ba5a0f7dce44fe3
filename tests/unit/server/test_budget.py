"""What an agent pays in tokens"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from duvet.config.settings import ServerRule
from duvet.prompts.library import load_prompts
from duvet.server.messages import render_instructions
from duvet.server.protocol.server import DuvetServer
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from tests.slow.test_conformance import copy_with_links
from tests.tokens import MOST, tokens
from tests.unit.server.conftest import server_of

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=["h3-704b37a", "s2n-tls-132053b"])
def folder(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real project."""
    folder = tmp_path_factory.mktemp("budget") / "project"
    copy_with_links(shared / "golden" / request.param / "project", folder)
    return folder


@pytest.fixture
def served(folder: Path) -> DuvetServer:
    return server_of(folder)


@pytest.fixture
async def agent(served: DuvetServer) -> AsyncIterator[Client]:
    async with Client(served, mode="legacy") as client:
        yield client


async def test_what_it_is_told_at_once(client: Client) -> None:
    ##= man/spec/mcp.md#limits
    ##% The list of tools and the instructions MUST be shorter than 4,000 tokens together.
    tools = [one.model_dump_json(by_alias=True, exclude_none=True) for one in (await client.list_tools()).tools]
    instructions = tokens(render_instructions(ServerRule()))
    assert len(tools) == len(list(Registry()))
    assert (instructions < 1_100, tokens("\n".join(tools)) + instructions < MOST) == (True, True)


async def test_what_each_tool_answers(agent: Client, served: DuvetServer) -> None:
    listed = (await agent.list_tools()).tools
    arguments = await _arguments(served)
    paid = {}
    for tool in listed:
        needed = tool.input_schema.get("required", [])
        answer = await agent.call_tool(tool.name, _given(tool.name, needed, arguments))
        assert not answer.is_error, (tool.name, answer)
        paid[tool.name] = tokens("\n".join(_texts(answer)))
    assert {name: count for name, count in paid.items() if count >= MOST} == {}


async def test_what_each_prompt_says(agent: Client, served: DuvetServer) -> None:
    ##= man/spec/mcp.md#prompts
    ##% A prompt MUST name the enabled tools and the equivalent commands, and leave out what exceeds about 4,000 tokens.
    arguments = await _arguments(served)
    paid = {}
    for prompt in load_prompts():
        needed = [one.name for one in prompt.arguments if one.required]
        (message,) = (await agent.get_prompt(prompt.name, {name: str(arguments[name]) for name in needed})).messages
        assert isinstance(message.content, TextContent)
        paid[prompt.name] = tokens(message.content.text)
    assert {name: count for name, count in paid.items() if count >= MOST} == {}


async def _arguments(server: DuvetServer) -> dict[str, Any]:
    """What tools and prompts have to be told, of the requirement that is cited most and the section that is longest."""
    context = await server.live.context()
    catalogue = context.catalogue
    card = max(catalogue.requirements, key=lambda one: len(one.citations))
    citation = catalogue.citations[card.citations[0]]
    # Sections of nothing but test vectors say less in as many tokens, and nobody works on them.
    spots = {(one.specification, one.section) for one in catalogue.requirements}
    longest = max(spots, key=lambda spot: _length(context, *spot))
    section = f"{catalogue.specifications[longest[0]].id}#{longest[1]}"
    written = f"//= {catalogue.target_of(card)}\n//# {card.text}"
    return {
        "citation": written,
        "citations": [written] * 20,
        "citation_id": citation.id,
        "context_lines": 20,
        "query": "stream",
        "req_identifier": card.id,
        "requirement": card.id,
        "reference": {"get_section": section, "get_requirement": card.id},
        "section": section,
        "file": citation.path,
        "url": catalogue.specifications[0].url,
    }


def _length(context: ProjectSnapshot, specification: int, section: str) -> int:
    known = context.project.specification(context.catalogue.specifications[specification])
    return sum(map(len, known.sections[known.by_id[section]].lines))


def _given(tool: str, names: list[str], arguments: dict[str, Any]) -> dict[str, Any]:
    found = {name: arguments[name] for name in names}
    return {name: value[tool] if isinstance(value, dict) else value for name, value in found.items()}


def _texts(answer: CallToolResult) -> list[str]:
    return [block.text for block in answer.content if isinstance(block, TextContent)]
