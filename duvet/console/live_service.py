"""A live project and its service, reloaded when the configuration changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from duvet.config.service import Service
from duvet.config.settings import NotesRule
from duvet.console.application import HTTP_MODE, Application
from duvet.console.progress import QuietProgress
from duvet.console.project import CATALOGUE_KEY, make_options_key, open_project, require_contents
from duvet.console.settings import current_settings, wants_cache
from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.server.live_project import LiveProject
from duvet.server.log import EventLevel, ServerLog
from duvet.server.messages import render_instructions
from duvet.server.staleness import ChangeDetector, open_descriptor
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import make_tool_error
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import Cache
from duvet.tree.files import DiskTree


def open_live_project(
    where: Mapping[str, Any], page_size: Callable[[Project], int], notes: tuple[NotesRule, ...] | None = None
) -> LiveProject:
    """The project that these options describe, whatever becomes of its folder; each reading says how long lists are."""
    shown, root, how = current_settings(), os.getcwd(), make_options_key(where)

    def opened() -> Project:
        cache = Cache(DiskTree(root), shown.environ, kept=wants_cache(shown, root), today=shown.today)
        return open_project(cache, QuietProgress(shown), settings=shown, root=root, rules=notes, **where)

    def read(project: Project) -> Catalogue:
        assert isinstance(project.memory, Cache)
        return project.memory.remembered(CATALOGUE_KEY, Catalogue, how, lambda: _read(project))

    return LiveProject(
        opened, page_size, read=read, today=lambda: shown.today, doubt=ChangeDetector(open_descriptor(shown.environ))
    )


def _read(project: Project) -> Catalogue:
    require_contents(project)
    return project.catalogue


_LASTING = (
    "name",
    "title",
    "version",
    "description",
    "protocol_version",
    "mode",
    "host",
    "port",
    "allowed_hosts",
    "rate",
    "shutdown_timeout",
)
"""What is said, or decided, when the server starts."""
_GUARDED = ("uploads", "store")
"""The tables that say what a token may read and write of the machine."""


class ConfigReloader:
    """Looks at the configuration with each reading of the project, through the same tree: so its edits are noticed."""

    def __init__(self, assembly: Application) -> None:
        self._assembly = assembly
        self._instructions: str | None = None
        self._fault = ""
        self._written = assembly.service
        self.desk: ToolDispatcher | None = None
        """Where tools are called, once there is such a place."""

    def instructions(self) -> str:
        """What agents are told first, as of now."""
        return self._assembly.instructions if self._instructions is None else self._instructions

    def page_size(self, project: Project) -> int:
        """How many entries of a list an answer holds, now that the project has been read anew."""
        try:
            service = self._guarded(self._assembly.read_again(project.tree))
            if self.desk is not None and not service.says_the_same_as(self._assembly.service):
                self._turn_to(self._assembly.with_service(service), self.desk)
            self._fault = ""
        except DuvetError as error:
            ##= man/spec/service.md#configuration
            ##% The server MUST apply a valid edit of its configuration from the next request on, except for `uploads`
            ##% and `store` over HTTP, notify its clients, and keep the previous configuration after an invalid edit.
            self._tell(str(make_tool_error(error)))
        return self._assembly.rule.page_size

    def _guarded(self, service: Service) -> Service:
        """The same, but for what nobody may change who only has a token."""
        if self._assembly.mode != HTTP_MODE:
            return service
        kept = {name: getattr(self._assembly.service.config, name) for name in _GUARDED}
        before, after = self._written.config, service.config
        self._written = service
        edited = [name for name in _GUARDED if kept[name] != getattr(after, name) != getattr(before, name)]
        self._tell_lasting(self._assembly.log, edited)
        return replace(service, config=replace(service.config, **kept))

    def _turn_to(self, assembly: Application, desk: ToolDispatcher) -> None:
        self._instructions = render_instructions(assembly.rule, assembly.registry)
        desk.renew(assembly.registry, assembly.house(desk.house.observers))
        before, after = self._assembly.service.config.server, assembly.service.config.server
        lasting = [name for name in _LASTING if getattr(before, name) != getattr(after, name)]
        self._tell_lasting(assembly.log, lasting)
        self._assembly = assembly

    def _tell_lasting(self, log: ServerLog, keys: Sequence[str]) -> None:
        if keys:
            log.tell(EventLevel.WARN, "a restart is needed for some of the configuration", keys=" ".join(keys))

    def _tell(self, fault: str) -> None:
        if fault != self._fault:
            self._assembly.log.tell(EventLevel.ERROR, "the configuration stays as it was", reason=fault)
        self._fault = fault
