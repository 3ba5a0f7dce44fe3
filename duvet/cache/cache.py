"""The cache of one project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.cache.blobs import Blobs, NoBlobs
from duvet.cache.environment import RecordedEnvironment
from duvet.cache.results import Results
from duvet.tree.disk import CACHE_FOLDER, DiskTree
from duvet.tree.recorded import Look, RecordedTree
from duvet.tree.seen import Seen, digest

if TYPE_CHECKING:
    from duvet.cache.parsed import Parsed

Value = TypeVar("Value")


class Cache:
    """Everything that a run takes from earlier ones, and leaves for later ones."""

    def __init__(
        self,
        disk: DiskTree,
        environ: Mapping[str, str],
        now: int | None = None,
        *,
        kept: bool = True,
        today: date | None = None,
        pinned: Mapping[str, Look] | None = None,
    ) -> None:
        self.blobs = Blobs(disk.at(CACHE_FOLDER)) if kept else NoBlobs()
        self.tree = RecordedTree(disk, now, pinned)
        self.environ = RecordedEnvironment(environ, self.tree)
        self.results = Results(self.blobs, self.tree, environ, today)
        self._parsed: dict[str, Parsed[Any]] = {}
        self._written: dict[str, bytes] = {}

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        parsed = self._files(name, kind)
        for path, known in parsed.unread(paths, how):
            value = read(path) if known is None else known
            if value is None:
                continue
            if known is None:
                parsed.add(path, how, self.tree.seen.get(path), value)
            yield path, value

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        parsed = self._files(name, kind)
        known = parsed.reread(path, how, data)
        if known is not None:
            return known
        value = parse()
        parsed.add(path, how, self._seen_with(path, data), value)
        return value

    def _seen_with(self, path: str, data: bytes) -> Seen | None:
        """What the file with this content looked like, unless it may have been another one."""
        seen = self.tree.seen.get(path)
        return None if seen and seen.digest and seen.digest != digest(data) else seen

    def of_tree(self, name: str, kind: type[Value], how: str, work: Callable[[], Value]) -> Value:
        known = self.results.recall(name, kind, how)
        if known is not None:
            return known
        with self.tree.recording() as record:
            value = work()
        self.results.keep(name, how, record, value)
        return value

    def holds(self, path: str, data: bytes) -> bool:
        outputs = self._files("outputs", bytes)
        known = outputs.kept(path, "")
        # What the file looks like counts only where it is left alone.
        return known is not None and known == digest(data) and outputs.is_unchanged(path, "")

    def wrote(self, path: str, data: bytes) -> None:
        self._written[path] = digest(data)

    def removed(self, path: str) -> None:
        self.tree.removed(path)

    def dated(self, day: str, is_over: bool) -> None:
        self.tree.record.hear(self.tree.record.days, day, is_over)

    def for_now(self) -> None:
        self.tree.record.settled = False

    def _files(self, name: str, kind: type[Value]) -> Parsed[Value]:
        if name not in self._parsed:
            from duvet.cache.parsed import Parsed

            self._parsed[name] = Parsed(self.blobs, name, kind, self.tree)
        return self._parsed[name]

    def recall(self, name: str, kind: type[Value], how: str) -> Value | None:
        """What a whole run came to, if it would come to the same."""
        return self.results.recall(name, kind, how)

    def remembered(self, name: str, kind: type[Value], how: str, find: Callable[[], Value]) -> Value:
        """What a whole run comes to, which is found out where it is not known."""
        known = self.recall(name, kind, how)
        if known is not None:
            return known
        found = find()
        self.keep(name, how, found)
        self.save()
        return found

    def last(self, name: str, kind: type[Value]) -> Value | None:
        """What a whole run came to, which may be out of date."""
        return self.results.last(name, kind)

    def keep(self, name: str, how: str, value: object) -> None:
        """Keep what this whole run has come to, with the files that it wrote."""
        self.settle()
        self.results.keep(name, how, self.tree.record, value)

    def save(self) -> None:
        """Leave for later runs what this one has read."""
        self.settle()
        for parsed in self._parsed.values():
            parsed.save()

    def settle(self) -> None:
        """Look at the files that this run wrote, once they are in place."""
        for path, content in self._written.items():
            ##= man/spec/watch.md#noticing
            ##% What a run itself has written MUST NOT be taken for a change.
            self._files("outputs", bytes).add(path, "", self.tree.wrote(path, content), content)
        self._written.clear()
