"""The cache of a project: results of earlier runs that are valid while their inputs are unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from duvet.tree.cache_files import BlobStore, NoBlobStore, decode_blob
from duvet.tree.files import CACHE_FOLDER, DiskTree
from duvet.tree.record import FileStamp, TreeRecord, digest_content
from duvet.tree.recorder import FileContent, RecordedTree, check_unchanged


class RecordedEnvironment(Mapping[str, str]):
    """Variables of the environment; those that are looked up stand on the tree's record."""

    def __init__(self, environ: Mapping[str, str], tree: RecordedTree) -> None:
        self.environ = environ
        self.tree = tree

    def __getitem__(self, name: str) -> str:
        self.tree.record.variables[name] = fingerprint_variable(self.environ, name)
        return self.environ[name]

    def __iter__(self) -> Iterator[str]:
        self.tree.record.settled = False
        return iter(self.environ)

    def __len__(self) -> int:
        return len(self.environ)


def fingerprint_variable(environ: Mapping[str, str], name: str) -> bytes | None:
    """What stands on record for a variable: a digest, because its value may be secret."""
    value = environ.get(name)
    return None if value is None else digest_content(value.encode(errors="surrogateescape"))


Value = TypeVar("Value")


class _Kept(Struct, array_like=True):
    """A result with all that it depends on, as it is read again."""

    key: str
    now: int
    record: TreeRecord
    value: Raw


class RecordedResults:
    """What was found out by earlier runs, by name, each for one set of options."""

    def __init__(
        self, blobs: BlobStore, tree: RecordedTree, environ: Mapping[str, str], today: date | None = None
    ) -> None:
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
        return decode_blob(kept.value, kind)

    def last(self, name: str, kind: type[Value]) -> Value | None:
        """What was kept last, for whatever options, and whether it holds or not."""
        kept = self.blobs.load(name, _Kept)
        return None if kept is None else decode_blob(kept.value, kind)

    def _holds(self, kept: _Kept, key: str) -> TreeRecord | None:
        if kept.key != key or kept.now > self.tree.now:
            return None
        if any(fingerprint_variable(self.environ, name) != was for name, was in kept.record.variables.items()):
            return None
        if any((day < self.today) is not was for day, was in kept.record.days.items()):
            return None
        ##= man/spec/cache.md#freshness
        ##% duvet MUST give the same answer with and without the cache.
        return check_unchanged(kept.record, self.tree)

    def keep(self, name: str, key: str, record: TreeRecord, value: object) -> None:
        """Keep a result, unless a fault went into it."""
        if record.settled:
            self.blobs.save(name, (key, self.tree.now, record, value))


ParsedRows = dict[str, tuple[FileStamp, Value]]
"""What files were read as, with what they looked like, by their paths."""
_SHARE = 50
"""One file in so many is read again each time before all are written down anew: that costs less."""


class ParsedFiles(Generic[Value]):
    """What the files of one kind were read as, by path and by how they were read."""

    def __init__(self, blobs: BlobStore, name: str, kind: type[Value], tree: RecordedTree) -> None:
        self.blobs = blobs
        self.name = name
        self.kind = kind
        self.tree = tree
        self._rows: dict[str, ParsedRows[Value]] | None = None
        self._asked: dict[str, ParsedRows[Value]] = {}
        self._new = 0
        """How many files were read, or compared by content and need that no more."""

    def unread(self, paths: Iterable[str], how: str) -> Iterator[tuple[str, Value | None]]:
        """What files were read as whose marks tell that they are the same; None for the others."""
        rows, asked = self._known(how), self._asked.setdefault(how, {})
        still = self.tree.still
        for path in paths:
            known = rows.get(path)
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
        if known[0].digest and known[0].digest != digest_content(data):
            return None
        self._new += bool(known[0].digest and not seen.digest)
        self._asked.setdefault(how, {})[path] = (seen, known[1])
        return known[1]

    def add(self, path: str, how: str, seen: FileStamp | None, value: Value) -> None:
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

    def _known(self, how: str) -> ParsedRows[Value]:
        if self._rows is None:
            self._rows = self._load()
        return self._rows.get(how, {})

    def _load(self) -> dict[str, ParsedRows[Value]]:
        kind: Any = tuple[int, dict[str, dict[str, tuple[FileStamp, self.kind]]]]  # type: ignore[name-defined]
        now, rows = self.blobs.load(self.name, kind) or (0, {})
        return rows if now <= self.tree.now else {}


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
        pinned: Mapping[str, FileContent] | None = None,
    ) -> None:
        self.blobs = BlobStore(disk.at(CACHE_FOLDER)) if kept else NoBlobStore()
        self.tree = RecordedTree(disk, now, pinned)
        self.environ = RecordedEnvironment(environ, self.tree)
        self.results = RecordedResults(self.blobs, self.tree, environ, today)
        self._parsed: dict[str, ParsedFiles[Any]] = {}
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

    def _seen_with(self, path: str, data: bytes) -> FileStamp | None:
        """What the file with this content looked like, unless it may have been another one."""
        seen = self.tree.seen.get(path)
        return None if seen and seen.digest and seen.digest != digest_content(data) else seen

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
        return known is not None and known == digest_content(data) and outputs.is_unchanged(path, "")

    def wrote(self, path: str, data: bytes) -> None:
        self._written[path] = digest_content(data)

    def removed(self, path: str) -> None:
        self.tree.removed(path)

    def dated(self, day: str, is_over: bool) -> None:
        self.tree.record.hear(self.tree.record.days, day, is_over)

    def for_now(self) -> None:
        self.tree.record.settled = False

    def _files(self, name: str, kind: type[Value]) -> ParsedFiles[Value]:
        if name not in self._parsed:
            self._parsed[name] = ParsedFiles(self.blobs, name, kind, self.tree)
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
            ##= man/spec/watch.md#noticing-changes
            ##% `duvet report --watch` MUST notice changes that are made during a run, and ignore its own and those
            ##% without an effect.
            self._files("outputs", bytes).add(path, "", self.tree.wrote(path, content), content)
        self._written.clear()


class ResultCache(Protocol):
    """Does a piece of work, or knows from earlier what comes of it."""

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        """What files are read as, each by its path; where that is known they are not read. None is left out."""

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        """What a file that has been read in this run is parsed as."""

    def of_tree(self, name: str, kind: type[Value], how: str, work: Callable[[], Value]) -> Value:
        """What comes of work that asks nothing but the tree."""

    def holds(self, path: str, data: bytes) -> bool:
        """Whether a file is known to hold these bytes."""

    def wrote(self, path: str, data: bytes) -> None:
        """A file holds these bytes now."""

    def removed(self, path: str) -> None:
        """A file is gone, and this very work has removed it."""

    def dated(self, day: str, is_over: bool) -> None:
        """The result holds as long as this day, `YYYY-MM-DD`, is over or is not."""

    def for_now(self) -> None:
        """What comes of this work is not for later: it went where nobody can look for it, or a fault may pass."""


class NoResultCache:
    """Does all work each time."""

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        for path in paths:
            value = read(path)
            if value is not None:
                yield path, value

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        return parse()

    def of_tree(self, name: str, kind: type[Value], how: str, work: Callable[[], Value]) -> Value:
        return work()

    def holds(self, path: str, data: bytes) -> bool:
        return False

    def wrote(self, path: str, data: bytes) -> None:
        pass

    def removed(self, path: str) -> None:
        pass

    def dated(self, day: str, is_over: bool) -> None:
        pass

    def for_now(self) -> None:
        pass


def make_cache_key(*parts: object) -> str:
    """All that a result depends on besides the tree, as one word."""
    # Names of files that are not UTF-8 have a representation too.
    return digest_content(repr(parts).encode()).hex()
