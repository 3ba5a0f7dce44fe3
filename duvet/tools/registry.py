"""Which tools there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from duvet.errors import QueryError
from duvet.queries.names import nearest_hint
from duvet.text import quoted
from duvet.tools.chosen import Chosen
from duvet.tools.errors import Code, ToolError
from duvet.tools.tool import Tool
from duvet.tools.trace.pack import TRACE


class Registry:
    """The tools that are switched on, in a lasting order."""

    def __init__(self, chosen: Sequence[Chosen] = (Chosen(TRACE),)) -> None:
        """QueryError where two tools have one name."""
        self.every_pack = chosen
        """Also those that are not shown to everybody."""
        self.packs = [pack for pack in chosen if pack.shown]
        self._tools: dict[str, Tool] = {}
        self._packs: dict[str, Chosen] = {}
        self._names: dict[str, str] = {}
        for pack in chosen:
            for tool in pack.tools():
                self._add(tool, pack)

    def _add(self, tool: Tool, pack: Chosen) -> None:
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
        ##% Clients of the Model Context Protocol MUST be shown the pack `pages` where the project has pages or the pack is
        ##% asked for, and not otherwise.
        more = {pack.name for pack in self.every_pack if pack.shown is None and is_worthwhile(pack.name)}
        return (tool for tool in self.usable() if self.pack_of(tool).shown or self.pack_of(tool).name in more)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def require(self, name: str) -> Tool:
        """The tool of that name; ToolError where there is none."""
        if name not in self._names:
            raise ToolError(Code.NOT_FOUND, f"Unknown tool: {quoted(name)}", nearest_hint(name, tuple(self._tools)))
        return self._tools[self._names[name]]

    def pack_of(self, tool: Tool) -> Chosen:
        """The pack that a tool is in."""
        return self._packs[tool.name]
