"""`/api/mcp` and the five tools of pages, criterion by criterion."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.llm.errors import ModelError, NoModelError
from duvet.llm.records import ModelRequest, ModelResponse, Resolved
from tests.server.http.nexus import ALPHA, API, BETA, DELTA, FIVE, GAMMA, NOTES, dated, nexus, post
from tests.server.http.serving import ADMIN, BOTH, READER

pytestmark = pytest.mark.anyio
SETTING_UP = NoModelError().hint
NOT_FOUND = {
    "status": "error",
    "error": "Page 'alpah' not found",
    "code": "not_found",
    "hint": "did you mean alpha?",
}


class FakeRouter:
    """Answers what a test wants, or fails; keeps what it was asked."""

    def __init__(self, text: str = "", failure: Exception | None = None) -> None:
        self.text = text
        self.failure = failure
        self.asked: list[ModelRequest] = []

    def pick(self, request: ModelRequest) -> Resolved:
        if isinstance(self.failure, NoModelError):
            raise self.failure
        return Resolved("one", "small", "a test")

    async def invoke(self, request: ModelRequest, resolved: Resolved | None = None) -> ModelResponse:
        self.asked.append(request)
        if self.failure:
            raise self.failure
        return ModelResponse(self.text, "one", "small")


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
    ##% `/api/mcp` MUST list the five tools of the pack `pages` and call them whether the pack is switched on or not, and
    ##% whether there are pages or not.
    async with nexus(tmp_path, files) as client:
        names = [tool["name"] for tool in (await client.get(API)).json()["tools"]]
        assert (await post(client, "get_connections", slug="alpah"))[0] == 404
    assert set(FIVE) < set(names)
    assert "coverage_summary" in names


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
    ##% `list_pages` MUST answer all pages with their slugs and titles, the newest first.
    async with nexus(tmp_path) as client:
        assert [row["slug"] for row in (await post(client, "list_pages"))[1]] == ["delta", "beta", "gamma", "alpha"]


async def test_criterion_2_3(tmp_path: Path) -> None:
    async with nexus(tmp_path, {}) as client:
        assert await post(client, "list_pages") == (200, [])


async def test_all_pages_are_listed(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% By `/api/mcp`, `list_pages` MUST answer all pages unless `limit` says otherwise.
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
    ##% A page that there is not MUST be answered with `not_found`, the slug, and the nearest one where one is near.
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
    ##% A page MUST be answered with the requirements that it names, and the code that cites them.
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


async def test_criterion_5_1(tmp_path: Path) -> None:
    router = FakeRouter("It boils [1].")
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found) == (
        200,
        {"answer": "It boils [1].", "sources": [{"slug": "alpha", "title": "Alpha"}]},
    )
    (asked,) = router.asked
    assert "The kettle boils." in asked.prompt and asked.task == "ask"


@pytest.mark.parametrize("router", [None, FakeRouter(failure=NoModelError())], ids=["no router", "no model"])
async def test_criterion_5_2(tmp_path: Path, router: FakeRouter | None) -> None:
    ##= man/spec/pages.md#ask
    ##= type=test
    ##% Where no model is set up, `ask` MUST be refused as `upstream_error` before a page is looked for.
    unavailable = {
        "status": "error",
        "error": "AI search is not available",
        "code": "upstream_error",
        "hint": SETTING_UP,
    }
    async with nexus(tmp_path, router=router) as client:
        for question in ("When does the kettle boil?", "nothing like it"):
            assert await post(client, "ask", question=question) == (503, unavailable)


async def test_criterion_5_3(tmp_path: Path) -> None:
    ##= man/spec/pages.md#ask
    ##= type=test
    ##% `ask` MUST answer with the pages that the model was shown as its sources.
    files = {f"docs/{number}.md": f"# Tea {number}\n\nWarm the pot.\n" for number in range(7)}
    router = FakeRouter("Warm it [1][2].")
    async with nexus(tmp_path, files, router=router) as client:
        sources = (await post(client, "ask", question="How is tea made in a warm pot?"))[1]["sources"]
    assert len(sources) == 5
    assert [row["title"] for row in sources] == [
        line.partition("page: ")[2] for line in router.asked[0].prompt.splitlines() if "] page: " in line
    ]


async def test_criterion_5_4(tmp_path: Path) -> None:
    ##= man/spec/pages.md#ask
    ##= type=test
    ##% Where no page is found, `ask` MUST say so, and MUST NOT ask a model.
    router = FakeRouter("never")
    nothing = {"answer": "No relevant information found in the knowledge base.", "sources": []}
    async with nexus(tmp_path, router=router) as client:
        assert await post(client, "ask", question="What about airplanes?") == (200, nothing)
    async with nexus(tmp_path / "empty", {}, router=router) as client:
        assert await post(client, "ask", question="When does the kettle boil?") == (200, nothing)
    assert router.asked == []


async def test_a_model_that_fails(tmp_path: Path) -> None:
    from duvet.llm.errors import Fault

    router = FakeRouter(failure=ModelError(Fault.UNAVAILABLE, "one does not answer"))
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found["error"], found["code"]) == (503, "one does not answer", "upstream_error")


async def test_criterion_6_1(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_connections` MUST answer the outlinks and the backlinks of a page, and as its graph itself and the pages that
    ##% it is linked with, each with how many connections it has in all, and the links among these, each once.
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
    ##% A required argument that is empty or blank MUST be refused as one that is missing.
    async with nexus(tmp_path) as client:
        for given in ({}, {name: ""}, {name: " \n"}, {name: None}, {"other": 1}):
            status, found = await post(client, tool, **given)
            assert (status, found["error"]) == (400, f"Missing required parameter: {name}")
        status, found = await post(client, tool, **{name: 5})
        assert (status, found["error"]) == (400, f"{name}: expected str, got int")


async def test_criterion_7_4(tmp_path: Path) -> None:
    router = FakeRouter(failure=RuntimeError("secret of /etc/passwd"))
    async with nexus(tmp_path, router=router) as client:
        status, found = await post(client, "ask", question="When does the kettle boil?")
    assert (status, found) == (
        500,
        {"status": "error", "error": "Internal server error", "code": "upstream_error", "hint": ""},
    )


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
