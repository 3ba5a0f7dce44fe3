"""The services of a process, its tools, and the tokens and scopes of its callers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cached_property, partial
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.service import ORIGIN_DEFAULTS, SERVICE_FILE_NAMES, Service, load_service
from duvet.config.service_tables import LogFormat, PackSection, PagesSection, ServerSection
from duvet.config.settings import CONFIG_PATH, PagesTable
from duvet.errors import DuvetError, ProblemsError, QueryError
from duvet.knowledge.index import Knowledge, Maintenance
from duvet.model import Problem, Severity
from duvet.server.log import EventLevel, ServerLog
from duvet.store.location import KnowledgeSettings, find_store_paths
from duvet.tools import arguments, call_context, packs, plugins, tool
from duvet.tools.tool import SHELL_SOURCE, EnabledPack, Pack, Scope, Tool
from duvet.tree.cache import BlobStore, DiskCache, make_cache_key
from duvet.tree.files import DiskTree, Tree

if TYPE_CHECKING:
    from duvet.knowledge.feedback import AuditEntry
    from duvet.llm.endpoint import ProviderClient
    from duvet.llm.router import StaticRouter
    from duvet.project.project import Project
    from duvet.server.live_project import LiveProject
    from duvet.server.reload import ConfigReloader
    from duvet.tools.context import ProjectSnapshot
    from duvet.tools.dispatcher import (
        AuditLog,
        CallObserver,
        CallRecord,
        CloseCallback,
        ToolDispatcher,
        ToolEnvironment,
    )
    from duvet.tools.gateway import GatewayConnection
    from duvet.trace.catalogue import Catalogue
    from duvet.workflows.check import WorkflowFault
    from duvet.workflows.pack import WorkflowTools
    from duvet.workflows.recipes import RecipeCatalogue
    from duvet.workflows.workflow import Workflow

_READER_NAMES = ("DUVET_READER_TOKEN", "KM_READER_TOKEN")
_ADMIN_NAMES = ("DUVET_ADMIN_TOKEN", "KM_ADMIN_TOKEN")
_VISIBLE = re.compile(r"[\x21-\x7e]+")


READER = call_context.Caller(
    holder="reader", scopes=frozenset({Scope.READER})
)  # Also any caller if no tokens are configured.
ADMIN = call_context.Caller(holder="admin")
AccessTokens = tuple[tuple[bytes, call_context.Caller], ...]  # The digests of the known tokens, with their holders.


def find_holder(tokens: AccessTokens, token: str) -> call_context.Caller | None:
    digest = _digest(token)
    holders = [holder for known, holder in tokens if compare_digest(known, digest)]
    return holders[0] if holders else None


def read_tokens(environ: Mapping[str, str]) -> AccessTokens:
    reader, admin = read_raw_tokens(environ)
    return tuple((_digest(token), holder) for holder, token in ((ADMIN, admin), (READER, reader)) if token)


def read_raw_tokens(environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    tokens: list[str | None] = []
    for names in (_READER_NAMES, _ADMIN_NAMES):
        values = {name: environ[name] for name in names if name in environ}
        ##= man/spec/mcp.md#http
        ##% duvet MUST refuse to start if a token is empty, or if its two environment variables, such as
        ##% `DUVET_READER_TOKEN` and `KM_READER_TOKEN`, have different values.
        for name, value in values.items():
            if not _VISIBLE.fullmatch(value):
                fault = "contains characters other than visible ASCII" if value else "is empty"
                raise QueryError(f"{name} {fault}", hint="set it to one or more visible ASCII characters, or unset it")
        if len(set(values.values())) > 1:
            raise QueryError(f"{names[0]} and {names[1]} have different values", hint="unset one of them")
        tokens += [next(iter(values.values()), None)]
    reader, admin = tokens
    if admin and admin == reader:
        raise QueryError(
            "the tokens of readers and of maintainers are the same",
            hint="use two different tokens; otherwise every reader has maintainer access",
        )
    return reader, admin


def _digest(token: str) -> bytes:
    return sha256(token.encode("latin-1", "replace")).digest()


Answer = TypeVar("Answer")

HTTP_MODE = "http"
_TOOLS_TEXTS = {"title": "duvet", "description": "Tools for agents"}
_NOTES_TEXTS = {"title": "duvet: notes", "description": "Markdown notes that link to each other"}


class ApplicationSettings(Struct, frozen=True, kw_only=True):
    environ: Mapping[str, str]
    project_options: Mapping[str, Any]
    config_path: str | None = None  # The project's configuration file, if a global option names it.
    service_path: str | None = None
    # The user's folder, relative to the project; None to read only configurations that an option or a variable names.
    folder: str | None = ""
    packs: tuple[str, ...] = ()  # Packs to enable in addition to the configured ones.
    has_only_pages: bool = False  # Whether to serve the Markdown files of the folder, and no other pack by default.
    mode: str = ""  # The transport; empty means as configured.
    is_verbose: bool = False
    # Opens the project with a cache and progress; raises an error if it has no configuration.
    open_project: Callable[..., Project]
    has_cache: Callable[[str], bool]
    blobs: BlobStore
    spending_folder: str  # The folder for what the models of this project cost; empty if the user has no place for it.
    today: Callable[[], date]
    write_line: Callable[[str], None]
    is_writable: Callable[[], bool]  # Returns whether the log accepts a line without blocking.

    @property
    def project_config_path(self) -> str | None:
        path: str | None = self.project_options["config_path"]
        return path or self.config_path

    def read_service(self, tree: Tree) -> Service:
        service = load_service(tree, self.environ, self.service_path, self.project_config_path, self.folder)
        if not self.has_only_pages:
            return service if has_trace(service) else _replace_default_texts(service, _TOOLS_TEXTS)
        # The folder of notes may contain configurations. Only an option or a variable can make duvet read them.
        names = {
            "--service-config": SERVICE_FILE_NAMES if service.origin == ORIGIN_DEFAULTS else (),
            "--config": () if self.project_config_path else (CONFIG_PATH,),
        }
        ignored = [
            Problem(
                "",
                f"{path} is ignored, because it is in the folder that --pages serves",
                hint=f"if you trust this configuration, name it with {option}",
                severity=Severity.WARNING,
            )
            for option, paths in names.items()
            for path in filter(tree.exists, paths)
        ]
        return replace(_limit_to_pages(service), ignored=tuple(ignored))


def has_trace(service: Service) -> bool:
    pack = service.config.tool_packs.get(packs.TRACE.name)
    return pack is None or pack.enabled


def _replace_default_texts(service: Service, texts: Mapping[str, str]) -> Service:
    ##= man/spec/service.md#packs
    ##% If the configuration disables the pack `trace`, the server MUST NOT offer the prompts and resources of the
    ##% pack, or mention them in its instructions.
    default, server = ServerSection(), service.config.server
    changes = {name: text for name, text in texts.items() if getattr(server, name) == getattr(default, name)}
    return replace(service, config=replace(service.config, server=replace(server, **changes)))


def _limit_to_pages(service: Service) -> Service:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages FOLDER`, `duvet mcp` MUST serve the Markdown files in this folder as pages, without a project.
    service = _replace_default_texts(service, _NOTES_TEXTS)
    config = service.config
    pages = config.pages or (PagesSection(pattern="**/*.md"),)
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, the server MUST NOT offer tools, prompts or resources for requirements.
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST look for the files of packs in the folder of the service configuration.
    folder = os.path.dirname(service.path)
    tool_packs = {
        name: replace(pack, path=os.path.normpath(os.path.join(folder, pack.path))) if pack.path and folder else pack
        for name, pack in config.tool_packs.items()
    }
    tool_packs[packs.TRACE.name] = PackSection(enabled=False)
    config = replace(config, pages=pages, tool_packs=tool_packs)
    return replace(service, config=config, packs=config.packs((packs.PAGES.name,)))


def is_forwarded(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(tool.GATEWAY_VARIABLE, "").strip())


class Application:
    def __init__(self, settings: ApplicationSettings, service: Service) -> None:
        self.settings = settings
        self.service = service
        self.mode = settings.mode or service.config.server.mode.value
        self.gateway_connection: GatewayConnection | None = None
        self.dispatcher: ToolDispatcher | None = None  # Editing the configuration replaces its tools.
        ##= man/spec/gateway.md#forwarding
        ##% With `KM_GATEWAY_URL`, `duvet call` and `duvet mcp` on standard input and output MUST forward calls of
        ##% `km-` tools, except `km-help`, to the gateway.
        # An HTTP server answers from its own index: otherwise two servers could forward calls to each other forever.
        if is_forwarded(settings.environ) and self.mode != HTTP_MODE:
            from duvet.tools.gateway import GatewayConnection, parse_gateway

            gateway = parse_gateway(settings.environ[tool.GATEWAY_VARIABLE].strip(), *read_raw_tokens(settings.environ))
            self.gateway_connection = GatewayConnection(gateway, service.config.server.tool_timeout)

    @cached_property
    def scopes(self) -> frozenset[Scope]:
        ##= man/spec/gateway.md#access
        ##% A caller over standard input and output or in the shell MUST have all scopes, unless only a reader's token
        ##% is set.
        # A gateway checks scopes itself.
        reader, admin = read_raw_tokens(self.settings.environ if self.gateway_connection is None else {})
        return (READER if reader and not admin else ADMIN).scopes

    @cached_property
    def root(self) -> str:
        return os.getcwd()

    @cached_property
    def tools(self) -> ToolSelection:
        return ToolSelection(self.settings, self.service, self.gateway_connection)

    @cached_property
    def instructions(self) -> str:
        from duvet.server.messages import load_instructions, render_instructions

        tokens = None if self.gateway_connection is None else self.gateway_connection.gateway.tokens
        pack_files = (plugins.stamp_file(pack.path) for pack in self.service.config.tool_packs.values() if pack.path)
        stamps = (*plugins.find_entry_point_stamps(sys.path), *pack_files)
        key = make_cache_key((self.service.packs, self.service.config, self.settings.packs, stamps, tokens))
        return load_instructions(
            key, lambda: render_instructions(self.service.config.server, self.tools.registry), self.settings.blobs
        )

    @cached_property
    def live(self) -> LiveProject:
        from duvet.server.live_project import ChangeDetector, LiveProject, ProjectReader, open_descriptor

        notes = self.service.config.pages or None
        reader = ProjectReader(
            lambda: self._open_project(notes),
            self.reloader.page_size,
            read=self._read_catalogue,
            today=self.settings.today,
            detector=ChangeDetector(open_descriptor(self.settings.environ)),
        )
        return LiveProject(reader)

    def _open_project(self, notes: tuple[PagesTable, ...] | None = None) -> Project:
        settings, root = self.settings, self.root
        cache = DiskCache(DiskTree(root), settings.environ, kept=settings.has_cache(root), today=settings.today())
        return settings.open_project(cache, None, root=root, notes=notes)

    def _read_catalogue(self, project: Project) -> Catalogue:
        from duvet.trace.catalogue import CATALOGUE_KEY, Catalogue

        def compute() -> Catalogue:
            if has_trace(self.service):
                project.require_contents()
            return project.catalogue

        assert isinstance(project.memory, DiskCache)
        return project.memory.compute(CATALOGUE_KEY, Catalogue, self._catalogue_key, compute, whole_run=True)

    @property
    def _catalogue_key(self) -> str:
        return make_cache_key((self.root, self.settings.config_path, sorted(self.settings.project_options.items())))

    @cached_property
    def reloader(self) -> ConfigReloader:
        from duvet.server.reload import ConfigReloader

        return ConfigReloader(self)

    def with_service(self, service: Service) -> Application:
        other = Application(self.settings, service)
        other.configure_log(self.log)
        other.log, other.http, other.dispatcher = self.log, self.http, self.dispatcher
        if other.gateway_connection is not None and self.gateway_connection is not None:
            self.gateway_connection.seconds = other.gateway_connection.seconds
            other.gateway_connection = self.gateway_connection
        other.knowledge = self.knowledge
        self.knowledge.rules = other.knowledge_settings
        return other

    @cached_property
    def router(self) -> StaticRouter:
        from duvet.llm.router import StaticRouter

        config = self.service.config
        return StaticRouter(
            config.providers,
            config.routing,
            self.settings.environ,
            http=self.http,
            blobs=self.settings.blobs,
            spending_folder=self.settings.spending_folder,
            log=lambda words: self.log.write_event(EventLevel.WARN, words),
            report=self.log.record_model_call,
        )

    @cached_property
    def http(self) -> ProviderClient:
        from duvet.llm.endpoint import ProviderClient

        return ProviderClient()

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.knowledge_settings)

    @property
    def knowledge_settings(self) -> Callable[[], KnowledgeSettings]:
        service, settings, root = self.service, self.settings, self.root
        paths = (service.path, settings.project_options["config_path"], settings.config_path, CONFIG_PATH)
        # An upload must not replace code that the server loads.
        packs = (pack.path for pack in service.config.tool_packs.values())
        reserved = tuple(path for path in (*paths, *packs) if path)
        return lambda: KnowledgeSettings(
            root,
            service.config.ingest.rule(settings.environ, service.config.search.model),
            service.config.store,
            service.config.search,
            reserved,
        )

    @cached_property
    def recipes(self) -> RecipeCatalogue:
        from duvet.workflows.recipes import RecipeCatalogue

        return RecipeCatalogue(DiskTree(self.root))

    @property
    def maintenance(self) -> Maintenance:
        from duvet.knowledge.ingest.process import IngestSource

        settings = self.settings

        return Maintenance(
            lambda: self.knowledge.rules(),
            lambda: self.service.config.uploads.rule(settings.environ),
            lambda: IngestSource(
                options=self._open_project().options,
                today=settings.today(),
                has_cache=settings.has_cache(self.root),
                catalogue_key=self._catalogue_key,
            ),
            settings.environ,
            partial(datetime.now, UTC),
        )

    def require_variables(self) -> None:
        self.service.config.ingest.rule(self.settings.environ)
        self.service.config.uploads.rule(self.settings.environ)

    @cached_property
    def log(self) -> ServerLog:
        log = ServerLog(self.settings.write_line, is_read=self.settings.is_writable)
        self.configure_log(log)
        return log

    @property
    def logs_json(self) -> bool:
        return self.service.config.server.log_format is LogFormat.JSON

    def configure_log(self, log: ServerLog) -> None:
        server = self.service.config.server
        # Callers in a shell see the results anyway.
        level = EventLevel[server.log_level.value.upper()]
        if self.mode == SHELL_SOURCE and level > EventLevel.DEBUG:
            level = EventLevel.WARN
        if self.settings.is_verbose:
            level = min(level, EventLevel.INFO)
        log.configure(level, as_json=self.logs_json, is_command=self.mode == SHELL_SOURCE)

    def make_dispatcher(self, observers: Sequence[CallObserver], **services: object) -> ToolDispatcher:
        from duvet.tools.dispatcher import ToolDispatcher

        # A command asks few questions, usually none of them about the trace.
        readings = _LazyReadings(self) if self.mode == SHELL_SOURCE else self.live
        self.dispatcher = ToolDispatcher(self.tools.registry, readings, self.make_environment(observers, **services))
        return self.dispatcher

    def make_environment(self, observers: Sequence[CallObserver], **services: object) -> ToolEnvironment:
        """Also log problems of packs, workflows and the configuration."""
        from duvet.tools.dispatcher import AuditLog, ToolEnvironment

        self.log_unloaded_tools()
        warnings = self.service.warnings if self.mode != SHELL_SOURCE else ()
        for problem in (*self.service.ignored, *warnings):
            self.log.write_event(EventLevel.WARN, problem.message, hint=problem.hint)
        makers: dict[str, Callable[[], Any]] = {
            call_context.FACTS_SERVICE: self._make_facts,
            tool.MODELS_SERVICE: lambda: self.router,
            tool.RUNS_SERVICE: lambda: self.log.record_run,
        }
        closers: list[CloseCallback] = [self._close_http]
        if self.gateway_connection is not None:
            closers.append(self.gateway_connection.aclose)
        elif any(pack.name == packs.KNOWLEDGE.name for pack in self.tools.registry.every_pack):
            closers.append(partial(call_context.run_blocking, self.knowledge.close, abandon=True))
            makers |= {
                tool.KNOWLEDGE_SERVICE: lambda: self.knowledge,
                tool.RECIPES_SERVICE: lambda: self.recipes,
                tool.MAINTENANCE_SERVICE: lambda: self.maintenance,
            }
        return ToolEnvironment(
            services=_Services(makers, services),
            observers=observers,
            record_change=partial(self._write_audit, AuditLog),
            measures=partial(self.log.wants, EventLevel.INFO),
            time_limit=self.service.config.server.tool_timeout,
            is_relevant=self.tools.is_relevant,
            closers=closers,
            report_exception=self.log.record_exception,
        )

    def log_unloaded_tools(self) -> None:
        for pack in self.tools.choice.unloaded:
            self.log.write_event(EventLevel.WARN, "a pack was not loaded", pack=pack.name, reason=pack.reason)
            self.log.record_traceback(pack.traceback)
        for name, faults in self.tools.faults.items():
            for fault in faults:
                event = "a workflow has a problem" if fault.is_warning else "a workflow was not loaded"
                self.log.write_event(EventLevel.WARN, event, workflow=name, at=fault.path, reason=fault.message)

    def _make_facts(self) -> call_context.ServerFacts:
        config, tools = self.service.config, self.tools
        providers = tuple(name for name, provider in config.providers.items() if provider.enabled)
        info = call_context.ServerInfo(
            name=self.service.config.server.name,
            version=self.service.config.server.version,
            mode=self.mode,
            enabled_tool_packs=tuple(pack.name for pack in tools.registry.packs),
            tool_count=len(list(tools.registry)),
            workflows=tuple(config.workflows),
            providers=providers,
            provider_count=len(providers),
        )
        faulty = [name for name, faults in tools.faults.items() if any(not fault.is_warning for fault in faults)]
        return call_context.ServerFacts(info=info, unloaded=tools.choice.unloaded, faulty=faulty)

    async def _close_http(self) -> None:
        if "http" in vars(self):
            await self.http.aclose()

    async def _write_audit(self, audit: type[AuditLog], call: CallRecord) -> None:
        if call.pack != packs.KNOWLEDGE.name or self.gateway_connection is not None:
            return

        def log_entry(entry: AuditEntry) -> None:
            if self.mode == SHELL_SOURCE and not self.log.wants(EventLevel.INFO):
                return
            names = ("tool", "outcome", "who", "face", "request", "arguments")
            self.log.write_line(EventLevel.INFO, "audit", **{name: getattr(entry, name) for name in names})

        await audit(
            lambda: find_store_paths(self.knowledge.rules()),
            partial(datetime.now, UTC),
            log_entry,
            lambda reason: self.log.write_event(EventLevel.ERROR, "the audit log could not be written", reason=reason),
        ).record_call(call)


class _Services(dict[str, Any]):
    def __init__(self, makers: Mapping[str, Callable[[], Any]], given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self._makers = makers  # Of the other services, on each access.

    def __missing__(self, name: str) -> Any:
        return self._makers[name]()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name in self._makers else default


class _LazyReadings:
    def __init__(self, application: Application) -> None:
        self._application = application

    async def context(self) -> ProjectSnapshot:
        return await self._application.live.context()

    async def ask(self, question: Callable[[ProjectSnapshot], Answer]) -> Answer:
        return await self._application.live.ask(question)

    async def catch_up(self) -> None:
        if "live" in vars(self._application):
            await self._application.live.catch_up()


class ToolSelection:
    def __init__(self, settings: ApplicationSettings, service: Service, connection: GatewayConnection | None) -> None:
        self._settings = settings
        self._service = service
        self._packs = (*service.packs, *settings.packs)
        self._connection = connection

    @cached_property
    def choice(self) -> packs.ToolChoice:
        return self._require_known(self._all)

    @cached_property
    def _all(self) -> packs.ToolChoice:
        return self._choose([self.offered.pack] if self._service.config.workflows else [])

    @property
    def registry(self) -> packs.Registry:
        return self.choice.registry

    @property
    def own_registry(self) -> packs.Registry:
        names = [name for name in self._packs if name in packs.BUILT_IN_PACKS]
        settings = {name: one for name, one in self._service.config.tool_packs.items() if name in packs.BUILT_IN_PACKS}
        return self._require_known(packs.choose_packs(names, settings, plugins.PluginPacks(), self._forwarded)).registry

    @cached_property
    def offered(self) -> WorkflowTools:
        from duvet.workflows.pack import make_workflow_tools

        others = list(self._choose([]).registry.list_all()) if self.workflows else []
        return make_workflow_tools(self.workflows, others)

    @property
    def faults(self) -> Mapping[str, list[WorkflowFault]]:
        return self.offered.faults if self._service.config.workflows else {}

    @cached_property
    def workflows(self) -> Mapping[str, Workflow]:
        sections = self._service.config.workflows
        if not sections:
            # Most calls don't need the module.
            return {}
        from duvet.workflows.workflow import make_configured_workflow

        return {name: make_configured_workflow(name, section) for name, section in sections.items()}

    def _choose(self, own: Sequence[Pack]) -> packs.ToolChoice:
        # Workflows call other tools, so choose those first, without the pack of workflows.
        later = () if own else (packs.WORKFLOWS_PACK,)
        names = [name for name in self._packs if name not in later]
        settings = {name: one for name, one in self._service.config.tool_packs.items() if name not in later}
        return packs.choose_packs(names, settings, self._plugins, [*self._forwarded, *own])

    @property
    def _forwarded(self) -> Sequence[Pack]:
        return () if self._connection is None else (self._connection.make_pack(),)

    @cached_property
    def _plugins(self) -> plugins.PluginPacks:
        sections = self._service.config.tool_packs
        files = [
            plugins.PackFile(name, os.path.join(self._pack_folder, pack.path))
            for name, pack in sections.items()
            if pack.path and pack.enabled and not self._find_path_fault(name, pack)
        ]
        settings = {name: pack.settings for name, pack in sections.items()}
        return plugins.load_plugins(
            [*files, *plugins.find_plugins()], [*packs.BUILT_IN_PACKS, packs.WORKFLOWS_PACK], settings
        )

    @property
    def _pack_folder(self) -> str:
        return (self._settings.has_only_pages and os.path.dirname(self._service.path)) or os.getcwd()

    def _find_path_fault(self, name: str, pack: PackSection) -> str:
        if pack.path is None:
            return ""
        ##= man/spec/service.md#packs
        ##% duvet MUST load the file of a pack only from inside the project or, with `--pages`, from inside the folder
        ##% of the service configuration.
        if not arguments.is_inside_project(self._pack_folder, pack.path):
            place = "the folder of the configuration" if self._settings.has_only_pages else "the project"
            return f"{pack.path} is not a file inside {place}"
        if not os.path.isfile(os.path.join(self._pack_folder, pack.path)):
            return f"{pack.path} does not exist"
        built_in = name in packs.BUILT_IN_PACKS or name == packs.WORKFLOWS_PACK
        return f"{name} is a built-in pack; choose another name for the pack in {pack.path}" if built_in else ""

    def list_unknown_names(self, choice: packs.ToolChoice | None = None) -> tuple[Problem, ...]:
        choice = choice or self._all
        sections = self._service.config.tool_packs
        faults = {name: fault for name, pack in sections.items() if (fault := self._find_path_fault(name, pack))}
        unknown = [packs.UnknownName(fault, "", (name, "path")) for name, fault in faults.items()]
        return packs.make_unknown_name_problems([*unknown, *choice.misnamed], self._service.document)

    def _require_known(self, choice: packs.ToolChoice) -> packs.ToolChoice:
        if problems := self.list_unknown_names(choice):
            raise ProblemsError(problems)
        return choice

    @cached_property
    def shown_tools(self) -> Sequence[Tool]:
        return list(self.registry.list_shown(self.is_relevant))

    @property
    def shown_packs(self) -> Sequence[EnabledPack]:
        names = {self.registry.pack_of(tool).name for tool in self.shown_tools}
        return [pack for pack in self.registry.every_pack if pack.shown or pack.name in names]

    def is_relevant(self, pack: str) -> bool:
        if pack != packs.PAGES.name:
            return False
        from duvet.knowledge.pages.files import load_page_patterns

        # This doesn't compute the trace.
        with suppress(DuvetError):
            project = self._settings.open_project(None, None, notes=self._service.config.pages or None)
            return bool(load_page_patterns(project).files(project.tree).prefixes)
        return False
