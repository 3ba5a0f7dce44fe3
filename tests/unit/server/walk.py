"""A client goes through everything that a server has: each resource is read, each tool called, each prompt got."""

from __future__ import annotations

import json
from typing import Any

from mcp import Client
from mcp_types import TextContent, TextResourceContents
from msgspec import Struct

from tests.unit.server.plan import Plan

KEYS = {
    "specifications": {"id", "name", "url", "description"},
    "sections": {"id", "title", "content"},
    "requirements": {"identifier", "text", "status"},
    "citations": {"file_path", "line_number", "comment_text", "context_lines"},
}
"""What an object of each kind has, as the document of the resources says."""
ROWS = {
    "specifications": {"id", "name", "url", "description"},
    "sections": {"id", "title"},
    "requirements": {"identifier", "text"},
    "citations": {"id"},
}
"""What each of a collection has; below a path of its own, its `full_path` is not said again."""


class Walked(Struct):
    """What there was."""

    objects: dict[str, Any] = {}
    collections: dict[str, list[Any]] = {}
    answers: dict[str, Any] = {}
    prompts: dict[str, str] = {}


async def walk(client: Client, plan: Plan) -> Walked:
    """Go everywhere once, and look at the shape of what is there."""
    walked = Walked()
    for uri in await _uris(client):
        value = await read(client, uri)
        kind = _kind(uri)
        if isinstance(value, list):
            _check_rows(uri, kind, value)
            walked.collections[uri] = value
        else:
            assert set(value) == KEYS[kind], (uri, value)
            walked.objects[uri] = value
    await _use(client, plan, walked)
    return walked


async def read(client: Client, uri: str) -> Any:
    """The JSON of a resource."""
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents) and contents.mime_type == "application/json"
    return json.loads(contents.text)


async def _uris(client: Client) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = await client.list_resources(cursor=cursor)
        found += [one.uri for one in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(found) == len(set(found))
    return found


def _kind(uri: str) -> str:
    """Every second part of a path names a collection."""
    return uri.removeprefix("duvet:///").split("/")[:8:2][-1]


def _check_rows(uri: str, kind: str, rows: list[Any]) -> None:
    is_virtual = uri.count("/") == 3 and kind in ("requirements", "citations")
    expected = ROWS[kind] | ({"full_path"} if is_virtual else set())
    assert all(set(row) == expected for row in rows), (uri, rows[:1])


async def _use(client: Client, plan: Plan, walked: Walked) -> None:
    for tool in (await client.list_tools()).tools:
        # The client holds the answer against the schema of the tool itself.
        answer = await client.call_tool(tool.name, dict(plan.tools[tool.name]))
        block = answer.content[0]
        assert isinstance(block, TextContent) and not answer.is_error, (tool.name, answer)
        said, structured = json.loads(block.text), answer.structured_content
        assert structured is not None
        assert said == (structured["result"] if isinstance(said, list) else structured)
        walked.answers[tool.name] = structured
    for prompt in (await client.list_prompts()).prompts:
        (message,) = (await client.get_prompt(prompt.name, dict(plan.prompts[prompt.name]))).messages
        assert isinstance(message.content, TextContent)
        walked.prompts[prompt.name] = message.content.text
