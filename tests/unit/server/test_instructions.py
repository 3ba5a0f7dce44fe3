"""What an agent is told at once"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp import Client
from msgspec.structs import replace

from duvet.config.settings import ServerRule
from duvet.server.messages import load_instructions, render_instructions
from duvet.server.protocol.server import DuvetServer
from duvet.tools.packs import Registry
from duvet.tree.cache import BlobStore, NoBlobStore

pytestmark = pytest.mark.anyio

RULE = ServerRule()


def tools_of(text: str) -> list[str]:
    """The tools that have a line."""
    return re.findall(r"^- `(\w+)`(?: \(.*\))?: .+$", text, re.MULTILINE)


def test_each_tool_has_a_line() -> None:
    ##= man/spec/mcp.md#handshake
    ##% The instructions MUST name the enabled tools, the kinds of resources and the methods of that version, and
    ##% nothing else.
    assert tools_of(render_instructions(RULE)) == [tool.name for tool in Registry()]


async def test_each_kind_of_resource_has_a_line(client: Client) -> None:
    path, paths = "", []
    for written in re.findall(
        r"^- `(\S+)`: .+$",
        render_instructions(RULE).partition("### Available Resources")[2].partition("###")[0],
        re.MULTILINE,
    ):
        path = written.replace("…", path)
        paths.append(f"duvet://{path}")
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    collections = [one.uri for one in (await client.list_resources()).resources[:3]]
    assert sorted(paths) == sorted([*map(str, collections), *templates])


def test_other_tools_are_other_instructions() -> None:
    text = render_instructions(replace(RULE, packs=()))
    assert (tools_of(text), "tools/call" in text, "resources/read" in text) == ([], False, True)
    named = [tool.name for tool in Registry() if tool.name in text]
    assert named == []


def test_they_begin_with_what_the_server_is() -> None:
    rule = replace(RULE, title="Tea", description="What tea has to be.", page_size=7)
    text = render_instructions(rule)
    assert text.startswith("You are interacting with Tea, which provides access to project specifications, ")
    assert " traceability. What tea has to be.\n" in text
    assert render_instructions(RULE).startswith(
        "You are interacting with the Duvet MCP server, which provides access to"
    )
    assert ("Lists are cut after 7 entries: " in text, "Lists are whole" in text) == (True, False)
    text = render_instructions(replace(rule, page_size=0))
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The instructions MUST name the enabled tools, the kinds of resources and the methods of that version, and
    ##% nothing else.
    assert ("Lists are cut" in text, "Lists are whole; with `limit` they are cut" in text) == (False, True)


async def test_the_methods_that_they_name_are_there(server: DuvetServer) -> None:
    text = " ".join(render_instructions(RULE).split())
    named = set(re.findall(r"`((?:tools|prompts|resources|subscriptions)/[a-z/]+)`", text))
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The instructions MUST name the enabled tools, the kinds of resources and the methods of that version, and
    ##% nothing else.
    assert "is `subscriptions/listen` since protocol 2026-07-28, `resources/subscribe` before." in text
    assert named == {
        "tools/call",
        "prompts/get",
        "resources/get",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "subscriptions/listen",
    }
    assert {name for name in named if server.get_request_handler(name) is None} == set()


def kept(rule: ServerRule, blobs: BlobStore) -> str:
    return load_instructions(repr(rule), lambda: render_instructions(rule), blobs)


def test_what_is_kept_is_given_again_for_the_same_configuration_alone(tmp_path: Path) -> None:
    blobs = BlobStore(str(tmp_path))
    text = kept(RULE, blobs)
    assert text == render_instructions(RULE) == kept(RULE, NoBlobStore())
    (name,) = blobs.names()
    blobs.save(name, (_key_in(blobs, name), "what was kept"))
    assert kept(RULE, blobs) == "what was kept"
    other = replace(RULE, title="Tea")
    assert kept(other, blobs) == render_instructions(other)
    assert kept(RULE, blobs) == text


def test_what_is_spoilt_is_made_again(tmp_path: Path) -> None:
    blobs = BlobStore(str(tmp_path))
    text = kept(RULE, blobs)
    (name,) = blobs.names()
    (tmp_path / name).write_bytes(b"x")
    assert kept(RULE, blobs) == text


def _key_in(blobs: BlobStore, name: str) -> str:
    found = blobs.load(name, tuple[str, str])
    assert found is not None
    return found[0]
