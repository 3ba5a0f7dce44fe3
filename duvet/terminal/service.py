"""What commands need that have tools called: the configuration of the service, and what it makes of the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from duvet.terminal.service_options import PACKS, SERVICE, about_trace
from duvet.terminal.settings import Settings, settings
from duvet.terminal.streams import say

if TYPE_CHECKING:
    from duvet.config.schema import ServerRule
    from duvet.config.service.read import Service
    from duvet.llm.router import StaticRouter
    from duvet.server.identity import Identity
    from duvet.server.live import Live
    from duvet.server.log import Log
    from duvet.tools.choosing import Choice, Wish
    from duvet.tools.chosen import Chosen
    from duvet.tools.desk import Desk
    from duvet.tools.plugins import Found
    from duvet.tools.registry import Registry
    from duvet.tools.seen import Observer
    from duvet.tools.tool import Pack, Tool
    from duvet.workflows.pack import Offered
    from duvet.workflows.records import Workflow


PAGES = "pages"
"""The pack that is shown where the project has pages."""


class Assembly:
    """Everything that is made from the options of a command, each part when it is first needed."""

    def __init__(self, where: Mapping[str, Any], service: Service, mode: str, shown: Settings) -> None:
        self.service = service
        self.mode = mode or service.config.server.mode.value
        """By which way it is reached; where nobody says, as the configuration has it."""
        self._shown = shown
        self._more: Sequence[str] = where[PACKS]
        self.where = about_trace(where)

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

        how = key(self.rule, self.service.config, self._more)
        return instructions(how, lambda: rendered_instructions(self.rule, self.registry), blobs_of(self._shown))

    @cached_property
    def choice(self) -> Choice:
        """The tools that are switched on. DuvetError where the configuration names what there isn't."""
        return self._chosen([self.offered.pack] if self.workflows else [])

    @cached_property
    def offered(self) -> Offered:
        """The workflows that can be called, beside the other tools."""
        from duvet.workflows.pack import offered

        config = self.service.config
        others = self._chosen([]) if self.workflows else None
        return offered(
            self.workflows, list(others.registry.every()) if others else [], {*config.providers, *config.routing}
        )

    @cached_property
    def workflows(self) -> Mapping[str, Workflow]:
        """The workflows of the configuration."""
        from duvet.workflows.from_config import from_config

        return {name: from_config(name, section) for name, section in self.service.config.workflows.items()}

    def _chosen(self, own: Sequence[Pack]) -> Choice:
        from duvet.tools.choosing import choice
        from duvet.workflows.pack import PACK

        # Before there are workflows, nothing can be wanted of them.
        later = () if own else (PACK,)
        names = [name for name in (*self.service.packs, *self._more) if name not in later]
        wishes = {name: wish for name, wish in _wishes(self.service).items() if name not in later}
        return choice(names, wishes, self._found, own)

    @cached_property
    def _found(self) -> Found:
        from duvet.tools.choosing import BUILT_IN
        from duvet.tools.plugins import declared, loaded
        from duvet.workflows.pack import PACK

        return loaded(declared(), [*BUILT_IN, PACK])

    @property
    def registry(self) -> Registry:
        return self.choice.registry

    @cached_property
    def shown_tools(self) -> Sequence[Tool]:
        """The tools that clients are told of."""
        return list(self.registry.with_shown(self.is_worthwhile))

    @property
    def shown_packs(self) -> Sequence[Chosen]:
        """Their packs, and those that are switched on and have no tools."""
        shown = {self.registry.pack_of(tool).name for tool in self.shown_tools}
        return [pack for pack in self.registry.every_pack if pack.shown or pack.name in shown]

    def is_worthwhile(self, pack: str) -> bool:
        """Whether the project has anything for a pack that nobody has asked for."""
        from duvet.terminal.notes import has_pages

        return pack == PAGES and has_pages(self.where, self.service.config.notes())

    @cached_property
    def live(self) -> Live:
        from duvet.terminal.lasting import live_project

        return live_project(self.where, self.rule.page_size, self.service.config.notes())

    @cached_property
    def router(self) -> StaticRouter:
        """What chooses among the models of the configuration."""
        from duvet.server.log import Level
        from duvet.terminal.models import router_of

        return router_of(self.service.config, self._shown, lambda words: self.log.tell(Level.WARN, words))

    @cached_property
    def log(self) -> Log:
        from duvet.server.log import Level, Log

        server = self.service.config.server
        level = Level[server.log_level.value.upper()]
        if self._shown.verbose:
            level = min(level, Level.INFO)
        return Log(tell_line, level, as_json=server.log_format.value == "json")

    def desk(self, observers: Sequence[Observer]) -> Desk:
        """Where the tools are called; these hear of every call."""
        from duvet.server.log import Level
        from duvet.tools.desk import Desk, House

        for one in self.choice.unloaded:
            self.log.tell(Level.WARN, "a pack is left out", pack=one.name, reason=one.reason)
        house = House(
            services=self._services(),
            observers=observers,
            time_limit=self.service.config.server.tool_timeout,
            is_worthwhile=self.is_worthwhile,
        )
        return Desk(self.registry, self.live, house)

    def _services(self) -> Mapping[str, Any]:
        from duvet.tools.facts import FACTS, Facts
        from duvet.tools.services import MODELS

        config = self.service.config
        facts = Facts(
            name=self.rule.name,
            version=self.rule.version,
            mode=self.mode,
            packs=[pack.name for pack in self.registry.packs],
            tools=len(list(self.registry)),
            unloaded=self.choice.unloaded,
            providers=[name for name, one in config.providers.items() if one.enabled],
            workflows=list(config.workflows),
        )
        return {FACTS: facts, MODELS: self.router}


def assembly_of(where: Mapping[str, Any], *, mode: str) -> Assembly:
    """What these options describe; ProblemsError where the configuration of the service is wrong."""
    return Assembly(where, read_service(where[SERVICE], where["config_path"]), mode, settings())


def read_service(given: str | None, config_path: str | None) -> Service:
    """The configuration of the service; ProblemsError with everything that is wrong with it."""
    from duvet.config.service.read import service_config
    from duvet.tree.disk import DiskTree

    shown = settings()
    return service_config(DiskTree(), shown.environ, given, config_path or shown.config_path)


def _wishes(service: Service) -> Mapping[str, Wish]:
    from duvet.config.service.packs import Access
    from duvet.tools.choosing import Wish

    return {
        name: Wish(enabled=one.enabled, writes=one.mode is Access.READ_WRITE, switches=one.tools, settings=one.settings)
        for name, one in service.config.tool_packs.items()
    }


def tell_line(text: str) -> None:
    """Say a line on standard error at once."""
    import sys

    say(f"{text}\n")
    if sys.stderr is not None:
        sys.stderr.flush()
