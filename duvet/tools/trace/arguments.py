"""What several tools can be asked with."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duvet.model import Level
from duvet.queries.filters import Filter
from duvet.tools.paging import MOST
from duvet.trace.states import Status

Spec = Annotated[str, Meta(description="Only of this specification: id, name, URL or path")]
LevelWord = Literal["MUST", "SHOULD", "MAY", "unspecified"]
StatusWord = Literal["not started", "in progress", "needs tests", "done"]

NO_LEVEL = "unspecified"
_STATUSES = {status.words: status for status in Status}


class Part(Struct, frozen=True, kw_only=True):
    """Which part of a list is asked for."""

    limit: Annotated[int, Meta(ge=1, le=MOST)] | None = None
    cursor: Annotated[str, Meta(description="next_cursor of the answer before")] | None = None


class Wanted(Part, frozen=True, kw_only=True):
    """Which requirements are."""

    spec: Spec | None = None
    level: LevelWord | None = None


def filter_of(asked: Wanted, status: str | None = None) -> Filter:
    """What the requirements have to be."""
    return Filter(
        specifications=(asked.spec,) if asked.spec is not None else (),
        levels=(level_of(asked.level),) if asked.level else (),
        statuses=(_STATUSES[status],) if status else (),
    )


def level_of(word: LevelWord) -> Level:
    return Level.AUTO if word == NO_LEVEL else Level[word]
