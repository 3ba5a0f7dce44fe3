"""What the server tells an agent before it is asked anything."""

from __future__ import annotations

from msgspec import Struct

from duvet.cache.blobs import Blobs
from duvet.cache.key import key
from duvet.config.schema import ServerRule

_NAME = "instructions"


class _Kept(Struct, frozen=True, array_like=True):
    """The text that an earlier run rendered."""

    key: str
    text: str


def instructions(rule: ServerRule, blobs: Blobs) -> str:
    """The prompt about the server, for what this configuration switches on."""
    # What this very duvet has kept was rendered from the same templates and tools: see `duvet.cache.build`.
    how = key(rule)
    kept = blobs.load(_NAME, _Kept)
    if kept is not None and kept.key == how:
        return kept.text
    text = rendered_instructions(rule)
    blobs.save(_NAME, _Kept(how, text))
    return text


def rendered_instructions(rule: ServerRule) -> str:
    """The same, whatever was kept."""
    from duvet.prompts.system import system_prompt
    from duvet.server.reachable import reachable
    from duvet.tools.registry import Registry

    ##= man/spec/mcp.md#handshake
    ##% When another configuration switches on other tools, the instructions MUST be others.
    return system_prompt(rule, Registry(rule.packs), reachable())
