"""How much of a list a prompt has room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")

MOST = 7_000
"""So many bytes of a list leave a prompt below 4,000 tokens, of which one hardly ever has less than 2.5."""
LONGEST = 1_000
"""So much of one text among several is shown, and of a line of a section before it is broken."""
WIDEST = 160
"""So much of a line of code is shown."""


def fitting(items: Sequence[_Item], text: Callable[[_Item], str], room: int = MOST) -> Sequence[_Item]:
    """As many of the first items as there is room for; one in any case."""
    ##= man/spec/mcp.md#prompts
    ##% A prompt MUST leave out what would make it longer than about 4,000 tokens, and say so.
    for count, item in enumerate(items):
        room -= len(text(item).encode())
        if room < 0:
            return items[: max(count, 1)]
    return items
