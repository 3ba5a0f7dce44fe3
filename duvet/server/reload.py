"""Reloads the edited configuration of a running server."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from duvet.config.service import Service
from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.server import log, messages
from duvet.server.application import HTTP_MODE, Application
from duvet.tools.tool import make_tool_error
from duvet.tree.files import DiskTree, Tree

_FIXED = (  # Keys that apply only when the server starts.
    *("name", "title", "version", "description", "protocol_version", "mode", "host", "port", "allowed_hosts", "rate"),
    "shutdown_timeout",
)
_GUARDED = ("uploads", "store")  # Tables that decide what a token may read and write on this machine.


def _read_pack_files(service: Service, tree: Tree) -> Mapping[str, bytes]:
    # The tree detects changes to the files that it reads.
    found = {}
    for pack in service.config.tool_packs.values():
        if pack.path and pack.enabled:
            with suppress(DuvetError):
                found[pack.path] = tree.read(posixpath.normpath(pack.path))
    return found


class ConfigReloader:
    def __init__(self, application: Application) -> None:
        self._application = application
        self._instructions: str | None = None
        self._fault = ""
        self._written = application.service
        self._pack_files = _read_pack_files(application.service, DiskTree())

    def instructions(self) -> str:
        return self._application.instructions if self._instructions is None else self._instructions

    def page_size(self, project: Project) -> int:
        """Apply a changed configuration, and return the maximum number of list entries in an answer."""
        try:
            ##= man/spec/service.md#configuration
            ##% After a valid edit of its configuration or of a pack's file, the server MUST use the new version for the
            ##% next request, or log which keys require a restart.
            service = self._keep_guarded(self._application.settings.read_service(project.tree))
            dispatcher = self._application.dispatcher
            files = _read_pack_files(service, project.tree)
            # The text of the file doesn't matter.
            before, now = (replace(one, document=None) for one in (self._application.service, service))
            changed = now != before or files != self._pack_files
            self._pack_files = files
            if dispatcher is not None and changed:
                application, server = self._application.with_service(service), service.config.server
                self._instructions = messages.render_instructions(server, application.tools.registry)
                dispatcher.registry = application.tools.registry
                dispatcher.environment = application.make_environment(dispatcher.environment.observers)
                earlier = self._application.service.config.server
                self._warn_of_restart([name for name in _FIXED if getattr(earlier, name) != getattr(server, name)])
                self._application = application
            fault = ""
        except DuvetError as error:
            fault = str(make_tool_error(error))
        ##= man/spec/service.md#configuration
        ##% After an invalid edit of its configuration, the server MUST keep the previous configuration.
        if fault and fault != self._fault:
            self._application.log.write_event(
                log.EventLevel.ERROR, "the configuration is invalid; the previous one remains in effect", reason=fault
            )
        self._fault = fault
        return self._application.service.config.server.page_size

    def _keep_guarded(self, service: Service) -> Service:
        if self._application.mode != HTTP_MODE:
            return service
        kept = {name: getattr(self._application.service.config, name) for name in _GUARDED}
        before, after = self._written.config, service.config
        self._written = service
        self._warn_of_restart(
            [name for name in _GUARDED if kept[name] != getattr(after, name) != getattr(before, name)]
        )
        return replace(service, config=replace(service.config, **kept))

    def _warn_of_restart(self, keys: Sequence[str]) -> None:
        if keys:
            self._application.log.write_event(
                log.EventLevel.WARN,
                "restart the server to apply changes to these configuration keys",
                keys=" ".join(keys),
            )
