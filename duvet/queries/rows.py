"""Requirements and citations as people and programs get them; the names are those of the server's resources."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from duvet.model import Level
from duvet.queries.catalogue import SHOWN, Catalogue, RequirementCard


class RequirementRow(Struct, frozen=True, kw_only=True):
    """A requirement in a list."""

    identifier: str
    """The first digits of its id; the whole id is the hex BLAKE3 of its text."""
    full_path: str
    specification: str
    section: str
    section_title: str
    target: str
    level: str | None
    status: str
    state: str
    text: str
    file_path: str
    line_number: int


def requirement_row(catalogue: Catalogue, card: RequirementCard) -> RequirementRow:
    """The row of a requirement."""
    return RequirementRow(**fields_of(catalogue, card))


def fields_of(catalogue: Catalogue, card: RequirementCard) -> dict[str, Any]:
    """The fields of its row, for rows that have more."""
    specification, id = catalogue.specification_of(card), card.id
    return {
        "identifier": id[:SHOWN],
        "full_path": specification.requirement_path(card.section, id),
        "specification": specification.id,
        "section": card.section,
        "section_title": specification.titles.get(card.section, ""),
        "target": catalogue.target_of(card),
        "level": level_name(card.level),
        "status": card.status.words,
        "state": card.state.words,
        "text": card.text,
        "file_path": specification.path,
        "line_number": card.line,
    }


def level_name(level: Level) -> str | None:
    """`MUST`; None where none is stated."""
    return level.name if level else None
