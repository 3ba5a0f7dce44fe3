"""Pages over the server as they are on disk now, on every face, and to whom their pack is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.server.staleness import ChangeDetector
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import choose_packs
from duvet.tools.plugins import PluginPacks
from tests.cli.made import make
from tests.cli.running import run
from tests.unit.knowledge.pages.made import TRACE
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import API, FIVE, NOTES, nexus, post
from tests.unit.server.http.serving import MODERN_HEADERS, asking, call, serving
from tests.unit.server.opened import opened
from tests.unit.server.wire import enveloped, request
from tests.unit.watching.edits import create, delete, move, save_by_rename

pytestmark = pytest.mark.anyio
EDITS: dict[str, Callable[[Path], object]] = {
    "a page is edited": save_by_rename("docs/delta.md", "# Other\n\n[[alpha]] [[fresh]]\n"),
    "a page is new": create("docs/new.md", "[[delta]]"),
    "a page is new in new folders": create("docs/one/two/three.md", "[[delta]]"),
    "a page is deleted": delete("docs/alpha.md"),
    "a page is renamed": move("docs/beta.md", "docs/gone.md"),
    "the first date": save_by_rename("docs/alpha.md", "---\ncreated: 2027-01-01\n---\n"),
    "the code that cites": save_by_rename("src/tea.rs", "\n" + TRACE["src/tea.rs"]),
    "the specification": save_by_rename("docs/spec.md", TRACE["docs/spec.md"].replace("Milk", "Honey")),
    "the configuration": save_by_rename(
        ".duvet/config.toml", TRACE[".duvet/config.toml"] + "[[pages]]\npattern = 'docs/a*.md'\n"
    ),
}


async def said_by(client: Any) -> list[Any]:
    status, pages = await post(client, "list_pages")
    found = [status, pages, (await post(client, "search", query="a"))[1]]
    for page in pages:
        found.append(await post(client, "get_page", slug=page["slug"]))
        found.append(await post(client, "get_connections", slug=page["slug"]))
    return found


@pytest.mark.parametrize("tells", [True, False], ids=["told", "not told"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer(tmp_path: Path, edit: Callable[[Path], object], tells: bool) -> None:
    folder = make(tmp_path / "tea", {**TRACE, **NOTES})
    live = LiveProject(lambda: opened(folder), 50, detector=None if tells else ChangeDetector(None))
    desk = ToolDispatcher(choose_packs(("trace",), {}, PluginPacks()).registry, live)
    try:
        async with serving(DuvetServer(ServerIdentity(), "", live, desk)) as where, asking(where) as client:
            before = await said_by(client)
            edit(folder)
            after = await said_by(client)
            again = LiveProject(lambda: opened(folder), 50)
            fresh = DuvetServer(ServerIdentity(), "", again, ToolDispatcher(desk.registry, again))
            async with serving(fresh) as elsewhere, asking(elsewhere) as other:
                assert after == await said_by(other) != before
            again.close()
    finally:
        live.close()


async def test_many_ask_at_once_for_pages_that_are_not_read_yet(tmp_path: Path) -> None:
    async with nexus(tmp_path, {f"docs/{number}.md": f"[[{number + 1}]]" for number in range(300)}) as client:
        answers: list[Any] = []

        async def ask(number: int) -> None:
            answers.append((await post(client, FIVE[number % 2], **({"slug": "7"} if number % 2 else {})))[0])

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(ask, number)
    assert answers == [200] * 20


CONFIG = {
    "workflows": {
        "look": {
            "description": "Looks at a page.",
            "steps": [{"id": "page", "tool": "get_page", "params": {"slug": "delta"}}],
            "outputs": {"page": "${steps.page.result}"},
        }
    }
}


async def test_the_same_on_every_face(duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "tea", {**TRACE, **NOTES, "duvet.config.json": json.dumps(CONFIG)})
    with Command(duvet_command, folder) as command:
        async with asking(command.where) as client:
            status, page = await post(client, "get_page", slug="delta")
            told = (await call(client, "get_page", {"slug": "delta"})).json()["result"]
            listed = (await call(client, "list_pages", {})).json()["result"]["structuredContent"]
    assert status == 200 and page["title"] == "Delta"
    assert told["structuredContent"] == page == json.loads(told["content"][0]["text"])
    assert [row["slug"] for row in listed["result"]] == ["delta", "beta", "gamma", "alpha"]
    assert json.loads(run(duvet_command, folder, "call", "get_page", "--slug", "delta").out) == page
    ran = json.loads(run(duvet_command, folder, "call", "workflow.look").out)
    assert ran["outputs"] == {"page": page}


async def shown_to(command: Command) -> tuple[set[str], set[str]]:
    """The tools of pages that clients of the protocol are shown, and those of plain HTTP."""
    async with asking(command.where) as client:
        listing = request("tools/list", enveloped({}))
        answer = await client.post("/mcp", json=listing, headers={**MODERN_HEADERS, "mcp-method": "tools/list"})
        tools = answer.json()["result"]["tools"]
        manifest = (await client.get(API)).json()["tools"]
    return {tool["name"] for tool in tools} & {*FIVE}, {tool["name"] for tool in manifest} & {*FIVE}


async def test_the_pack_is_shown_where_there_are_pages(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% The server MUST show the pack `pages` to MCP clients when the project has pages or the pack is requested, and
    ##% always on `/api/mcp`.
    folder = make(tmp_path / "tea", TRACE)
    with Command(duvet_command, folder) as command:
        assert await shown_to(command) == (set(), {*FIVE})
        make(folder, {"docs/a.md": "# A\n"})
        assert await shown_to(command) == ({*FIVE}, {*FIVE})
        (folder / "docs/a.md").unlink()
        assert await shown_to(command) == (set(), {*FIVE})
    with Command(duvet_command, folder, "--pack", "pages") as command:
        assert await shown_to(command) == ({*FIVE}, {*FIVE})


@pytest.mark.parametrize(
    ("config", "shown", "called"),
    [
        ({"toolPacks": {"pages": {"enabled": False}}}, set(), {*FIVE}),
        ({"toolPacks": {"pages": {"tools": {"ask": False}}}}, {*FIVE} - {"ask"}, {*FIVE} - {"ask"}),
        ({"pages": [{"pattern": "nothing/*.md"}]}, set(), {*FIVE}),
    ],
    ids=["switched off", "a tool is switched off", "the service names others"],
)
async def test_the_configuration_decides(
    duvet_command: str, tmp_path: Path, config: object, shown: set[str], called: set[str]
) -> None:
    folder = make(tmp_path / "tea", {**TRACE, **NOTES, "duvet.config.json": json.dumps(config)})
    with Command(duvet_command, folder) as command:
        assert await shown_to(command) == (shown, called)


async def test_a_page_that_is_too_long_for_one_answer(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_page` MUST return the whole text of a page, or about 4,000 tokens to MCP clients, unless `limit` is given,
    ##% and say where the rest begins.
    text = '"\u00e9\n' * 5_000_000
    files = {"docs/a.md": text, "docs/hub.md": "".join(f"[[{number:0300}]]\n" for number in range(10_000))}
    async with nexus(tmp_path, files) as client:
        answer = await client.post(API, json={"tool": "get_page", "input": {"slug": "a"}})
        rest = await client.post(API, json={"tool": "get_page", "input": {"slug": "a", "offset": 1_999_999}})
        asked = await client.post(
            API, json={"tool": "get_page", "input": {"slug": "a", "offset": 1, "limit": 4_000_000}}
        )
        hub = await client.post(API, json={"tool": "get_page", "input": {"slug": "hub"}})
    found = answer.json()
    end = found["result"]["next_offset"]
    assert (answer.status_code, found["result"]["content"]) == (200, text[:end])
    assert len(json.dumps(text[:end], ensure_ascii=False).encode()) in range(3_999_998, 4_000_001)
    assert (found["warning"], found["next_step"]) == (
        "The text is too long for one answer and was cut.",
        f"The text goes on: give offset={end}.",
    )
    # The first 4 MiB of a page are all that is read of it.
    assert rest.json()["result"]["content"] == text[1_999_999 : (4 << 20) * 3 // 4]
    assert "next_offset" not in rest.json()["result"] and "warning" not in rest.json()
    assert asked.json()["result"]["next_offset"] == end + 1
    assert hub.status_code == 200 and len(hub.json()["result"]["outlinks"]) == 10_000
