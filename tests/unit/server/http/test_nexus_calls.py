"""`/api/mcp` itself, criterion by criterion: its manifest, what it refuses, the shape of its answers"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.server.http.nexus import API, DELTA, FIVE, NOTES, nexus, post
from tests.unit.server.http.serving import ADMIN, BOTH, READER

pytestmark = pytest.mark.anyio


async def test_criterion_1_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        manifest = (await client.get(API)).json()
    assert set(manifest) == {"name", "version", "description", "tools"}
    schemas = {tool["name"]: (tool["description"], tool["inputSchema"]) for tool in manifest["tools"]}
    assert all(text for text, _ in schemas.values())
    assert schemas["get_connections"][1] == {
        "type": "object",
        "properties": {"slug": {"type": "string", "description": "The slug of a page, as list_pages has it"}},
        "required": ["slug"],
    }
    assert [schemas[name][1]["required"] for name in FIVE] == [[], ["slug"], ["query"], ["question"], ["slug"]]


async def test_criterion_1_2(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = await client.get(API)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("files", [NOTES, {}], ids=["with pages", "without"])
async def test_criterion_1_3(tmp_path: Path, files: dict[str, str]) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% The server MUST show the pack `pages` to MCP clients when the project has pages or the pack is requested, and
    ##% always on `/api/mcp`.
    async with nexus(tmp_path, files) as client:
        names = [tool["name"] for tool in (await client.get(API)).json()["tools"]]
        assert (await post(client, "get_connections", slug="alpah"))[0] == 404
    assert set(FIVE) < set(names)
    assert "coverage_summary" in names


async def test_criterion_7_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        unknown = await client.post(API, json={"tool": "get_paeg"})
        missing = await client.post(API, json={"input": {}})
    assert (unknown.status_code, unknown.json()["error"], unknown.json()["hint"]) == (
        400,
        "Unknown tool: get_paeg. The tool is not found",
        "did you mean get_page?",
    )
    assert (missing.status_code, missing.json()["error"]) == (400, "Missing 'tool' field: the tool is not found")


async def test_criterion_7_2(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = await client.post(API, content=b'{"tool": ')
    assert (answer.status_code, answer.json()["error"]) == (400, "Invalid JSON body: invalid request format")


@pytest.mark.parametrize(
    ("tool", "name"), [("get_page", "slug"), ("search", "query"), ("ask", "question"), ("get_connections", "slug")]
)
async def test_criterion_7_3(tmp_path: Path, tool: str, name: str) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty required
    ##% argument.
    async with nexus(tmp_path) as client:
        for given in ({}, {name: ""}, {name: " \n"}, {name: None}, {"other": 1}):
            status, found = await post(client, tool, **given)
            assert (status, found["error"]) == (400, f"Missing required parameter: {name}")
        status, found = await post(client, tool, **{name: 5})
        assert (status, found["error"]) == (400, f"{name}: expected str, got int")


async def test_criterion_8_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = await client.post(API, json={"tool": "get_page", "input": {"slug": "delta"}})
    assert answer.status_code == 200


async def test_criterion_8_2(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = (await client.post(API, json={"tool": "search", "input": {"query": "alone"}})).json()
    assert answer == {
        "status": "ok",
        "result": [{"slug": "delta", "title": "Delta", "excerpt": DELTA}],
        "total": 1,
    }


async def test_criterion_8_3(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = (await client.post(API, json={"tool": "get_page", "input": {"slug": "alpah"}})).json()
    assert answer["error"] == "Page 'alpah' not found"


async def test_tokens(tmp_path: Path) -> None:
    async with nexus(tmp_path, tokens=BOTH) as client:
        assert (await client.get(API)).status_code == 401
        assert (await post(client, "list_pages"))[0] == 401
        for token in (READER, ADMIN):
            headers = {"authorization": f"Bearer {token}"}
            assert (await client.post(API, json={"tool": "list_pages"}, headers=headers)).status_code == 200
        wrong = {"authorization": "Bearer wrong"}
        assert (await client.post(API, json={"tool": "list_pages"}, headers=wrong)).status_code == 401
