"""Requirements as they are told beside something else."""

from __future__ import annotations

from msgspec import Struct

from duvet.queries.catalogue import SHOWN, RequirementCard
from duvet.queries.rows import level_name
from duvet.text import shortened
from duvet.tools.trace.arguments import NO_LEVEL


class Brief(Struct, frozen=True):
    """A requirement in a few words."""

    identifier: str
    level: str
    status: str
    text: str


def brief(card: RequirementCard, most: int | None = None) -> Brief:
    """The requirement with so many characters of its text at most."""
    text = card.text if most is None else shortened(card.text, most)
    return Brief(card.id[:SHOWN], level_name(card.level) or NO_LEVEL, card.status.words, text)
