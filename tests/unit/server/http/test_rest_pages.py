import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from pytest_snapshot.plugin import Snapshot

from duvet.llm.records import ModelError, ModelFault, ModelRequest, ModelResponse, NoModelError
from duvet.server.live_project import ChangeDetector, LiveProject
from duvet.tools.call_context import Caller
from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.edits import create, delete, move, save_by_rename
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.server.http.http_server import API, post, refused
from tests.unit.server.http.pages import FIVE, NOTES, dated, default_tools, pages_client
from tests.unit.server.servers import live_of, server_of

pytestmark = pytest.mark.anyio

GRAPH = {
    "docs/a.md": dated(4, "[[b]] [[a]]"),
    "docs/b.md": dated(3, "[[c]]"),
    "docs/c.md": dated(2, "[[a]] [[d]]"),
    "docs/d.md": dated(1, "# The last"),
}
SLUGS = ("delta", " beta ", "alpah", "../../etc/passwd", "alpha", "gamma")
CRITERIA: list[tuple[dict[str, str], list[tuple[str, dict[str, str]]]]] = [
    (
        NOTES,
        [
            ("list_pages", {}),
            *(("get_page", {"slug": slug}) for slug in SLUGS),
            *(("search", {"query": query}) for query in ("KETTLE", "airplanes", "alone")),
            *(("get_connections", {"slug": slug}) for slug in ("alpha", "gamma", "alpah")),
        ],
    ),
    ({}, [("list_pages", {}), ("get_connections", {"slug": "alpah"})]),
    (
        {"docs/a.md": "---\ntitle: On tea\n---\nx\n", "docs/b.md": "# Cups\n\nFor tea.\n"},
        [("search", {"query": "tea"})],
    ),
    (GRAPH, [("get_connections", {"slug": slug}) for slug in "ad"]),
]


@pytest.mark.criterion("pages 2.1", "pages 2.2", "pages 2.3", "pages 3.1", "pages 3.2", "pages 3.3", "pages 3.4")
@pytest.mark.criterion("pages 4.1", "pages 4.2", "pages 4.4", "pages 6.1", "pages 6.2", "pages 6.3", "pages 8.2")
@pytest.mark.criterion("pages 8.3")
async def test_criteria_of_tools(tmp_path: Path, snapshot: Snapshot) -> None:
    ##= man/spec/pages.md#tools
    ##% `get_page` MUST list the requirements that a page links to, and the code that cites these requirements.
    ##= man/spec/pages.md#tools
    ##% `get_connections` MUST return the outlinks and the backlinks of a page, and a graph of the pages around it.
    lines = []
    for number, (files, calls) in enumerate(CRITERIA):
        async with pages_client(tmp_path / str(number), files) as client:
            for tool, given in calls:
                answer = await client.post(API, json={"tool": tool, "input": given})
                told = answer.json()
                result = told.pop("result", [])
                lines += ["", f"# {tool} {given}: {answer.status_code} {told}"]
                rows = result.items() if isinstance(result, dict) else enumerate(result)
                lines += [f"{name}: {json.dumps(row)}" for name, row in rows]
    snapshot.snapshot_dir = ROOT / "tests/gold/server"
    snapshot.assert_match("\n".join(lines), "pages.txt")


@pytest.mark.criterion("pages 7.3")
async def test_criterion_7_3_required_arguments(tmp_path: Path) -> None:
    async with pages_client(tmp_path) as client:
        for tool, name in (("get_page", "slug"), ("search", "query"), ("ask", "question"), ("get_connections", "slug")):
            for given in ({}, {name: ""}, {name: " \n"}, {name: None}, {"other": 1}):
                status, found = await post(client, tool, **given)
                assert (status, found["error"]) == (400, f"Missing required parameter: {name}")
            status, found = await post(client, tool, **{name: 5})
            assert (status, found["error"]) == (400, f"{name}: expected string, got integer")


@pytest.mark.criterion("pages 4.3")
async def test_criterion_4_3_a_search_is_limited_and_a_list_is_not(tmp_path: Path) -> None:
    async with pages_client(tmp_path, {f"docs/{number:03}.md": "tea" for number in range(120)}) as client:
        found = [(await post(client, "search", query="tea"))[1], (await post(client, "list_pages"))[1]]
        answer = (await client.post(API, json={"tool": "list_pages", "input": {"limit": 7}})).json()
    assert [*map(len, found)] == [20, 120]
    assert (len(answer["result"]), answer["total"], bool(answer["next_cursor"])) == (7, 120, True)


@pytest.mark.criterion("pages 1.1", "pages 1.2", "pages 1.3")
async def test_criteria_1_the_manifest(tmp_path: Path) -> None:
    # Without pages.
    async with pages_client(tmp_path, {}) as client:
        for accept in ("*/*", "text/html", "text/event-stream"):
            answer = await client.get(API, headers={"accept": accept})
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


class FakeRouter:
    def __init__(self, text: str = "", failure: Exception | None = None) -> None:
        self.text, self.failure = text, failure
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


@pytest.mark.criterion("pages 5.1", "pages 5.4")
async def test_an_answer_has_its_sources_and_no_model_is_asked_without_pages(tmp_path: Path) -> None:
    router = FakeRouter("It boils [1].")
    nothing = {"answer": "No relevant information found in the knowledge base.", "sources": []}
    async with pages_client(tmp_path / "full", router=router) as client:
        found = await post(client, "ask", question=BOILS)
        assert await post(client, "ask", question="What about airplanes?") == (200, nothing)
    assert found == (200, {"answer": "It boils [1].", "sources": [{"slug": "alpha", "title": "Alpha"}]})
    async with pages_client(tmp_path / "empty", {}, router=router) as client:
        assert await post(client, "ask", question=BOILS) == (200, nothing)
    (asked,) = router.asked
    assert "The kettle boils." in asked.prompt and asked.task == "ask"


NO_MODEL = refused("upstream_error", "AI search is not available", NoModelError().hint)
UNAVAILABLE = ModelError(ModelFault.UNAVAILABLE, "one does not answer")
FAILING: list[tuple[FakeRouter | None, int, Any]] = [
    (None, 503, NO_MODEL),
    (FakeRouter(failure=NoModelError()), 503, NO_MODEL),
    (FakeRouter(failure=UNAVAILABLE), 503, refused("model_failed", "one does not answer")),
    (FakeRouter(failure=RuntimeError("secret")), 500, refused("upstream_error", "Internal server error")),
]


@pytest.mark.criterion("pages 5.2", "pages 7.4")
async def test_criteria_of_models_that_fail(tmp_path: Path) -> None:
    for router, status, error in FAILING:
        async with pages_client(tmp_path, router=router) as client:
            assert await post(client, "ask", question=BOILS) == (status, error)
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
