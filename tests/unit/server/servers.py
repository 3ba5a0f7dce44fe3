"""Servers for small projects, and projects as servers read them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

import anyio
from msgspec import Struct

from duvet.config.service_tables import ServerSection
from duvet.project.project import Project
from duvet.server.live_project import LiveProject, ProjectReader
from duvet.server.protocol.server import DuvetServer
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from duvet.tools.tool import EnabledPack, ErrorCode, Pack, QueryTool, ResultPage, Scope, ToolAnswer, ToolError
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

INSTRUCTIONS = "Ask before you cite."
PAGE_SIZE = 50
LONGEST = 30  # Seconds after which a test gives up waiting.


def opened(folder: Path, today: date | None = None) -> Project:
    """Open the project in a folder with a tree that records its reads, without reading it."""
    cache = DiskCache(DiskTree(str(folder)), {}, kept=False, today=today)
    return Project(str(folder), tree=cache.tree, memory=cache, today=today)


def read(folder: Path) -> Catalogue:
    return Project(str(folder)).catalogue


def live_of(folder: Path, page_size: int = PAGE_SIZE, **more: Any) -> LiveProject:
    return LiveProject(ProjectReader(lambda: opened(folder), page_size, **more))


@asynccontextmanager
async def open_live_project(
    folder: Path, open_project: Callable[[], Project] | None = None, **more: Any
) -> AsyncIterator[LiveProject]:
    live = LiveProject(ProjectReader(open_project or (lambda: opened(folder)), PAGE_SIZE, **more))
    try:
        with anyio.fail_after(LONGEST):
            yield live
    finally:
        live.close()


def server_of(
    project: Path | LiveProject,
    registry: Registry | None = None,
    *,
    rule: ServerSection = ServerSection(),  # noqa: B008 - frozen
    instructions: str = INSTRUCTIONS,
    page_size: int = PAGE_SIZE,
    parts: Sequence[Any] = (),
    **environment: Any,
) -> DuvetServer:
    live = live_of(project, page_size) if isinstance(project, Path) else project
    dispatcher = ToolDispatcher(registry or Registry(), live, ToolEnvironment(**environment))
    server = DuvetServer(rule, lambda: instructions, live, dispatcher)
    for part in parts:
        part.register(server)
    return server


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    number: int
    note: str | None = None


class Twice(Struct, frozen=True):
    number: int


def _twice(asked: Input, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=Twice(2 * asked.number), next_step="Double it again.")


def _numbers(asked: Input, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=(Twice(asked.number),), page=ResultPage(asked.number, "more"))


def _refuse(asked: Input, context: ProjectSnapshot) -> NoReturn:
    raise ToolError(ErrorCode.UNSUPPORTED_OPERATION, "not today", "come back tomorrow")


def _burst(asked: Input, context: ProjectSnapshot) -> NoReturn:
    raise RuntimeError("secret of /etc/passwd")


def _tool(name: str, handler: Callable[..., Any], output: object, scope: Scope = Scope.READER) -> QueryTool:
    texts: Any = {"name": name, "title": name.title(), "description": f"Test of {name}."}
    return QueryTool(**texts, input=Input, output=output, handler=handler, scope=scope)


MADE = [
    *(_tool("twice", _twice, Twice), _tool("numbers", _numbers, tuple[Twice, ...]), _tool("refuse", _refuse, Twice)),
    *(_tool("burst", _burst, Twice), _tool("repair", _twice, Twice, Scope.MAINTAINER)),
]
TOOLS = Registry([EnabledPack(Pack("made", MADE))])
