"""A server over a project with pages, and a client of plain HTTP."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from duvet.tools.packs import Registry, choose_packs
from duvet.tools.plugins import PluginPacks
from duvet.tools.tool import MODELS_SERVICE
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.server.http.http_server import connected
from tests.unit.server.servers import server_of

FIVE = ("list_pages", "get_page", "search", "ask", "get_connections")


def dated(day: int, text: str) -> str:
    return f"---\ncreated: 2026-05-{day:02}\n---\n{text}"


NOTES = {
    "docs/alpha.md": dated(1, "# Alpha\n\nSee [[beta]], [[gamma|the third]] and [[missing]]. The kettle boils.\n"),
    "docs/beta.md": dated(3, "# Beta\n\nBack to [[alpha#top]] and [[gamma]]. `[[code]]` is none.\n"),
    "docs/gamma.md": dated(2, "# Gamma\n\nNothing but [[spec#brewing]].\n"),
    "docs/delta.md": dated(4, "# Delta\n\nAlone.\n"),
}


def default_tools() -> Registry:
    return choose_packs(("trace",), {}, PluginPacks()).registry


@asynccontextmanager
async def pages_client(
    folder: Path, files: Mapping[str, str] = NOTES, router: object = None, **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    services = {} if router is None else {MODELS_SERVICE: router}
    server = server_of(make(folder, {**TRACE, **files}), default_tools(), instructions="", services=services)
    try:
        async with connected(server, **options) as client:
            yield client
    finally:
        server.live.close()
