"""The tools that the configuration enables (packs, plugins and workflows), and those that clients see."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from duvet.config.service import Service
from duvet.config.service_tables import Access, PackSection
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Problem
from duvet.server.application import ApplicationSettings
from duvet.tools import packs, plugins
from duvet.tools.tool import EnabledPack, Pack, Tool

if TYPE_CHECKING:
    from duvet.tools.gateway import GatewayConnection
    from duvet.workflows.check import WorkflowFault
    from duvet.workflows.pack import WorkflowTools
    from duvet.workflows.workflow import Workflow

PAGES_PACK = "pages"  # The pack that is shown if the project has pages.


class ToolSelection:
    def __init__(self, settings: ApplicationSettings, service: Service, connection: GatewayConnection | None) -> None:
        self._settings = settings
        self._service = service
        self._packs = (*service.packs, *settings.packs)
        self._connection = connection

    @cached_property
    def choice(self) -> packs.ToolChoice:
        return self._require_known(self._choose([self.offered.pack] if self._service.config.workflows else []))

    @property
    def registry(self) -> packs.Registry:
        return self.choice.registry

    @property
    def own_registry(self) -> packs.Registry:
        names = [name for name in self._packs if name in packs.BUILT_IN_PACKS]
        settings = {name: one for name, one in self._pack_settings.items() if name in packs.BUILT_IN_PACKS}
        return self._require_known(packs.choose_packs(names, settings, plugins.PluginPacks(), self._forwarded)).registry

    @cached_property
    def offered(self) -> WorkflowTools:
        from duvet.workflows.pack import make_workflow_tools

        config = self._service.config
        others = list(self._choose([]).registry.every()) if self.workflows else []
        return make_workflow_tools(self.workflows, others, {*config.providers, *config.routing})

    @property
    def faults(self) -> Mapping[str, list[WorkflowFault]]:
        return self.offered.faults if self._service.config.workflows else {}

    @cached_property
    def workflows(self) -> Mapping[str, Workflow]:
        from duvet.workflows.workflow import make_configured_workflow

        sections = self._service.config.workflows
        return {name: make_configured_workflow(name, section) for name, section in sections.items()}

    def _choose(self, own: Sequence[Pack]) -> packs.ToolChoice:
        # Workflows call other tools, so choose those first, without the pack of workflows.
        later = () if own else (packs.WORKFLOWS_PACK,)
        names = [name for name in self._packs if name not in later]
        settings = {name: one for name, one in self._pack_settings.items() if name not in later}
        return packs.choose_packs(names, settings, self._plugins, [*self._forwarded, *own])

    @property
    def _pack_settings(self) -> Mapping[str, packs.PackSettings]:
        return {
            name: packs.PackSettings(
                enabled=pack.enabled,
                writes=pack.mode is Access.READ_WRITE,
                switches=pack.tools,
                settings=pack.settings,
                prefix=pack.prefix,
                is_file=pack.path is not None,
            )
            for name, pack in self._service.config.tool_packs.items()
        }

    @property
    def _forwarded(self) -> Sequence[Pack]:
        if self._connection is None:
            return ()
        from duvet.tools.gateway import make_forwarding_pack

        return (make_forwarding_pack(self._connection),)

    @cached_property
    def _plugins(self) -> plugins.PluginPacks:
        settings = {name: pack.settings for name, pack in self._service.config.tool_packs.items()}
        sources = [*self._pack_files, *plugins.find_plugins()]
        return plugins.load_plugins(sources, [*packs.BUILT_IN_PACKS, packs.WORKFLOWS_PACK], settings)

    @property
    def _pack_files(self) -> Sequence[plugins.PackFile]:
        return [
            plugins.PackFile(name, os.path.abspath(pack.path))
            for name, pack in self._service.config.tool_packs.items()
            if pack.path and pack.enabled and not self._find_path_fault(name, pack)
        ]

    def _find_path_fault(self, name: str, pack: PackSection) -> str:
        """Return why the file of a pack must not be loaded; empty if there is no objection."""
        if pack.path is None:
            return ""
        from duvet.tools.context import is_inside_project

        ##= man/spec/service.md#packs
        ##% duvet MUST load the file of a pack only from inside the project.
        if not is_inside_project(os.getcwd(), pack.path):
            return f"{pack.path} is not a file inside the project"
        if not os.path.isfile(pack.path):
            return f"{pack.path} does not exist"
        built_in = name in packs.BUILT_IN_PACKS or name == packs.WORKFLOWS_PACK
        return f"{name} is a built-in pack; choose another name for the file" if built_in else ""

    def _require_known(self, choice: packs.ToolChoice) -> packs.ToolChoice:
        if problems := self._list_unknown_names(choice):
            raise ProblemsError(problems)
        return choice

    def list_unknown_names(self) -> Sequence[Problem]:
        return self._list_unknown_names(self._choose([self.offered.pack] if self._service.config.workflows else []))

    def _list_unknown_names(self, choice: packs.ToolChoice) -> tuple[Problem, ...]:
        sections = self._service.config.tool_packs
        faults = {name: fault for name, pack in sections.items() if (fault := self._find_path_fault(name, pack))}
        unknown = [packs.UnknownName(fault, "", (name, "path")) for name, fault in faults.items()]
        return packs.make_unknown_name_problems([*unknown, *choice.misnamed], self._service.document)

    @cached_property
    def shown_tools(self) -> Sequence[Tool]:
        return list(self.registry.with_shown(self.is_relevant))

    @property
    def shown_packs(self) -> Sequence[EnabledPack]:
        """The packs of the visible tools, and enabled packs without tools."""
        names = {self.registry.pack_of(tool).name for tool in self.shown_tools}
        return [pack for pack in self.registry.every_pack if pack.shown or pack.name in names]

    def is_relevant(self, pack: str) -> bool:
        """Return whether the project has content for a pack that the configuration doesn't mention."""
        if pack != PAGES_PACK:
            return False
        from duvet.knowledge.pages.files import load_page_patterns

        # This doesn't compute the trace.
        with suppress(DuvetError):
            project = self._settings.open_project(None, None, notes=self._service.config.notes())
            return bool(load_page_patterns(project).files(project.tree).prefixes)
        return False
