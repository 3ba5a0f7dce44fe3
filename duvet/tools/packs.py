"""The packs that are enabled, and the registry of their tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from duvet.errors import QueryError
from duvet.model import Problem
from duvet.rules import CONFIG_BAD_VALUE
from duvet.text import quote_text
from duvet.tools.introspect import INTROSPECT
from duvet.tools.knowledge.pack import KNOWLEDGE
from duvet.tools.pages import PAGES
from duvet.tools.plugins import PluginPacks, UnloadedPack
from duvet.tools.tool import EnabledPack, ErrorCode, Pack, Tool, ToolError
from duvet.tools.trace.pack import TRACE
from duvet.trace.names import suggest_nearest

if TYPE_CHECKING:
    from duvet.config.document import DataDocument


class Registry:
    """The tools that are switched on, in a lasting order."""

    def __init__(self, chosen: Sequence[EnabledPack] = (EnabledPack(TRACE),)) -> None:
        """QueryError where two tools have one name."""
        self.every_pack = chosen
        """Also those that are not shown to everybody."""
        self.packs = [pack for pack in chosen if pack.shown]
        self._tools: dict[str, Tool] = {}
        self._packs: dict[str, EnabledPack] = {}
        self._names: dict[str, str] = {}
        for pack in chosen:
            for tool in pack.tools():
                self._add(tool, pack)

    def _add(self, tool: Tool, pack: EnabledPack) -> None:
        for name in (tool.name, *tool.aliases):
            if name in self._names:
                taken = self._packs[self._names[name]].name
                raise QueryError(f"two tools are called {name}, in the packs {taken} and {pack.name}")
            self._names[name] = tool.name
            self._tools[tool.name], self._packs[tool.name] = tool, pack

    def __iter__(self) -> Iterator[Tool]:
        """Those that whoever asks what there is is told of."""
        return (tool for tool in self.usable() if self.pack_of(tool).shown)

    def every(self) -> Iterator[Tool]:
        """All that there are, also those that are withheld."""
        return iter(self._tools.values())

    def usable(self) -> Iterator[Tool]:
        """All that can be called."""
        return (tool for tool in self.every() if tool.withheld is None)

    def with_shown(self, is_worthwhile: Callable[[str], bool]) -> Iterator[Tool]:
        """Those, and the tools of packs that the project decides about, by their names."""
        ##= man/spec/pages.md#tools
        ##% The server MUST show the pack `pages` to MCP clients when the project has pages or the pack is requested,
        ##% and always on `/api/mcp`.
        more = {pack.name for pack in self.every_pack if pack.shown is None and is_worthwhile(pack.name)}
        return (tool for tool in self.usable() if self.pack_of(tool).shown or self.pack_of(tool).name in more)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def require(self, name: str) -> Tool:
        """The tool of that name; ToolError where there is none."""
        if name not in self._names:
            raise ToolError(
                ErrorCode.NOT_FOUND, f"Unknown tool: {quote_text(name)}", suggest_nearest(name, tuple(self._tools))
            )
        return self._tools[self._names[name]]

    def pack_of(self, tool: Tool) -> EnabledPack:
        """The pack that a tool is in."""
        return self._packs[tool.name]


_MOST = 20


class UnknownName(Struct, frozen=True):
    """A pack or a tool that is named and isn't there."""

    message: str
    hint: str
    keys: tuple[str, ...] = ()
    """What leads to the name in the table of packs; nothing where it stands elsewhere."""


def make_unknown_pack(name: str, known: Sequence[str], keys: tuple[str, ...]) -> UnknownName:
    """There is no such pack."""
    return UnknownName(f"there is no pack {quote_text(name)}", _hint(name, known), keys)


def make_unknown_tools(pack: str, switched: Iterable[str], known: Sequence[str]) -> Iterator[UnknownName]:
    """Those that are switched, and that the pack doesn't have."""
    for name in switched:
        if name not in known:
            yield UnknownName(
                f"the pack {pack} has no tool {quote_text(name)}", _hint(name, known), (pack, "tools", name)
            )


def _hint(name: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    every = f"there are {', '.join(known[:_MOST])}{more}" if known else "there are none"
    return suggest_nearest(name, known) or every


def make_unknown_name_problems(found: Iterable[UnknownName], document: DataDocument | None) -> tuple[Problem, ...]:
    """Where they stand in the configuration, as far as they do."""
    from duvet.config.check import DocumentLocation

    return tuple(
        DocumentLocation(document, {}, keys=("toolPacks", *one.keys), is_private=True).problem(
            CONFIG_BAD_VALUE, one.message, one.hint, at_key=True
        )
        if one.keys and document
        else Problem("", one.message, hint=one.hint)
        for one in found
    )


BUILT_IN_PACKS = {pack.name: pack for pack in (TRACE, PAGES, KNOWLEDGE, INTROSPECT)}
DEFAULT_PACKS = ("trace",)
_ALWAYS = (PAGES.name,)
"""Packs that can be called whether they are switched on or not."""


class PackSettings(Struct, frozen=True, kw_only=True):
    """What is wanted of one pack."""

    enabled: bool = True
    writes: bool = True
    switches: Mapping[str, bool] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class ToolChoice(Struct, frozen=True):
    """The tools that are switched on, the packs that could not be, and names that mean nothing."""

    registry: Registry
    unloaded: Sequence[UnloadedPack] = ()
    misnamed: Sequence[UnknownName] = ()


_UNSAID = PackSettings()


def choose_packs(
    on: Sequence[str], wishes: Mapping[str, PackSettings], found: PluginPacks, own: Sequence[Pack] = ()
) -> ToolChoice:
    """The packs of these names and those that are wished for; further packs are on unless somebody says otherwise."""
    ##= man/spec/service.md#packs
    ##% The pack `trace` and installed packs MUST be on by default, and `introspect` and `knowledge` MUST be off by
    ##% default.
    guests = {pack.name: pack for pack in found.packs}
    mine = BUILT_IN_PACKS | {pack.name: pack for pack in own}
    packs = {**mine, **guests}
    chosen: list[EnabledPack] = []
    refused: list[UnloadedPack] = list(found.unloaded)
    wanted = sorted([*on, *_ALWAYS, *(pack.name for pack in own), *guests, *wishes], key=guests.__contains__)
    for name in dict.fromkeys(wanted):
        wish = wishes.get(name, _UNSAID)
        if name not in packs or not (wish.enabled or name in _ALWAYS):
            continue
        shown = _shown(name, on, wishes)
        one = EnabledPack(packs[name], wish.writes, wish.switches, wish.settings, shown, is_guest=name not in mine)
        ##= man/spec/service.md#packs
        ##% The server MUST leave out an installed pack that cannot be loaded, takes too long, is malformed or repeats
        ##% the name of a tool, say so, and serve the others.
        reason = _refusal(chosen, one) if one.is_guest else ""
        if reason:
            refused.append(UnloadedPack(name, reason))
        else:
            chosen.append(one)
    return ToolChoice(
        Registry(chosen), refused, list(_misnamed(on, wishes, packs, {one.name for one in found.unloaded}))
    )


def _shown(name: str, on: Sequence[str], wishes: Mapping[str, PackSettings]) -> bool | None:
    """Whether a pack counts as switched on; None where nobody says."""
    if name in wishes:
        return wishes[name].enabled
    return True if name in on or name not in _ALWAYS else None


def enable_packs(names: Sequence[str]) -> Sequence[EnabledPack]:
    """Packs of ours by their names."""
    return [EnabledPack(BUILT_IN_PACKS[name]) for name in names]


def _misnamed(
    on: Sequence[str], wishes: Mapping[str, PackSettings], packs: Mapping[str, Pack], unloaded: Collection[str]
) -> Iterator[UnknownName]:
    """The names that mean nothing, each once."""
    ##= man/spec/service.md#configuration
    ##% duvet MUST refuse unknown names of providers, packs and tools, and names of one table that differ only in case
    ##% or in `-` and `_`.
    for name in dict.fromkeys([*wishes, *on]):
        wish = wishes.get(name)
        if name in packs and wish is not None:
            yield from make_unknown_tools(
                name, wish.switches, EnabledPack(packs[name], settings=wish.settings).every_name()
            )
        elif name not in packs and name not in unloaded:
            yield make_unknown_pack(name, list(packs), () if wish is None else (name,))


def _refusal(chosen: Sequence[EnabledPack], one: EnabledPack) -> str:
    """Why a further pack can't join the others."""
    try:
        Registry([*chosen, one])
    except QueryError as error:
        return error.message
    return ""
