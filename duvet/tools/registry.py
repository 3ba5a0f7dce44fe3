"""Which tools there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duvet.text import quoted
from duvet.tools.errors import Code, ToolError
from duvet.tools.tool import Pack, Tool
from duvet.tools.trace.pack import TRACE

_PACKS = (TRACE,)
BY_DEFAULT = ("trace",)


def packs() -> Mapping[str, Pack]:
    """Every pack by its name."""
    return {pack.name: pack for pack in _PACKS}


class Registry:
    """The tools that are switched on, in a lasting order."""

    def __init__(self, names: tuple[str, ...] = BY_DEFAULT) -> None:
        known = packs()
        self._tools = {tool.name: tool for name in names for tool in known[name].tools}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def require(self, name: str) -> Tool:
        """The tool of that name; ToolError where there is none."""
        if name not in self._tools:
            from duvet.queries.names import nearest_hint

            raise ToolError(Code.NOT_FOUND, f"Unknown tool: {quoted(name)}", nearest_hint(name, tuple(self._tools)))
        return self._tools[name]
