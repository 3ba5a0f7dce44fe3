"""The application behind commands that call tools: configuration, packs, models, index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from duvet.config.project_file import CONFIG_PATH
from duvet.config.service import Service, load_service
from duvet.config.service_tables import Access
from duvet.config.settings import UploadRule
from duvet.console.project import CATALOGUE_KEY, open_blobs, open_project, require_contents
from duvet.console.service_options import PACKS_KEY, SERVICE_KEY, select_trace_options
from duvet.console.settings import TerminalSettings, current_settings, wants_cache
from duvet.console.streams import is_stderr_writable, print_line
from duvet.knowledge.index import Knowledge, KnowledgeSettings
from duvet.knowledge.maintenance.feedback import AuditEntry, find_store_paths
from duvet.knowledge.maintenance.maintenance import Maintenance, OpenedProject
from duvet.llm.http import ProviderClient
from duvet.llm.records import SystemClock
from duvet.llm.router import StaticRouter, ignore_log
from duvet.model import ProblemsError
from duvet.progress import Progress
from duvet.server.log import EventLevel, ServerLog
from duvet.tools.audit import AuditLog
from duvet.tools.call_context import FACTS_SERVICE, ServerFacts
from duvet.tools.plugins import PluginPacks, find_entry_point_stamps, find_plugins, load_plugins
from duvet.tools.tool import MODELS_SERVICE, RECIPES_SERVICE, RUNS_SERVICE, SHELL_SOURCE, UPKEEP_SERVICE
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import Cache, make_cache_key
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.config.service_schema import ServiceConfig
    from duvet.config.settings import ServerRule
    from duvet.console.live_service import ConfigReloader
    from duvet.server.live_project import LiveProject
    from duvet.server.messages import ServerIdentity
    from duvet.tools.audit import CallObserver, CallRecord
    from duvet.tools.dispatcher import CloseCallback, ToolDispatcher, ToolEnvironment
    from duvet.tools.gateway import GatewayConnection
    from duvet.tools.packs import PackSettings, Registry, ToolChoice
    from duvet.tools.tool import EnabledPack, Pack, Tool
    from duvet.tree.files import Tree
    from duvet.workflows.pack import WorkflowTools
    from duvet.workflows.recipes import RecipeRunner
    from duvet.workflows.workflow import Workflow


PAGES_PACK = "pages"
"""The pack that is shown where the project has pages."""


class ToolSelection:
    """The tools, each part found out when it is first needed."""

    def __init__(self, service: Service, more: Sequence[str], where: Mapping[str, Any]) -> None:
        """These packs are wanted beside those of the configuration."""
        self.service = service
        self._more = more
        self.where = where
        self.line: GatewayConnection | None = None
        """Where calls of the tools about what is known are forwarded to, if they are."""

    @cached_property
    def choice(self) -> ToolChoice:
        """The tools that are switched on. ProblemsError where the configuration names what there isn't."""
        return self._sound(self._chosen([self.offered.pack] if self.workflows else []))

    @property
    def own_registry(self) -> Registry:
        """Those of ours among them, without a look at what else is installed."""
        from duvet.tools.packs import BUILT_IN_PACKS, choose_packs

        names = [name for name in (*self.service.packs, *self._more) if name in BUILT_IN_PACKS]
        wishes = {name: wish for name, wish in _wishes(self.service).items() if name in BUILT_IN_PACKS}
        return self._sound(choose_packs(names, wishes, PluginPacks(), self._forwarded)).registry

    @cached_property
    def offered(self) -> WorkflowTools:
        """The workflows that can be called, beside the other tools."""
        from duvet.workflows.pack import make_workflow_tools

        config = self.service.config
        others = self._chosen([]) if self.workflows else None
        return make_workflow_tools(
            self.workflows, list(others.registry.every()) if others else [], {*config.providers, *config.routing}
        )

    @cached_property
    def workflows(self) -> Mapping[str, Workflow]:
        """The workflows of the configuration."""
        from duvet.workflows.inputs import make_configured_workflow

        return {
            name: make_configured_workflow(name, section) for name, section in self.service.config.workflows.items()
        }

    def _chosen(self, own: Sequence[Pack]) -> ToolChoice:
        from duvet.tools.packs import choose_packs
        from duvet.workflows.pack import WORKFLOWS_PACK

        # Before there are workflows, nothing can be wanted of them.
        later = () if own else (WORKFLOWS_PACK,)
        names = [name for name in (*self.service.packs, *self._more) if name not in later]
        wishes = {name: wish for name, wish in _wishes(self.service).items() if name not in later}
        return choose_packs(names, wishes, self._found, [*self._forwarded, *own])

    @property
    def _forwarded(self) -> Sequence[Pack]:
        """The pack whose calls are forwarded, which is wanted by whoever says where to."""
        if self.line is None:
            return ()
        from duvet.tools.gateway import make_forwarding_pack

        return (make_forwarding_pack(self.line),)

    def _sound(self, found: ToolChoice) -> ToolChoice:
        """The choice; ProblemsError where it names what there isn't."""
        if found.misnamed:
            from duvet.tools.packs import make_unknown_name_problems

            raise ProblemsError(make_unknown_name_problems(found.misnamed, self.service.document))
        return found

    @cached_property
    def _found(self) -> PluginPacks:
        from duvet.tools.packs import BUILT_IN_PACKS
        from duvet.workflows.pack import WORKFLOWS_PACK

        settings = {name: one.settings for name, one in self.service.config.tool_packs.items()}
        return load_plugins(find_plugins(), [*BUILT_IN_PACKS, WORKFLOWS_PACK], settings)

    @property
    def registry(self) -> Registry:
        return self.choice.registry

    @cached_property
    def shown_tools(self) -> Sequence[Tool]:
        """The tools that clients are told of."""
        return list(self.registry.with_shown(self.is_worthwhile))

    @property
    def shown_packs(self) -> Sequence[EnabledPack]:
        """Their packs, and those that are switched on and have no tools."""
        shown = {self.registry.pack_of(tool).name for tool in self.shown_tools}
        return [pack for pack in self.registry.every_pack if pack.shown or pack.name in shown]

    def is_worthwhile(self, pack: str) -> bool:
        """Whether the project has anything for a pack that nobody has asked for."""
        from duvet.console.project import has_pages

        return pack == PAGES_PACK and has_pages(self.where, self.service.config.notes())


def _wishes(service: Service) -> Mapping[str, PackSettings]:
    from duvet.tools.packs import PackSettings

    return {
        name: PackSettings(
            enabled=one.enabled, writes=one.mode is Access.READ_WRITE, switches=one.tools, settings=one.settings
        )
        for name, one in service.config.tool_packs.items()
    }


_URL = "KM_GATEWAY_URL"
_SERVES = "http"
"""Who serves others answers them from what is known here: two servers could ask each other without end."""


def make_gateway_connection(environ: Mapping[str, str], mode: str, seconds: float) -> GatewayConnection | None:
    """The line to that server; None where the environment names none. QueryError where it can't be meant."""
    ##= man/spec/gateway.md#forwarding
    ##% With `KM_GATEWAY_URL`, the shell and `duvet mcp` over standard input and output MUST enable the pack `knowledge`
    ##% unless it is disabled, forward the calls of its tools except `km-help` to that server, and refuse
    ##% `duvet recipe run`.
    if not is_forwarded(environ) or mode == _SERVES:
        return None
    from duvet.server.http.tokens import read_raw_tokens
    from duvet.tools.gateway import GatewayConnection, parse_gateway

    return GatewayConnection(parse_gateway(environ[_URL].strip(), *read_raw_tokens(environ)), seconds)


def is_forwarded(environ: Mapping[str, str]) -> bool:
    """Whether the environment names such a server."""
    return bool(environ.get(_URL, "").strip())


def read_service(given: str | None, config_path: str | None) -> Service:
    """The configuration of the service; ProblemsError with everything that is wrong with it."""
    return read_service_from(DiskTree(), given, config_path, current_settings())


def read_service_from(tree: Tree, given: str | None, config_path: str | None, shown: TerminalSettings) -> Service:
    """The same from this tree."""
    return load_service(tree, shown.environ, given, config_path or shown.config_path)


KNOWLEDGE_NAME = "knowledge"
"""The pack about what is known."""
HTTP_MODE = "http"
"""The mode of a server that others reach."""


class Application(ToolSelection):
    """Everything that is made from the options of a command, each part when it is first needed."""

    def __init__(self, where: Mapping[str, Any], service: Service, mode: str, shown: TerminalSettings) -> None:
        super().__init__(service, where.get(PACKS_KEY, ()), select_trace_options(where))
        self.mode = mode or service.config.server.mode.value
        """By which way it is reached; where nobody says, as the configuration has it."""
        self._shown = shown
        self._options = where
        self.line = make_gateway_connection(shown.environ, self.mode, service.config.server.tool_timeout)

    @property
    def rule(self) -> ServerRule:
        return self.service.rule

    @cached_property
    def identity(self) -> ServerIdentity:
        from duvet.server.messages import make_identity

        return make_identity(self.rule)

    @cached_property
    def instructions(self) -> str:
        """What agents are told first; the tools are loaded only where that is not known from an earlier run."""
        from duvet.server.messages import load_instructions, render_instructions

        tokens = None if self.line is None else self.line.gateway.tokens
        how = make_cache_key(self.rule, self.service.config, self._more, find_entry_point_stamps(sys.path), tokens)
        return load_instructions(how, lambda: render_instructions(self.rule, self.registry), open_blobs(self._shown))

    @cached_property
    def live(self) -> LiveProject:
        from duvet.console.live_service import open_live_project

        return open_live_project(self.where, self.renewing.page_size, self.service.config.notes())

    @cached_property
    def renewing(self) -> ConfigReloader:
        """What keeps all of this up to date, for as long as a server runs."""
        from duvet.console.live_service import ConfigReloader

        return ConfigReloader(self)

    def read_again(self, tree: Tree) -> Service:
        """The configuration of the service as it is now."""
        return read_service_from(tree, self._options.get(SERVICE_KEY), self._options["config_path"], self._shown)

    def with_service(self, service: Service) -> Application:
        """The same with another configuration; what lasts is not made again."""
        other = Application(self._options, service, self.mode, self._shown)
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
        return make_router(
            self.service.config, self._shown, lambda words: self.log.tell(EventLevel.WARN, words), self.http
        )

    @cached_property
    def http(self) -> ProviderClient:
        """The connections to models."""
        return ProviderClient(SystemClock())

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known of the project, which nobody opens before it is asked for."""
        return Knowledge(self.rules)

    @cached_property
    def recipes(self) -> RecipeRunner:
        """What runs recipes."""
        from duvet.workflows.recipes import RecipeRunner

        return RecipeRunner(DiskTree(os.getcwd()))

    @property
    def upkeep(self) -> Maintenance:
        """What maintainers do with it."""
        return make_maintenance(self.where, self._shown, lambda: self.knowledge.rules(), lambda: self.uploads)

    def require_variables(self) -> None:
        """DuvetError where one of those beside the configuration can't be meant."""
        ##= man/spec/gateway.md#uploads
        ##% `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and `KM_UPLOAD_DEFAULT_INGEST` MUST apply where `uploads`
        ##% sets nothing, and be refused at the start if they are invalid.
        self.service.config.ingest.rule(self._shown.environ)
        self.uploads  # noqa: B018 - it is looked at

    @property
    def uploads(self) -> UploadRule:
        """What becomes of files that are handed in; DuvetError where a variable says nothing that can be meant."""
        return self.service.config.uploads.rule(self._shown.environ)

    async def _account(self, seen: CallRecord) -> None:
        """Keep the account of what is changed."""
        if seen.changes and seen.pack == KNOWLEDGE_NAME and self.line is None:
            # Most servers change nothing, and what this needs takes time to import.
            tells = self.mode != SHELL_SOURCE
            await make_audit_log(lambda: self.knowledge.rules(), self.log, tells=tells).saw(seen)

    @property
    def rules(self) -> Callable[[], KnowledgeSettings]:
        """Where that is kept."""
        return load_knowledge_settings(self.service, self._options["config_path"], self._shown)

    @cached_property
    def log(self) -> ServerLog:
        log = ServerLog(print_line, is_read=is_stderr_writable)
        self.set_log(log)
        return log

    def set_log(self, log: ServerLog) -> None:
        """Have a log tell as much as is wanted, in the way that is wanted."""
        server = self.service.config.server
        # Who calls a tool from the shell sees what comes of it.
        level = EventLevel.WARN if self.mode == SHELL_SOURCE else EventLevel[server.log_level.value.upper()]
        if self._shown.verbose:
            level = min(level, EventLevel.INFO)
        log.turn_to(level, as_json=server.log_format.value == "json")

    def desk(self, observers: Sequence[CallObserver], **services: object) -> ToolDispatcher:
        """Where the tools are called; these hear of every call, and these services stand in for others."""
        from duvet.tools.dispatcher import ToolDispatcher

        desk = self.renewing.desk = ToolDispatcher(self.registry, self.live, self.house(observers, **services))
        return desk

    def house(self, observers: Sequence[CallObserver], **services: object) -> ToolEnvironment:
        """What calls happen in; what could not be had for it is told."""
        from duvet.tools.dispatcher import ToolEnvironment

        for one in self.choice.unloaded:
            self.log.tell(EventLevel.WARN, "a pack is left out", pack=one.name, reason=one.reason)
        for name, faults in self.offered.faults.items():
            for fault in faults:
                self.log.tell(
                    EventLevel.WARN, "a workflow is faulty", workflow=name, at=fault.path, reason=fault.message
                )
        return ToolEnvironment(
            services={**self._services(), **services},
            observers=observers,
            keepers=[self._account],
            measures=lambda: self.log.wants(EventLevel.INFO),
            time_limit=self.service.config.server.tool_timeout,
            is_worthwhile=self.is_worthwhile,
            closers=[self.http.aclose, *self._closers()],
        )

    def _services(self) -> Mapping[str, Any]:
        own = {KNOWLEDGE_NAME: self.knowledge, RECIPES_SERVICE: self.recipes, UPKEEP_SERVICE: self.upkeep}
        known = own if self.knows else {}
        return {
            FACTS_SERVICE: make_server_facts(self),
            MODELS_SERVICE: self.router,
            RUNS_SERVICE: self.log.ran,
            **known,
        }

    def _closers(self) -> Iterator[CloseCallback]:
        if self.line is not None:
            yield self.line.aclose
        elif self.knows:
            yield partial(close_knowledge, self.knowledge)

    @property
    def knows(self) -> bool:
        """Whether there are tools here that are asked for what is known."""
        return self.line is None and any(pack.name == KNOWLEDGE_NAME for pack in self.registry.every_pack)


def make_application(where: Mapping[str, Any], *, mode: str) -> Application:
    """What these options describe; ProblemsError where the configuration of the service is wrong."""
    return Application(where, read_service(where.get(SERVICE_KEY), where["config_path"]), mode, current_settings())


def make_router(
    config: ServiceConfig,
    shown: TerminalSettings,
    log: Callable[[str], None] = ignore_log,
    http: ProviderClient | None = None,
) -> StaticRouter:
    """What chooses among them; a log hears of everything that callers are warned of."""
    return StaticRouter(config.providers, config.routing, shown.environ, http=http, blobs=open_blobs(shown), log=log)


def make_tool_application(name: str, where: Mapping[str, Any]) -> Application:
    """What these options describe, and the pack of ours that has a tool of this name."""
    assembly = make_application(where, mode=SHELL_SOURCE)
    if name in assembly.registry:
        return assembly
    ##= man/spec/service.md#calls
    ##% A tool MUST answer the same over MCP, over `/api/mcp` and by `duvet call`, which also finds the tools of packs
    ##% that are off.
    unnamed = [pack for pack in _packs_with(name) if pack not in assembly.service.config.tool_packs]
    return (
        make_application({**where, PACKS_KEY: (*where[PACKS_KEY], *unnamed)}, mode=SHELL_SOURCE)
        if unnamed
        else assembly
    )


def _packs_with(name: str) -> list[str]:
    from duvet.tools.packs import BUILT_IN_PACKS, enable_packs

    return [pack.name for pack in enable_packs(tuple(BUILT_IN_PACKS)) if name in pack.every_name()]


def make_server_facts(assembly: Application) -> ServerFacts:
    """Who serves, how, and with what."""
    config, faults = assembly.service.config, assembly.offered.faults
    return ServerFacts(
        name=assembly.rule.name,
        version=assembly.rule.version,
        mode=assembly.mode,
        packs=[pack.name for pack in assembly.registry.packs],
        tools=len(list(assembly.registry)),
        unloaded=assembly.choice.unloaded,
        providers=[name for name, one in config.providers.items() if one.enabled],
        workflows=list(config.workflows),
        faulty=[name for name, found in faults.items() if any(not one.is_warning for one in found)],
    )


def load_knowledge_settings(
    service: Service, config_path: str | None, shown: TerminalSettings
) -> Callable[[], KnowledgeSettings]:
    """Where it is kept; the variables beside the configuration are looked at when somebody asks."""
    root, config = os.getcwd(), service.config
    files = tuple(path for path in (service.path, config_path, shown.config_path, CONFIG_PATH) if path)
    return lambda: KnowledgeSettings(
        root, config.ingest.rule(shown.environ), config.store.rule(), config.search.rule(), files
    )


async def close_knowledge(knowledge: Knowledge) -> None:
    """Let go of it, without waiting for an answer that nobody takes any more."""
    from anyio import to_thread

    await to_thread.run_sync(knowledge.close, abandon_on_cancel=True)


def get_utc_now() -> datetime:
    return datetime.now(UTC)


def make_maintenance(
    where: Mapping[str, Any],
    shown: TerminalSettings,
    rules: Callable[[], KnowledgeSettings],
    uploads: Callable[[], UploadRule],
) -> Maintenance:
    """That of the project which these options describe, whatever becomes of its folder."""
    return Maintenance(rules, uploads, _opener(where, shown), get_utc_now)


def _opener(where: Mapping[str, Any], shown: TerminalSettings) -> Callable[[Progress], OpenedProject]:
    root = os.getcwd()
    # A server that runs is told of its settings by nobody else.
    how = make_cache_key(root, shown.config_path, sorted(where.items()))

    def opened(progress: Progress) -> OpenedProject:
        cache = Cache(DiskTree(root), shown.environ, kept=wants_cache(shown, root), today=shown.today)
        project = open_project(cache, progress, settings=shown, root=root, **where)

        def read() -> Catalogue:
            require_contents(project)
            return project.catalogue

        return OpenedProject(project, lambda: cache.remembered(CATALOGUE_KEY, Catalogue, how, read))

    return opened


def make_audit_log(rules: Callable[[], KnowledgeSettings], log: ServerLog, *, tells: bool) -> AuditLog:
    """What keeps the account of it, beside the store and, where it is to tell others, in the log."""

    def told(deed: AuditEntry) -> None:
        if not tells and not log.wants(EventLevel.INFO):
            return
        ##= man/spec/gateway.md#audit
        ##% For each call of a tool that changes something, the server MUST write time, tool, outcome and caller to
        ##% `audit.jsonl` and the log before it answers, or log a delay of more than 10 seconds.
        log.note(
            "audit",
            tool=deed.tool,
            outcome=deed.outcome,
            who=deed.who,
            face=deed.face,
            request=deed.request,
            arguments=deed.arguments,
        )

    def failed(reason: str) -> None:
        log.tell(EventLevel.ERROR, "the account of a change could not be written", reason=reason)

    return AuditLog(lambda: find_store_paths(rules()), get_utc_now, told, failed)
