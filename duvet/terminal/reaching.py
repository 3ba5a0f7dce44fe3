"""The assembly for a tool that is named at the keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.terminal.service import Assembly, assembly_of
from duvet.terminal.service_options import PACKS
from duvet.tools.faces import SHELL


def assembly_reaching(name: str, where: Mapping[str, Any]) -> Assembly:
    """What these options describe, and the pack of ours that has a tool of this name."""
    assembly = assembly_of(where, mode=SHELL)
    if name in assembly.registry:
        return assembly
    ##= man/spec/service.md#calls
    ##% `duvet call` and `duvet tools NAME` MUST find the tools of packs of ours that the configuration does not name.
    unnamed = [pack for pack in _packs_with(name) if pack not in assembly.service.config.tool_packs]
    return assembly_of({**where, PACKS: (*where[PACKS], *unnamed)}, mode=SHELL) if unnamed else assembly


def _packs_with(name: str) -> list[str]:
    from duvet.tools.choosing import BUILT_IN, named

    return [pack.name for pack in named(tuple(BUILT_IN)) if name in pack.every_name()]
