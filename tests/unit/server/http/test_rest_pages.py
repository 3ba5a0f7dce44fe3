"""The page tools over `/api/mcp`: each criterion of their document, and current answers after edits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from duvet.llm.records import ModelError, ModelFault, ModelRequest, ModelResponse, NoModelError
from duvet.server.live_project import ChangeDetector, LiveProject
from duvet.tools.call_context import Caller
from tests.cli.sample_project import make
from tests.edits import create, delete, move, save_by_rename
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.server.http.http_server import API, post, refused
from tests.unit.server.http.pages import ALPHA, BETA, DELTA, FIVE, GAMMA, NOTES, dated, default_tools, pages_client
from tests.unit.server.servers import live_of, server_of

pytestmark = pytest.mark.anyio

NOT_FOUND = refused("not_found", "Page 'alpah' not found", "did you mean alpha?")
FAR = refused("not_found", "Page '../../etc/passwd' not found", "list the pages with `duvet pages` or list_pages")
BREWING = {
    "full_path": "/specifications/spec/sections/brewing/requirements/38574ef4fa26",
    "identifier": "38574ef4fa26",
    "target": "docs/spec.md#brewing",
    "text": "Tea MUST be hot.",
    "status": "needs tests",
    "citations": [{"file_path": "src/tea.rs", "line_number": 1, "type": "citation"}],
}
MILK = {
    "full_path": "/specifications/spec/sections/brewing/requirements/f57473c2f832",
    "identifier": "f57473c2f832",
    "target": "docs/spec.md#brewing",
    "text": "Milk MAY be added.",
    "status": "uncited",
    "citations": [],
}


def link_to(target: str, line: int, kind: str = "page", heading: str | None = None, **more: Any) -> dict[str, Any]:
    slug = target if kind == "page" else None
    return {"target": target, "slug": slug, "heading": heading, "kind": kind, "line": line, **more}


def page_of(
    slug: str, day: int, content: str, links: list[dict[str, Any]], backlinks: list[str], **more: Any
) -> dict[str, Any]:
    return {
        "slug": slug,
        "title": slug.title(),
        "content": content,
        "outlinks": [link["target"] for link in links if link["kind"] != "requirement"],
        "backlinks": backlinks,
        "links": links,
        "path": f"docs/{slug}.md",
        "created": f"2026-05-{day:02}T00:00:00Z",
        "tags": [],
        "aliases": [],
        "frontmatter": {"created": f"2026-05-{day:02}"},
        **more,
    }


def graph_of(nodes: list[tuple[str, str, int]], *edges: tuple[str, str]) -> dict[str, Any]:
    return {
        "nodes": [{"id": id, "title": title, "connections": count} for id, title, count in nodes],
        "edges": [{"source": source, "target": target} for source, target in edges],
    }


NODES = [("alpha", "Alpha", 2), ("beta", "Beta", 2), ("gamma", "Gamma", 2)]
CONNECTIONS = {
    "slug": "alpha",
    "outlinks": ["beta", "gamma", "missing"],
    "backlinks": ["beta"],
    "localGraph": graph_of(NODES, ("alpha", "beta"), ("alpha", "gamma"), ("beta", "alpha"), ("beta", "gamma")),
}
TO_ALPHA = [link_to("beta", 6), link_to("gamma", 6), link_to("missing", 6, "missing")]
TO_BETA = [link_to("alpha", 6, heading="top", heading_found=False), link_to("gamma", 6)]
TO_GAMMA = [link_to("spec", 6, "requirement", heading="brewing")]
CRITERIA: dict[str, tuple[str, dict[str, Any], Any]] = {
    "2.1 2.2": (
        "list_pages",
        {},
        [{"slug": name, "title": name.title()} for name in ("delta", "beta", "gamma", "alpha")],
    ),
    "3.1": ("get_page", {"slug": "delta"}, page_of("delta", 4, DELTA, [], [])),
    "3.1 spaces": ("get_page", {"slug": " beta "}, page_of("beta", 3, BETA, TO_BETA, ["alpha"])),
    "3.2 8.3": ("get_page", {"slug": "alpah"}, NOT_FOUND),
    "3.2 far": ("get_page", {"slug": "../../etc/passwd"}, FAR),
    "3.3": ("get_page", {"slug": "alpha"}, page_of("alpha", 1, ALPHA, TO_ALPHA, ["beta"])),
    ##= man/spec/pages.md#tools
    ##% `get_page` MUST list the requirements that a page links to, and the code that cites these requirements.
    "3.4": (
        "get_page",
        {"slug": "gamma"},
        page_of("gamma", 2, GAMMA, TO_GAMMA, ["beta", "alpha"], requirements=[BREWING, MILK]),
    ),
    "4.1": (
        "search",
        {"query": "KETTLE"},
        [{"slug": "alpha", "title": "Alpha", "excerpt": "..." + ALPHA[ALPHA.index("kettle") - 50 :]}],
    ),
    "4.4": ("search", {"query": "airplanes"}, []),
    ##= man/spec/pages.md#tools
    ##% `get_connections` MUST return the outlinks and the backlinks of a page, and a graph of the pages around it.
    "6.1": ("get_connections", {"slug": "alpha"}, CONNECTIONS),
    "6.3": ("get_connections", {"slug": "alpah"}, NOT_FOUND),
}


@pytest.mark.criterion("pages 2.1", "pages 2.2", "pages 3.1", "pages 3.2", "pages 3.3", "pages 3.4", "pages 4.1")
@pytest.mark.criterion("pages 4.4", "pages 6.1", "pages 6.3", "pages 8.3")
async def test_criteria_of_tools(tmp_path: Path) -> None:
    async with pages_client(tmp_path) as client:
        for case, (tool, given, expected) in CRITERIA.items():
            found = await post(client, tool, **given)
            assert found == (404 if expected in (NOT_FOUND, FAR) else 200, expected), case
        connections = (await post(client, "get_connections", slug="gamma"))[1]
    assert connections["requirements"] == [BREWING, MILK]


@pytest.mark.criterion("pages 7.3")
async def test_criterion_7_3_required_arguments(tmp_path: Path) -> None:
    async with pages_client(tmp_path) as client:
        for tool, name in (("get_page", "slug"), ("search", "query"), ("ask", "question"), ("get_connections", "slug")):
            for given in ({}, {name: ""}, {name: " \n"}, {name: None}, {"other": 1}):
                status, found = await post(client, tool, **given)
                assert (status, found["error"]) == (400, f"Missing required parameter: {name}")
            status, found = await post(client, tool, **{name: 5})
            assert (status, found["error"]) == (400, f"{name}: expected string, got integer")


CUPS = "# Cups\n\nFor tea.\n"
OF_LISTS: dict[str, tuple[dict[str, str], str, dict[str, Any], Any]] = {
    "2.3": ({}, "list_pages", {}, []),
    "4.2": (
        {"docs/a.md": "---\ntitle: On tea\n---\nx\n", "docs/b.md": CUPS},
        *("search", {"query": "tea"}),
        [{"slug": "a", "title": "On tea", "excerpt": "x\n"}, {"slug": "b", "title": "Cups", "excerpt": CUPS}],
    ),
    "4.3": ({f"docs/{number}.md": "tea" for number in range(30)}, "search", {"query": "tea"}, 20),
    "all pages": ({f"docs/{number:03}.md": "" for number in range(120)}, "list_pages", {}, 120),
}


@pytest.mark.criterion("pages 2.3", "pages 4.2", "pages 4.3")
async def test_criteria_of_lists(tmp_path: Path) -> None:
    for case, (files, tool, given, expected) in OF_LISTS.items():
        async with pages_client(tmp_path / case, files) as client:
            status, found = await post(client, tool, **given)
            assert (status, len(found) if isinstance(expected, int) else found) == (200, expected), case
            if expected == 120:
                answer = (await client.post(API, json={"tool": tool, "input": {"limit": 7}})).json()
                assert (len(answer["result"]), answer["total"], bool(answer["next_cursor"])) == (7, 120, True)


@pytest.mark.criterion("pages 6.2")
async def test_criterion_6_2_the_graph_ends_at_the_neighbors(tmp_path: Path) -> None:
    files = {
        "docs/a.md": dated(4, "[[b]] [[a]]"),
        "docs/b.md": dated(3, "[[c]]"),
        "docs/c.md": dated(2, "[[a]] [[d]]"),
        "docs/d.md": dated(1, "# The last"),
    }
    async with pages_client(tmp_path, files) as client:
        around_a, around_d = [(await post(client, "get_connections", slug=slug))[1]["localGraph"] for slug in "ad"]
    assert around_a == graph_of([("a", "a", 2), ("b", "b", 2), ("c", "c", 3)], ("a", "b"), ("b", "c"), ("c", "a"))
    assert around_d == graph_of([("d", "The last", 1), ("c", "c", 3)], ("c", "d"))


@pytest.mark.criterion("pages 1.1", "pages 1.2", "pages 1.3")
async def test_criteria_1_the_manifest(tmp_path: Path) -> None:
    # Without pages.
    async with pages_client(tmp_path, {}) as client:
        answers = [
            await client.get(API, headers={"accept": accept}) for accept in ("*/*", "text/html", "text/event-stream")
        ]
        assert (await post(client, "get_connections", slug="alpah"))[0] == 404
    # Whatever a client accepts, it gets JSON.
    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert set(answer.json()) == {"name", "version", "description", "tools"}
    tools = {tool["name"]: tool for tool in answer.json()["tools"]}
    assert "coverage_summary" in tools and all(tool["description"] for tool in tools.values())
    required = [tools[name]["inputSchema"]["required"] for name in FIVE]
    assert required == [[], ["slug"], ["query"], ["question"], ["slug"]]
    assert tools["get_connections"]["inputSchema"] == {
        "type": "object",
        "properties": {"slug": {"type": "string", "description": "The slug of a page, from list_pages"}},
        "required": ["slug"],
    }


@pytest.mark.criterion("pages 8.2")
async def test_criterion_8_2_an_answer_has_its_total(tmp_path: Path) -> None:
    async with pages_client(tmp_path) as client:
        answer = (await client.post(API, json={"tool": "search", "input": {"query": "alone"}})).json()
    assert answer == {"status": "ok", "result": [{"slug": "delta", "title": "Delta", "excerpt": DELTA}], "total": 1}


class FakeRouter:
    def __init__(self, text: str = "", failure: Exception | None = None) -> None:
        self.text = text
        self.failure = failure
        self.asked: list[ModelRequest] = []

    def pick(self, request: ModelRequest) -> None:
        if isinstance(self.failure, NoModelError):
            raise self.failure

    async def invoke(self, request: ModelRequest) -> ModelResponse:
        self.asked.append(request)
        if self.failure:
            raise self.failure
        return ModelResponse(self.text, "one", "small")


BOILS = "When does the kettle boil?"


@pytest.mark.criterion("pages 5.1")
async def test_criterion_5_1_an_answer_has_its_sources(tmp_path: Path) -> None:
    router = FakeRouter("It boils [1].")
    async with pages_client(tmp_path, router=router) as client:
        found = await post(client, "ask", question=BOILS)
    assert found == (200, {"answer": "It boils [1].", "sources": [{"slug": "alpha", "title": "Alpha"}]})
    (asked,) = router.asked
    assert "The kettle boils." in asked.prompt and asked.task == "ask"


NO_MODEL = refused("upstream_error", "AI search is not available", NoModelError().hint)
UNAVAILABLE = ModelError(ModelFault.UNAVAILABLE, "one does not answer")
FAILING: dict[str, tuple[FakeRouter | None, int, Any]] = {
    "5.2 no router": (None, 503, NO_MODEL),
    "5.2 no model": (FakeRouter(failure=NoModelError()), 503, NO_MODEL),
    "unavailable": (FakeRouter(failure=UNAVAILABLE), 503, refused("model_failed", "one does not answer")),
    "7.4": (FakeRouter(failure=RuntimeError("secret")), 500, refused("upstream_error", "Internal server error")),
}


@pytest.mark.criterion("pages 5.2", "pages 7.4")
async def test_criteria_of_models_that_fail(tmp_path: Path) -> None:
    for case, (router, status, error) in FAILING.items():
        async with pages_client(tmp_path, router=router) as client:
            assert await post(client, "ask", question=BOILS) == (status, error), case
            if error is NO_MODEL:
                assert await post(client, "ask", question="nothing like it") == (status, error)


@pytest.mark.criterion("pages 5.3")
async def test_criterion_5_3_the_sources_are_the_pages_that_the_model_got(tmp_path: Path) -> None:
    # Not all of the long pages fit into a prompt.
    for text, count in (("", 5), ("\u8336" * 2_000, 2)):
        files = {f"docs/{number}.md": f"# Tea {number}\n\nWarm the pot. {text}\n" for number in range(7)}
        router = FakeRouter("Warm it [1][2].")
        async with pages_client(tmp_path / str(count), files, router=router) as client:
            sources = (await post(client, "ask", question="How is tea made in a warm pot?"))[1]["sources"]
        lines = [line for line in router.asked[0].prompt.splitlines() if "] page: " in line]
        assert len(sources) == count
        assert [row["title"] for row in sources] == [line.partition("page: ")[2] for line in lines]


@pytest.mark.criterion("pages 5.4")
async def test_criterion_5_4_no_model_is_asked_without_pages(tmp_path: Path) -> None:
    router = FakeRouter("never")
    nothing = {"answer": "No relevant information found in the knowledge base.", "sources": []}
    for folder, files, question in (("full", NOTES, "What about airplanes?"), ("empty", {}, BOILS)):
        async with pages_client(tmp_path / folder, files, router=router) as client:
            assert await post(client, "ask", question=question) == (200, nothing)
    assert router.asked == []


CONFIG = TRACE[".duvet/config.toml"]
EDITS: dict[str, Callable[[Path], object]] = {
    "a page is edited": save_by_rename("docs/delta.md", "# Other\n\n[[alpha]] [[fresh]]\n"),
    "a page is new": create("docs/new.md", "[[delta]]"),
    "a page is new in new folders": create("docs/one/two/three.md", "[[delta]]"),
    "a page is deleted": delete("docs/alpha.md"),
    "a page is renamed": move("docs/beta.md", "docs/gone.md"),
    "the first date": save_by_rename("docs/alpha.md", "---\ncreated: 2027-01-01\n---\n"),
    "the code that cites": save_by_rename("src/tea.rs", "\n" + TRACE["src/tea.rs"]),
    "the specification": save_by_rename("docs/spec.md", TRACE["docs/spec.md"].replace("Milk", "Honey")),
    "the configuration": save_by_rename(".duvet/config.toml", CONFIG + "[[pages]]\npattern = 'docs/a*.md'\n"),
}


async def ask_everything(live: LiveProject) -> list[Any]:
    dispatcher = server_of(live, default_tools()).dispatcher

    async def ask(tool: str, **given: str) -> Any:
        return to_builtins((await dispatcher.call(tool, given, Caller())).value)

    pages = await ask("list_pages")
    slugs = [{"slug": page["slug"]} for page in pages]
    about = [await ask(tool, **slug) for slug in slugs for tool in ("get_page", "get_connections")]
    return [pages, await ask("search", query="a"), *about]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer(tmp_path: Path, edit: Callable[[Path], object]) -> None:
    folder = make(tmp_path / "tea", {**TRACE, **NOTES})
    notified, polling, fresh = live_of(folder), live_of(folder, detector=ChangeDetector(None)), live_of(folder)
    before = await ask_everything(notified)
    assert await ask_everything(polling) == before
    edit(folder)
    after = await ask_everything(fresh)
    assert await ask_everything(notified) == after == await ask_everything(polling) != before
    notified.close()
    fresh.close()


async def test_a_page_that_is_too_long_for_one_answer_is_cut(tmp_path: Path) -> None:
    text = '"\u00e9\n' * 1_050_000
    files = {"docs/a.md": text, "docs/hub.md": "".join(f"[[{number:0300}]]\n" for number in range(1_000))}
    async with pages_client(tmp_path, files) as client:

        async def get(slug: str, **given: int) -> Any:
            answer = await client.post(API, json={"tool": "get_page", "input": {"slug": slug, **given}})
            assert answer.status_code == 200
            return answer.json()

        found, rest = await get("a"), await get("a", offset=1_999_999)
        asked, hub = await get("a", offset=1, limit=4_000_000), await get("hub")
    end = found["result"]["next_offset"]
    assert found["result"]["content"] == text[:end]
    assert len(json.dumps(text[:end], ensure_ascii=False).encode()) in range(3_999_998, 4_000_001)
    assert (found["warning"], found["next_step"]) == (
        "The text is too long for one answer and was cut.",
        f"The text continues; set offset={end} to read on.",
    )
    # The first 4 MiB of a page are all that is read of it.
    assert rest["result"]["content"] == text[1_999_999 : (4 << 20) * 3 // 4]
    assert "next_offset" not in rest["result"] and "warning" not in rest
    assert asked["result"]["next_offset"] == end + 1
    assert len(hub["result"]["outlinks"]) == 1_000
