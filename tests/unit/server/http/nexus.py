"""A server over a project with pages, and calls of its tools by plain HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from duvet.server.http.tokens import AccessTokens
from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import choose_packs
from duvet.tools.plugins import PluginPacks
from duvet.tools.tool import MODELS_SERVICE
from tests.cli.made import make
from tests.unit.knowledge.pages.made import TRACE
from tests.unit.server.http.serving import NOBODY, asking, serving
from tests.unit.server.opened import opened

API = "/api/mcp"
FIVE = ("list_pages", "get_page", "search", "ask", "get_connections")
ALPHA = "# Alpha\n\nSee [[beta]], [[gamma|the third]] and [[missing]]. The kettle boils.\n"
BETA = "# Beta\n\nBack to [[alpha#top]] and [[gamma]]. `[[code]]` is none.\n"
GAMMA = "# Gamma\n\nNothing but [[spec#brewing]].\n"
DELTA = "# Delta\n\nAlone.\n"


def dated(day: int, text: str) -> str:
    return f"---\ncreated: 2026-05-{day:02}\n---\n{text}"


NOTES = {
    "docs/alpha.md": dated(1, ALPHA),
    "docs/beta.md": dated(3, BETA),
    "docs/gamma.md": dated(2, GAMMA),
    "docs/delta.md": dated(4, DELTA),
}


def server_in(folder: Path, services: Mapping[str, Any] | None = None, page_size: int = 50) -> DuvetServer:
    """A server over the project in a folder, with every tool that is there by default."""
    live = LiveProject(lambda: opened(folder), page_size)
    desk = ToolDispatcher(
        choose_packs(("trace",), {}, PluginPacks()).registry, live, ToolEnvironment(services=services or {})
    )
    return DuvetServer(ServerIdentity(), "", live, desk)


@asynccontextmanager
async def nexus(
    folder: Path,
    files: Mapping[str, str] = NOTES,
    *,
    router: object = None,
    tokens: AccessTokens = NOBODY,
    token: str = "",
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of such a server, behind a real socket."""
    make(folder, {**TRACE, **files})
    server = server_in(folder, {} if router is None else {MODELS_SERVICE: router})
    try:
        async with serving(server, tokens=tokens) as where, asking(where, token) as client:
            yield client
    finally:
        server.live.close()


async def post(client: httpx2.AsyncClient, tool: str, /, **given: Any) -> tuple[int, Any]:
    """The status, and the result of a call or its error."""
    answer = await client.post(API, json={"tool": tool, "input": given})
    found = answer.json()
    return answer.status_code, found["result"] if answer.status_code == 200 else found
