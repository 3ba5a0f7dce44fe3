"""The tools of pages by `/api/mcp`, criterion by criterion: what they list, show, find and link"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.server.http.nexus import ALPHA, API, BETA, DELTA, GAMMA, dated, nexus, post

pytestmark = pytest.mark.anyio
NOT_FOUND = {
    "status": "error",
    "error": "Page 'alpah' not found",
    "code": "not_found",
    "hint": "did you mean alpha?",
}


async def test_criterion_2_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        answer = await client.post(API, json={"tool": "list_pages"})
    assert answer.status_code == 200
    assert sorted(answer.json()["result"], key=lambda row: str(row["slug"])) == [
        {"slug": "alpha", "title": "Alpha"},
        {"slug": "beta", "title": "Beta"},
        {"slug": "delta", "title": "Delta"},
        {"slug": "gamma", "title": "Gamma"},
    ]


async def test_criterion_2_2(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `list_pages` and `duvet pages` MUST list all pages, the newest first.
    async with nexus(tmp_path) as client:
        assert [row["slug"] for row in (await post(client, "list_pages"))[1]] == ["delta", "beta", "gamma", "alpha"]


async def test_criterion_2_3(tmp_path: Path) -> None:
    async with nexus(tmp_path, {}) as client:
        assert await post(client, "list_pages") == (200, [])


async def test_all_pages_are_listed(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `list_pages` and `duvet pages` MUST list all pages, the newest first.
    async with nexus(tmp_path, {f"docs/{number:03}.md": "" for number in range(120)}) as client:
        assert len((await post(client, "list_pages"))[1]) == 120
        answer = (await client.post(API, json={"tool": "list_pages", "input": {"limit": 7}})).json()
    assert (len(answer["result"]), answer["total"]) == (7, 120)
    assert answer["next_cursor"]


async def test_criterion_3_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert await post(client, "get_page", slug="delta") == (
            200,
            {"slug": "delta", "title": "Delta", "content": DELTA, "outlinks": [], "backlinks": []},
        )
        assert (await post(client, "get_page", slug=" beta "))[1]["content"] == BETA


async def test_criterion_3_2(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty required
    ##% argument.
    async with nexus(tmp_path) as client:
        assert await post(client, "get_page", slug="alpah") == (404, NOT_FOUND)
        far = {**NOT_FOUND, "error": "Page '../../etc/passwd' not found", "hint": "the list of pages has all slugs"}
        assert await post(client, "get_page", slug="../../etc/passwd") == (404, far)


async def test_criterion_3_3(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert (await post(client, "get_page", slug="alpha"))[1]["outlinks"] == ["beta", "gamma", "missing"]
        assert (await post(client, "get_page", slug="beta"))[1]["outlinks"] == ["alpha", "gamma"]


async def test_criterion_3_4(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert (await post(client, "get_page", slug="gamma"))[1]["backlinks"] == ["beta", "alpha"]


async def test_a_page_with_requirements(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_page` and `duvet pages show` MUST show the requirements that a page names, and the code that cites them.
    async with nexus(tmp_path) as client:
        page = (await post(client, "get_page", slug="gamma"))[1]
        connections = (await post(client, "get_connections", slug="gamma"))[1]
    path = "/specifications/spec/sections/brewing/requirements"
    requirements = [
        {
            "identifier": "38574ef4fa26",
            "full_path": f"{path}/38574ef4fa26",
            "target": "docs/spec.md#brewing",
            "text": "Tea MUST be hot.",
            "status": "needs tests",
            "citations": [{"file_path": "src/tea.rs", "line_number": 1, "type": "citation"}],
        },
        {
            "identifier": page["requirements"][1]["identifier"],
            "full_path": f"{path}/{page['requirements'][1]['identifier']}",
            "target": "docs/spec.md#brewing",
            "text": "Milk MAY be added.",
            "status": "not started",
            "citations": [],
        },
    ]
    assert page == {
        "slug": "gamma",
        "title": "Gamma",
        "content": GAMMA,
        "outlinks": [],
        "backlinks": ["beta", "alpha"],
        "requirements": requirements,
    }
    assert connections["requirements"] == requirements


async def test_criterion_4_1(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert await post(client, "search", query="KETTLE") == (
            200,
            [{"slug": "alpha", "title": "Alpha", "excerpt": "..." + ALPHA[ALPHA.index("kettle") - 50 :]}],
        )


async def test_criterion_4_2(tmp_path: Path) -> None:
    files = {"docs/a.md": "---\ntitle: On tea\n---\nx\n", "docs/b.md": "# Cups\n\nFor tea.\n"}
    async with nexus(tmp_path, files) as client:
        assert await post(client, "search", query="tea") == (
            200,
            [
                {"slug": "a", "title": "On tea", "excerpt": "x\n"},
                {"slug": "b", "title": "Cups", "excerpt": "# Cups\n\nFor tea.\n"},
            ],
        )


async def test_criterion_4_3(tmp_path: Path) -> None:
    async with nexus(tmp_path, {f"docs/{number}.md": "tea" for number in range(30)}) as client:
        assert len((await post(client, "search", query="tea"))[1]) == 20


async def test_criterion_4_4(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert await post(client, "search", query="nothing like it") == (200, [])


async def test_criterion_6_1(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_connections` MUST return the outlinks and backlinks of a page, and the graph of the pages around it.
    async with nexus(tmp_path) as client:
        assert await post(client, "get_connections", slug="alpha") == (
            200,
            {
                "slug": "alpha",
                "outlinks": ["beta", "gamma", "missing"],
                "backlinks": ["beta"],
                "localGraph": {
                    "nodes": [
                        {"id": "alpha", "title": "Alpha", "connections": 2},
                        {"id": "beta", "title": "Beta", "connections": 2},
                        {"id": "gamma", "title": "Gamma", "connections": 2},
                    ],
                    "edges": [
                        {"source": "beta", "target": "alpha"},
                        {"source": "alpha", "target": "gamma"},
                        {"source": "beta", "target": "gamma"},
                    ],
                },
            },
        )


async def test_criterion_6_2(tmp_path: Path) -> None:
    files = {
        "docs/a.md": dated(4, "[[b]] [[a]]"),
        "docs/b.md": dated(3, "[[c]]"),
        "docs/c.md": dated(2, "[[a]] [[d]]"),
        "docs/d.md": dated(1, "# The last"),
    }
    async with nexus(tmp_path, files) as client:
        around_a = (await post(client, "get_connections", slug="a"))[1]["localGraph"]
        around_d = (await post(client, "get_connections", slug="d"))[1]["localGraph"]
    assert around_a == {
        "nodes": [
            {"id": "a", "title": "a", "connections": 2},
            {"id": "b", "title": "b", "connections": 2},
            {"id": "c", "title": "c", "connections": 3},
        ],
        "edges": [{"source": "a", "target": "b"}, {"source": "c", "target": "a"}, {"source": "b", "target": "c"}],
    }
    assert around_d == {
        "nodes": [{"id": "d", "title": "The last", "connections": 1}, {"id": "c", "title": "c", "connections": 3}],
        "edges": [{"source": "c", "target": "d"}],
    }


async def test_criterion_6_3(tmp_path: Path) -> None:
    async with nexus(tmp_path) as client:
        assert await post(client, "get_connections", slug="alpah") == (404, NOT_FOUND)
