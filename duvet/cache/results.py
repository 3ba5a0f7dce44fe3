"""Results of work that asked a tree many questions: they hold while every answer is the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TypeVar

from msgspec import Raw, Struct

from duvet.cache.blobs import Blobs, decoded
from duvet.cache.environment import answer
from duvet.tree.record import Record
from duvet.tree.recorded import RecordedTree
from duvet.tree.unchanged import unchanged

Value = TypeVar("Value")


class _Kept(Struct, array_like=True):
    """A result with all that it depends on, as it is read again."""

    key: str
    now: int
    record: Record
    value: Raw


class Results:
    """What was found out by earlier runs, by name, each for one set of options."""

    def __init__(self, blobs: Blobs, tree: RecordedTree, environ: Mapping[str, str], today: date | None = None) -> None:
        self.blobs = blobs
        self.tree = tree
        self.environ = environ
        self.today = "" if today is None else today.isoformat()

    def recall(self, name: str, kind: type[Value], key: str) -> Value | None:
        """What was kept, if it would come out the same; its questions then count as asked again."""
        kept = self.blobs.load(name, _Kept)
        record = None if kept is None else self._holds(kept, key)
        if kept is None or record is None:
            return None
        self.tree.record.add(record)
        if record is not kept.record:
            self.blobs.save(name, (key, self.tree.now, record, kept.value))
        return decoded(kept.value, kind)

    def last(self, name: str, kind: type[Value]) -> Value | None:
        """What was kept last, for whatever options, and whether it holds or not."""
        kept = self.blobs.load(name, _Kept)
        return None if kept is None else decoded(kept.value, kind)

    def _holds(self, kept: _Kept, key: str) -> Record | None:
        ##= man/spec/cache.md#freshness
        ##% What was kept at a time that is yet to come MUST NOT be used.
        if kept.key != key or kept.now > self.tree.now:
            return None
        if any(answer(self.environ, name) != was for name, was in kept.record.variables.items()):
            return None
        ##= man/spec/cache.md#freshness
        ##% An answer that depends on whether a day is over MUST NOT be given when that has changed.
        if any((day < self.today) is not was for day, was in kept.record.days.items()):
            return None
        ##= man/spec/cache.md#freshness
        ##% An answer MUST be the same with the cache and without it.
        return unchanged(kept.record, self.tree)

    def keep(self, name: str, key: str, record: Record, value: object) -> None:
        """Keep a result, unless a fault went into it."""
        ##= man/spec/cache.md#freshness
        ##% An answer that a fault went into, such as a file that can't be read or a download that fails, MUST NOT be
        ##% kept.
        if record.settled:
            self.blobs.save(name, (key, self.tree.now, record, value))
