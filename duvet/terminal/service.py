"""What commands need that have tools called: the configuration of the service, and what it makes of the tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from duvet.terminal.chosen_tools import Tools
from duvet.terminal.forwarding import line_of
from duvet.terminal.service_options import PACKS, SERVICE, about_trace
from duvet.terminal.service_reading import read, read_service
from duvet.terminal.settings import Settings, settings
from duvet.terminal.streams import is_heard, tell_line
from duvet.tools.faces import SHELL

if TYPE_CHECKING:
    from duvet.config.schema import ServerRule
    from duvet.config.service.read import Service
    from duvet.config.upload import UploadRule
    from duvet.knowledge.knowledge import Knowledge, Rules
    from duvet.knowledge.upkeep.upkeep import Upkeep
    from duvet.llm.http import Http
    from duvet.llm.router import StaticRouter
    from duvet.server.identity import Identity
    from duvet.server.live import Live
    from duvet.server.log import Log
    from duvet.terminal.renewing import Renewing
    from duvet.tools.desk import Closer, Desk, House
    from duvet.tools.seen import Observer, Seen
    from duvet.tree.protocol import Tree
    from duvet.workflows.recipes.running import Recipes


KNOWLEDGE = "knowledge"
"""The pack about what is known."""
HTTP = "http"
"""The mode of a server that others reach."""


class Assembly(Tools):
    """Everything that is made from the options of a command, each part when it is first needed."""

    def __init__(self, where: Mapping[str, Any], service: Service, mode: str, shown: Settings) -> None:
        super().__init__(service, where.get(PACKS, ()), about_trace(where))
        self.mode = mode or service.config.server.mode.value
        """By which way it is reached; where nobody says, as the configuration has it."""
        self._shown = shown
        self._options = where
        self.line = line_of(shown.environ, self.mode, service.config.server.tool_timeout)

    @property
    def rule(self) -> ServerRule:
        return self.service.rule

    @cached_property
    def identity(self) -> Identity:
        from duvet.server.identity import identity_of

        return identity_of(self.rule)

    @cached_property
    def instructions(self) -> str:
        """What agents are told first; the tools are loaded only where that is not known from an earlier run."""
        from duvet.cache.key import key
        from duvet.server.instructions import instructions, rendered_instructions
        from duvet.terminal.blobs import blobs_of
        from duvet.tools.installed import entry_points_on

        ##= man/spec/service.md#packs
        ##% Once a further pack is installed, removed or brought up to date, the next server MUST tell agents so.
        tokens = None if self.line is None else self.line.gateway.tokens
        how = key(self.rule, self.service.config, self._more, entry_points_on(sys.path), tokens)
        return instructions(how, lambda: rendered_instructions(self.rule, self.registry), blobs_of(self._shown))

    @cached_property
    def live(self) -> Live:
        from duvet.terminal.lasting import live_project

        return live_project(self.where, self.renewing.page_size, self.service.config.notes())

    @cached_property
    def renewing(self) -> Renewing:
        """What keeps all of this up to date, for as long as a server runs."""
        from duvet.terminal.renewing import Renewing

        return Renewing(self)

    def read_again(self, tree: Tree) -> Service:
        """The configuration of the service as it is now."""
        return read(tree, self._options.get(SERVICE), self._options["config_path"], self._shown)

    def with_service(self, service: Service) -> Assembly:
        """The same with another configuration; what lasts is not made again."""
        other = Assembly(self._options, service, self.mode, self._shown)
        other.set_log(self.log)
        other.__dict__.update(log=self.log, http=self.http)
        if other.line is not None and self.line is not None:
            # Its connections last.
            self.line.seconds, other.line = other.line.seconds, self.line
        other.__dict__.update(knowledge=self.knowledge)
        self.knowledge.turn_to(other.rules)
        return other

    @cached_property
    def router(self) -> StaticRouter:
        """What chooses among the models of the configuration."""
        from duvet.server.log import Level
        from duvet.terminal.models import router_of

        return router_of(self.service.config, self._shown, lambda words: self.log.tell(Level.WARN, words), self.http)

    @cached_property
    def http(self) -> Http:
        """The connections to models."""
        from duvet.llm.clock import SystemClock
        from duvet.llm.http import Http

        return Http(SystemClock())

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known of the project, which nobody opens before it is asked for."""
        from duvet.knowledge.knowledge import Knowledge

        return Knowledge(self.rules)

    @cached_property
    def recipes(self) -> Recipes:
        """What runs recipes."""
        from duvet.tree.disk import DiskTree
        from duvet.workflows.recipes.running import Recipes

        return Recipes(DiskTree(os.getcwd()))

    @property
    def upkeep(self) -> Upkeep:
        """What maintainers do with it."""
        from duvet.terminal.upkeep import upkeep_of

        return upkeep_of(self.where, self._shown, lambda: self.knowledge.rules(), lambda: self.uploads)

    def require_variables(self) -> None:
        """DuvetError where one of those beside the configuration can't be meant."""
        ##= man/spec/gateway.md#maintenance
        ##% A `KM_UPLOAD_DEFAULT_OVERWRITE` or `KM_UPLOAD_DEFAULT_INGEST` that is neither true nor false MUST be an error before
        ##% anything is served, and MUST NOT keep those tools from their work that hand no file in.
        self.service.config.ingest.rule(self._shown.environ)
        self.uploads  # noqa: B018 - it is looked at

    @property
    def uploads(self) -> UploadRule:
        """What becomes of files that are handed in; DuvetError where a variable says nothing that can be meant."""
        return self.service.config.uploads.rule(self._shown.environ)

    async def _account(self, seen: Seen) -> None:
        """Keep the account of what is changed."""
        if seen.changes and seen.pack == KNOWLEDGE and self.line is None:
            # Most servers change nothing, and what this needs takes time to import.
            from duvet.terminal.upkeep import accountant

            tells = self.mode != SHELL
            await accountant(lambda: self.knowledge.rules(), self.log, tells=tells).saw(seen)

    @property
    def rules(self) -> Callable[[], Rules]:
        """Where that is kept."""
        from duvet.terminal.knowing import rules_of

        return rules_of(self.service, self._options["config_path"], self._shown)

    @cached_property
    def log(self) -> Log:
        from duvet.server.log import Log

        log = Log(tell_line, is_read=is_heard)
        self.set_log(log)
        return log

    def set_log(self, log: Log) -> None:
        """Have a log tell as much as is wanted, in the way that is wanted."""
        from duvet.server.log import Level

        server = self.service.config.server
        # Who calls a tool from the shell sees what comes of it.
        level = Level.WARN if self.mode == SHELL else Level[server.log_level.value.upper()]
        if self._shown.verbose:
            level = min(level, Level.INFO)
        log.turn_to(level, as_json=server.log_format.value == "json")

    def desk(self, observers: Sequence[Observer], **services: object) -> Desk:
        """Where the tools are called; these hear of every call, and these services stand in for others."""
        from duvet.tools.desk import Desk

        desk = self.renewing.desk = Desk(self.registry, self.live, self.house(observers, **services))
        return desk

    def house(self, observers: Sequence[Observer], **services: object) -> House:
        """What calls happen in; what could not be had for it is told."""
        from duvet.server.log import Level
        from duvet.tools.desk import House

        for one in self.choice.unloaded:
            self.log.tell(Level.WARN, "a pack is left out", pack=one.name, reason=one.reason)
        for name, faults in self.offered.faults.items():
            for fault in faults:
                self.log.tell(Level.WARN, "a workflow is faulty", workflow=name, at=fault.path, reason=fault.message)
        return House(
            services={**self._services(), **services},
            observers=observers,
            keepers=[self._account],
            measures=lambda: self.log.wants(Level.INFO),
            time_limit=self.service.config.server.tool_timeout,
            is_worthwhile=self.is_worthwhile,
            closers=[self.http.aclose, *self._closers()],
        )

    def _services(self) -> Mapping[str, Any]:
        from duvet.terminal.facts import facts_of
        from duvet.tools.facts import FACTS
        from duvet.tools.services import MODELS, RECIPES, RUNS, UPKEEP

        own = {KNOWLEDGE: self.knowledge, RECIPES: self.recipes, UPKEEP: self.upkeep}
        known = own if self.knows else {}
        return {FACTS: facts_of(self), MODELS: self.router, RUNS: self.log.ran, **known}

    def _closers(self) -> Iterator[Closer]:
        if self.line is not None:
            yield self.line.aclose
        elif self.knows:
            from duvet.terminal.knowing import close

            yield partial(close, self.knowledge)

    @property
    def knows(self) -> bool:
        """Whether there are tools here that are asked for what is known."""
        return self.line is None and any(pack.name == KNOWLEDGE for pack in self.registry.every_pack)


def assembly_of(where: Mapping[str, Any], *, mode: str) -> Assembly:
    """What these options describe; ProblemsError where the configuration of the service is wrong."""
    return Assembly(where, read_service(where.get(SERVICE), where["config_path"]), mode, settings())
