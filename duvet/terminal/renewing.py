"""What a server offers follows the configuration while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from duvet.config.service.read import Service
from duvet.errors import DuvetError
from duvet.project import Project
from duvet.server.instructions import rendered_instructions
from duvet.server.log import Level, Log
from duvet.terminal.service import HTTP, Assembly
from duvet.tools.desk import Desk
from duvet.tools.errors import tool_error

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


class Renewing:
    """Looks at the configuration with each reading of the project, through the same tree: so its edits are noticed."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._instructions: str | None = None
        self._fault = ""
        self._written = assembly.service
        self.desk: Desk | None = None
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
            ##% While the server runs, an edit of its configuration MUST be in force with the next request, and clients MUST
            ##% be told that the lists of tools and prompts have changed; one that is wrong MUST be told of in the log, and
            ##% what was in force before stays.
            self._tell(str(tool_error(error)))
        return self._assembly.rule.page_size

    def _guarded(self, service: Service) -> Service:
        """The same, but for what nobody may change who only has a token."""
        if self._assembly.mode != HTTP:
            return service
        ##= man/spec/gateway.md#maintenance
        ##% While a server over HTTP runs, edits of `uploads` and `store` MUST NOT be in force before it is started again,
        ##% and the log MUST say so.
        kept = {name: getattr(self._assembly.service.config, name) for name in _GUARDED}
        before, after = self._written.config, service.config
        self._written = service
        edited = [name for name in _GUARDED if kept[name] != getattr(after, name) != getattr(before, name)]
        self._tell_lasting(self._assembly.log, edited)
        return replace(service, config=replace(service.config, **kept))

    def _turn_to(self, assembly: Assembly, desk: Desk) -> None:
        self._instructions = rendered_instructions(assembly.rule, assembly.registry)
        desk.renew(assembly.registry, assembly.house(desk.house.observers))
        before, after = self._assembly.service.config.server, assembly.service.config.server
        lasting = [name for name in _LASTING if getattr(before, name) != getattr(after, name)]
        self._tell_lasting(assembly.log, lasting)
        self._assembly = assembly

    def _tell_lasting(self, log: Log, keys: Sequence[str]) -> None:
        if keys:
            log.tell(Level.WARN, "a restart is needed for some of the configuration", keys=" ".join(keys))

    def _tell(self, fault: str) -> None:
        if fault != self._fault:
            self._assembly.log.tell(Level.ERROR, "the configuration stays as it was", reason=fault)
        self._fault = fault
