"""What is known of the server itself, for those tools that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.tools.facts import Facts

if TYPE_CHECKING:
    from duvet.terminal.service import Assembly


def facts_of(assembly: Assembly) -> Facts:
    """Who serves, how, and with what."""
    config, faults = assembly.service.config, assembly.offered.faults
    return Facts(
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
