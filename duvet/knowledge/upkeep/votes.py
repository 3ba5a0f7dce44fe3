"""What those who have searched say of what was found."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct, field, json

from duvet.knowledge.upkeep.lines import NO_LINE, append, lines_of
from duvet.knowledge.upkeep.places import Places

SOURCE = "mcp.manual"


class Vote(Struct, frozen=True, kw_only=True):
    """What somebody says of one result."""

    request_id: str
    """Of the answer that it was in."""
    chunk_id: str
    vote: float | None = None
    """From -1, of no use, to 1."""
    note: str | None = None
    context: dict[str, Any] | None = field(default=None)
    timestamp: str
    """In ISO 8601."""
    source: str = SOURCE


def submit(places: Places, vote: Vote) -> None:
    """Keep it; DuvetError where that can't be done."""
    append(places.make(places.feedback), vote)


def votes_in(path: str) -> list[Vote]:
    """All that were kept, the oldest first."""
    found = []
    for line in lines_of(path):
        try:
            found.append(json.decode(line, type=Vote))
        except NO_LINE:
            # Somebody has written here by hand.
            continue
    ##= man/spec/gateway.md#maintenance
    ##% `duvet feedback` MUST order what was said by its time, also what a backup has brought back.
    return sorted(found, key=attrgetter("timestamp"))


def means(votes: Sequence[Vote]) -> dict[str, float]:
    """The mean vote for each piece that there is one for."""
    given: dict[str, list[float]] = defaultdict(list)
    for one in votes:
        if one.vote is not None and -1 <= one.vote <= 1:
            given[one.chunk_id].append(one.vote)
    return {chunk: sum(some) / len(some) for chunk, some in given.items()}


class Means:
    """The mean votes in a file as it is now."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._marks: object = None
        self._known: Mapping[str, float] = {}

    def __call__(self) -> Mapping[str, float]:
        marks = _marks(self._path)
        if marks != self._marks:
            self._known, self._marks = means(votes_in(self._path)), marks
        return self._known


def _marks(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
