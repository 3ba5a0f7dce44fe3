"""What single files were read as: each holds while its file is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from duvet.cache.blobs import Blobs
from duvet.tree.recorded import RecordedTree
from duvet.tree.seen import Seen, digest

Value = TypeVar("Value")
Rows = dict[str, tuple[Seen, Value]]
"""What files were read as, with what they looked like, by their paths."""
_SHARE = 50
"""One file in so many is read again each time before all are written down anew: that costs less."""


class Parsed(Generic[Value]):
    """What the files of one kind were read as, by path and by how they were read."""

    def __init__(self, blobs: Blobs, name: str, kind: type[Value], tree: RecordedTree) -> None:
        self.blobs = blobs
        self.name = name
        self.kind = kind
        self.tree = tree
        self._rows: dict[str, Rows[Value]] | None = None
        self._asked: dict[str, Rows[Value]] = {}
        self._new = 0
        """How many files were read, or compared by content and need that no more."""

    def unread(self, paths: Iterable[str], how: str) -> Iterator[tuple[str, Value | None]]:
        """What files were read as whose marks tell that they are the same; None for the others."""
        rows, asked = self._known(how), self._asked.setdefault(how, {})
        still = self.tree.still
        for path in paths:
            known = rows.get(path)
            ##= man/spec/cache.md#freshness
            ##% An answer MUST be the same with the cache and without it.
            seen = still(path, known[0]) if known else None
            if known is None or seen is None:
                yield path, None
                continue
            if seen is not known[0]:
                self._new += not seen.digest
                known = (seen, known[1])
            asked[path] = known
            yield path, known[1]

    def kept(self, path: str, how: str) -> Value | None:
        """What the file was read as when it was last read, whatever has become of it."""
        known = self._known(how).get(path)
        return known[1] if known else None

    def is_unchanged(self, path: str, how: str) -> bool:
        """Whether the file is the one that was read."""
        ((_, value),) = self.unread([path], how)
        return value is not None

    def reread(self, path: str, how: str, data: bytes) -> Value | None:
        """What the file was read as, for one that has been read just now."""
        known = self._known(how).get(path)
        seen = self.tree.seen.get(path)
        if known is None or seen is None or replace(seen, digest=known[0].digest) != known[0]:
            return None
        if known[0].digest and known[0].digest != digest(data):
            return None
        self._new += bool(known[0].digest and not seen.digest)
        self._asked.setdefault(how, {})[path] = (seen, known[1])
        return known[1]

    def add(self, path: str, how: str, seen: Seen | None, value: Value) -> None:
        """What a file that looked like that was read as."""
        if seen is not None:
            self._new += 1
            self._asked.setdefault(how, {})[path] = (seen, value)

    def save(self) -> None:
        """Write down what was asked for, if enough of it is new."""
        known = sum(map(len, (self._rows or {}).values()))
        asked = sum(map(len, self._asked.values()))
        if self._new * _SHARE > asked or (known - asked) * 2 > known:
            self.blobs.save(self.name, (self.tree.now, self._asked))

    def _known(self, how: str) -> Rows[Value]:
        if self._rows is None:
            self._rows = self._load()
        return self._rows.get(how, {})

    def _load(self) -> dict[str, Rows[Value]]:
        kind: Any = tuple[int, dict[str, dict[str, tuple[Seen, self.kind]]]]  # type: ignore[name-defined]
        now, rows = self.blobs.load(self.name, kind) or (0, {})
        ##= man/spec/cache.md#freshness
        ##% What was kept at a time that is yet to come MUST NOT be used.
        return rows if now <= self.tree.now else {}
