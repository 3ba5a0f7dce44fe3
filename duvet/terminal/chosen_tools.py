"""Which tools a configuration and a command line switch on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duvet.config.service.read import Service
    from duvet.tools.choosing import Choice, Wish
    from duvet.tools.chosen import Chosen
    from duvet.tools.gateway.line import Line
    from duvet.tools.plugins import Found
    from duvet.tools.registry import Registry
    from duvet.tools.tool import Pack, Tool
    from duvet.workflows.pack import Offered
    from duvet.workflows.records import Workflow

PAGES = "pages"
"""The pack that is shown where the project has pages."""


class Tools:
    """The tools, each part found out when it is first needed."""

    def __init__(self, service: Service, more: Sequence[str], where: Mapping[str, Any]) -> None:
        """These packs are wanted beside those of the configuration."""
        self.service = service
        self._more = more
        self.where = where
        self.line: Line | None = None
        """Where calls of the tools about what is known are forwarded to, if they are."""

    @cached_property
    def choice(self) -> Choice:
        """The tools that are switched on. ProblemsError where the configuration names what there isn't."""
        return self._sound(self._chosen([self.offered.pack] if self.workflows else []))

    @property
    def own_registry(self) -> Registry:
        """Those of ours among them, without a look at what else is installed."""
        from duvet.tools.choosing import BUILT_IN, choice
        from duvet.tools.plugins import Found

        names = [name for name in (*self.service.packs, *self._more) if name in BUILT_IN]
        wishes = {name: wish for name, wish in _wishes(self.service).items() if name in BUILT_IN}
        return self._sound(choice(names, wishes, Found(), self._forwarded)).registry

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
        return choice(names, wishes, self._found, [*self._forwarded, *own])

    @property
    def _forwarded(self) -> Sequence[Pack]:
        """The pack whose calls are forwarded, which is wanted by whoever says where to."""
        if self.line is None:
            return ()
        from duvet.tools.gateway.forwarding import forwarding

        return (forwarding(self.line),)

    def _sound(self, found: Choice) -> Choice:
        """The choice; ProblemsError where it names what there isn't."""
        if found.misnamed:
            from duvet.model import ProblemsError
            from duvet.tools.misnamed import problems_of

            raise ProblemsError(problems_of(found.misnamed, self.service.document))
        return found

    @cached_property
    def _found(self) -> Found:
        from duvet.tools.choosing import BUILT_IN
        from duvet.tools.plugins import declared, loaded
        from duvet.workflows.pack import PACK

        settings = {name: one.settings for name, one in self.service.config.tool_packs.items()}
        return loaded(declared(), [*BUILT_IN, PACK], settings)

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


def _wishes(service: Service) -> Mapping[str, Wish]:
    from duvet.config.service.packs import Access
    from duvet.tools.choosing import Wish

    return {
        name: Wish(enabled=one.enabled, writes=one.mode is Access.READ_WRITE, switches=one.tools, settings=one.settings)
        for name, one in service.config.tool_packs.items()
    }
