"""A pack as it is switched on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from duvet.tools.tool import Pack, Tool


class Chosen(Struct, frozen=True):
    """A pack, and what is wanted of it."""

    pack: Pack
    writes: bool = True
    """Whether tools that write are switched on, too."""
    switches: Mapping[str, bool] = field(default_factory=dict)
    """Tools by name, each switched on or off."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the pack itself wants to know."""
    shown: bool | None = True
    """Whether it counts as switched on; None where the project decides. It can be called in any case."""
    is_guest: bool = False
    """Whether it comes from elsewhere: what it does is not trusted to end, nor to fit."""

    @property
    def name(self) -> str:
        return self.pack.name

    def tools(self) -> Sequence[Tool]:
        """The tools that are switched on."""
        ##= man/spec/service.md#packs
        ##% A pack that is `read-only` MUST leave out its tools that write, and a tool that is switched off MUST be left
        ##% out, on every face.
        return [
            tool for tool in self._every() if self.switches.get(tool.name, True) and (self.writes or tool.only_reads)
        ]

    def every_name(self) -> Sequence[str]:
        """What its tools are called, whether they are switched on or off."""
        return [tool.name for tool in self._every()]

    def _every(self) -> Sequence[Tool]:
        made = self.pack.tools
        return made(self.settings) if callable(made) else made
