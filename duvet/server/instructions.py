"""What the server tells an agent before it is asked anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.cache.blobs import Blobs
from duvet.config.schema import ServerRule

if TYPE_CHECKING:
    from duvet.tools.registry import Registry

_NAME = "instructions"


class _Kept(Struct, frozen=True, array_like=True):
    """The text that an earlier run rendered."""

    key: str
    text: str


def instructions(how: str, render: Callable[[], str], blobs: Blobs) -> str:
    """The prompt about the server, rendered where no earlier run has; `how` tells configurations apart."""
    # What this very duvet has kept was rendered from the same templates and tools: see `duvet.cache.build`.
    kept = blobs.load(_NAME, _Kept)
    if kept is not None and kept.key == how:
        return kept.text
    text = render()
    blobs.save(_NAME, _Kept(how, text))
    return text


def rendered_instructions(rule: ServerRule, registry: Registry | None = None) -> str:
    """For what a configuration switches on; where no tools are named they are those of the rule."""
    from duvet.prompts.system import system_prompt
    from duvet.server.reachable import reachable
    from duvet.tools.choosing import named
    from duvet.tools.registry import Registry

    ##= man/spec/mcp.md#handshake
    ##% When another configuration switches on other tools, the instructions MUST be others.
    return system_prompt(rule, Registry(named(rule.packs)) if registry is None else registry, reachable())
