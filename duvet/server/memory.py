"""A server and its client in one process, for tests of packs."""

from __future__ import annotations

import os
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client import Client

from duvet.config.service_tables import RouteSection, ServerSection
from duvet.llm.providers import Sampler
from duvet.llm.records import ModelRequest, ModelResponse
from duvet.project.project import Project
from duvet.server.live_project import LiveProject, ProjectReader
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry, enable_packs
from duvet.tools.plugins import PackFile, load_plugins
from duvet.tools.tool import MODELS_SERVICE, EnabledPack
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree


class FunctionRouter:
    routing: Mapping[str, RouteSection] = {}

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer

    def with_sampler(self, sampler: Sampler) -> FunctionRouter:
        return self

    async def invoke(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(self._answer(request.prompt), "test", request.model or "")


@asynccontextmanager
async def connect(
    path: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    model: Callable[[str], str] | None = None,
    project: str | Path = ".",
) -> AsyncIterator[Client]:
    """Serve the pack in the file `path` alongside the pack `trace`, and yield a client; `model` answers `ctx.model`.

    Raises ImportError if the pack can't be loaded.
    """
    name = Path(path).stem
    loaded = load_plugins([PackFile(name, os.path.abspath(path))], (), {name: settings or {}})
    for one in loaded.unloaded:
        raise ImportError(one.reason)
    packs = [EnabledPack(pack, settings=settings or {}, is_guest=True) for pack in loaded.packs]

    def open_project() -> Project:
        cache = DiskCache(DiskTree(str(project)), {}, kept=False, today=None)
        return Project(str(project), tree=cache.tree, memory=cache)

    live = LiveProject(ProjectReader(open_project, page_size=50))
    services = {} if model is None else {MODELS_SERVICE: FunctionRouter(model)}
    try:
        registry = Registry([*enable_packs(["trace"]), *packs])
        dispatcher = ToolDispatcher(
            registry,
            live,
            ToolEnvironment(services=services, report_exception=lambda _, error: traceback.print_exception(error)),
        )
        async with Client(DuvetServer(ServerSection(), lambda: "", live, dispatcher)) as client:
            yield client
    except BaseExceptionGroup as group:
        # Each task group between the client and the server wraps an error of the caller once more.
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        context = error.__context__
        try:
            raise error
        finally:
            error.__context__ = context
    finally:
        live.close()
