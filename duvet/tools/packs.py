"""duvet's packs, the enabled packs, and the registry of their tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.config import service_tables, settings
from duvet.errors import QueryError
from duvet.model import RESOURCE_SCHEME, Problem
from duvet.rules import CONFIG_BAD_VALUE
from duvet.templates import prompt_names
from duvet.text import join_names, quote_text, suggest_nearest
from duvet.tools.plugins import PluginPacks, UnloadedPack, add_prefix
from duvet.tools.tool import EnabledPack, ErrorCode, Pack, PackPrompt, PackResource, Tool, ToolError, ToolTable

if TYPE_CHECKING:
    from duvet.config.document import DataDocument


class Registry:
    has_trace = True  # False if the configuration disables the pack `trace` with its prompts and resources.

    def __init__(self, chosen: Sequence[EnabledPack] | None = None) -> None:
        # Also packs that are not shown.
        self.every_pack = enable_packs(settings.DEFAULT_PACKS) if chosen is None else chosen
        self.packs = [pack for pack in self.every_pack if pack.shown]
        self._entries: dict[str, tuple[Tool | None, EnabledPack]] = {}
        for pack in self.every_pack:
            for name, tool in pack.list_names():
                if name in self._entries:
                    packs = f"the packs {self._entries[name][1].name} and {pack.name}"
                    raise QueryError(f"two tools have the name {name}, in {packs}")
                self._entries[name] = tool, pack
        self.prompts  # noqa: B018 finds clashes now

    @property
    def has_only_pages(self) -> bool:
        names = {pack.name for pack in self.packs}
        return "pages" in names and not names & {"trace", "knowledge"}

    @cached_property
    def resources(self) -> Mapping[str, tuple[PackResource, EnabledPack]]:
        return {
            f"{RESOURCE_SCHEME}/packs/{pack.name}/{one.tool.name}": (one, pack)
            for pack in self.packs
            for one in pack.pack.resources
        }

    @cached_property
    def prompts(self) -> Mapping[str, tuple[PackPrompt, EnabledPack]]:
        found: dict[str, tuple[PackPrompt, EnabledPack]] = {}
        for pack in self.packs:
            for one in pack.pack.prompts:
                name = one.tool.name
                if name in found or name in prompt_names():
                    other = f"the pack {found[name][1].name}" if name in found else "duvet"
                    raise QueryError(f"{other} and the pack {pack.name} both have a prompt {name}")
                found[name] = one, pack
        return found

    def __iter__(self) -> Iterator[Tool]:
        return self.list_shown(lambda pack: False)

    def list_all(self) -> Iterator[Tool]:
        return (tool for name in self._entries if (tool := self.require(name)).name == name)

    def list_usable(self) -> Iterator[Tool]:
        return (tool for tool in self.list_all() if tool.withheld is None)

    def list_shown(self, is_relevant: Callable[[str], bool]) -> Iterator[Tool]:
        ##= man/spec/pages.md#tools
        ##% The server MUST offer the pack `pages` to MCP clients if the project has pages or the configuration enables
        ##% the pack.
        shown = {
            pack.name for pack in self.every_pack if (is_relevant(pack.name) if pack.shown is None else pack.shown)
        }
        return (tool for tool in self.list_usable() if self.pack_of(tool).name in shown)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def require(self, name: str) -> Tool:
        if name not in self._entries:
            hint = suggest_nearest(name, tuple(tool.name for tool in self.list_all()))
            raise ToolError(ErrorCode.NOT_FOUND, f"Unknown tool: {quote_text(name)}", hint)
        tool, pack = self._entries[name]
        if tool is None:
            assert isinstance(pack.pack.tools, ToolTable)
            tool = pack.pack.tools[name]
            self._entries[name] = tool, pack
        return tool

    def pack_of(self, tool: Tool) -> EnabledPack:
        return self._entries[tool.name][1]


class UnknownName(Struct, frozen=True):
    message: str
    hint: str
    keys: tuple[str, ...] = ()  # Keys in the configuration's table of packs; empty if the name comes from elsewhere.


def make_unknown_name_problems(found: Iterable[UnknownName], document: DataDocument | None) -> tuple[Problem, ...]:
    return tuple(
        document.locate("toolPacks", *one.keys).problem(CONFIG_BAD_VALUE, one.message, one.hint, at_key=True)
        if one.keys and document
        else Problem("", one.message, hint=one.hint)
        for one in found
    )


TRACE = Pack(
    "trace",
    ToolTable(
        "duvet.tools.trace",
        {
            "validate_citation": "citations:validate_citation",
            "search_requirements": "requirements:search_requirements",
            "get_requirement_status": "requirements:get_requirement_status",
            "list_uncited_requirements": "requirements:list_uncited_requirements",
            "list_invalid_citations": "invalid_citations:list_invalid_citations",
            "get_citation_context": "citations:get_citation_context",
            "resolve_spec_id": "sections:resolve_spec_id",
            "get_prioritized_requirements": "requirements:get_prioritized_requirements",
            "validate_citations": "citations:validate_citations",
            "get_requirement": "requirements:get_requirement",
            "get_section": "sections:get_section",
            "suggest_citation": "citations:suggest_citation",
            "coverage_summary": "sections:summarize_coverage",
        },
    ),
)
PAGES = Pack(
    "pages",
    ToolTable(
        "duvet.tools",
        {
            "list_pages": "pages:list_pages",
            "get_page": "pages:get_page",
            "search": "pages:run_page_search",
            "ask": "pages:ask_pages",
            "get_connections": "pages:get_connections",
        },
    ),
    "Markdown notes that link to each other and to requirements",
)
KNOWLEDGE = Pack(
    "knowledge",
    ToolTable(
        "duvet.tools.knowledge",
        {
            "km-help": "reports:show_help",
            "km-search": "search:search_everything",
            "km-graph-node": "graph:show_graph_node",
            "km-graph-subsystem": "graph:show_subsystem",
            "km-graph-search": "graph:search_graph",
            "km-coverage-summary": "reports:report_coverage",
            "km-lifecycle-report": "reports:report_lifecycle",
            "km-ingest-status": "reports:show_ingest_status",
            "km-ingest-trigger": "maintenance:trigger_ingest",
            "km-feedback-submit": "search:submit_feedback",
            "km-backup-trigger": "maintenance:trigger_backup",
            "km-recipe-run": "maintenance:run_recipe_tool",
            "km-upload": "maintenance:upload_file",
            "km-storetext": "maintenance:store_text",
        },
    ),
    "Search, graph and reports over indexed code, tests, documents and requirements",
)
INTROSPECT = Pack(
    "introspect",
    ToolTable(
        "duvet.tools", {"duvet_server_info": "introspect:describe_server", "duvet_health": "introspect:check_health"}
    ),
    "Server information and health",
)
BUILT_IN_PACKS: Mapping[str, Pack] = {pack.name: pack for pack in (TRACE, PAGES, KNOWLEDGE, INTROSPECT)}
WORKFLOWS_PACK = "workflows"  # The pack whose tools are the configured workflows.


class ToolChoice(Struct, frozen=True):
    registry: Registry
    unloaded: Sequence[UnloadedPack] = ()
    misnamed: Sequence[UnknownName] = ()


_DEFAULT_SECTION = service_tables.PackSection()


def choose_packs(
    on: Sequence[str], sections: Mapping[str, service_tables.PackSection], found: PluginPacks, own: Sequence[Pack] = ()
) -> ToolChoice:
    ##= man/spec/service.md#packs
    ##% By default, the server MUST enable the pack `trace` and installed packs, and disable the packs `introspect` and
    ##% `knowledge`.
    guests = {pack.name: pack for pack in found.packs}
    ours = {**BUILT_IN_PACKS, **{pack.name: pack for pack in own}}
    known = {**ours, **guests}
    chosen: list[EnabledPack] = []
    clashes: list[UnknownName] = []
    names = sorted([*on, PAGES.name, *(pack.name for pack in own), *guests, *sections], key=guests.__contains__)
    for name in dict.fromkeys(names):
        section = sections.get(name, _DEFAULT_SECTION)
        if name not in known or not section.enabled:
            continue
        # Pages can always be called. Without a setting, they are listed if the project has some.
        shown = True if name in sections or name in on or name != PAGES.name else None
        pack, switches, is_guest = known[name], section.tools, name not in ours
        if is_guest and section.prefix:
            switches = {section.prefix + tool: enabled for tool, enabled in switches.items()}
            pack = add_prefix(pack, section.prefix)
        writes = section.mode is service_tables.Access.READ_WRITE
        one = EnabledPack(pack, writes, switches, section.settings, shown, is_guest, section.prefix)
        ##= man/spec/service.md#packs
        ##% If two enabled packs have a tool or a prompt with the same name, duvet MUST refuse the configuration and
        ##% suggest a `prefix` for one of the packs.
        try:
            if is_guest:
                Registry([*chosen, one])
            chosen.append(one)
        except QueryError as error:
            hint = f"set `toolPacks.{name}.prefix`, for example to `{name}_`, or disable one of the packs"
            clashes.append(UnknownName(error.message, hint, (name,) if name in sections else ()))
    unknown = _find_unknown_names(on, sections, known, {one.name for one in found.unloaded})
    registry = Registry(chosen)
    registry.has_trace = sections.get(TRACE.name, _DEFAULT_SECTION).enabled
    return ToolChoice(registry, found.unloaded, [*clashes, *unknown])


def enable_packs(names: Sequence[str]) -> Sequence[EnabledPack]:
    return [EnabledPack(BUILT_IN_PACKS[name]) for name in names]


def _find_unknown_names(
    on: Sequence[str],
    sections: Mapping[str, service_tables.PackSection],
    known: Mapping[str, Pack],
    unloaded: Collection[str],
) -> Iterator[UnknownName]:
    for name in dict.fromkeys([*sections, *on]):
        section = sections.get(name)
        if name in known and section is not None:
            tools = EnabledPack(known[name], settings=section.settings).every_name()
            for tool in section.tools:
                if tool not in tools:
                    message = f"the pack {name} has no tool {quote_text(tool)}"
                    yield UnknownName(message, _suggest(tool, tools), (name, "tools", tool))
        elif name not in known and name not in unloaded and not (section and section.path is not None):
            keys = () if section is None else (name,)
            yield UnknownName(f"unknown pack {quote_text(name)}", _suggest(name, tuple(known)), keys)


def _suggest(name: str, known: Sequence[str]) -> str:
    every = f"available: {join_names(known, 20)}" if known else "it has no tools"
    return suggest_nearest(name, known) or every
