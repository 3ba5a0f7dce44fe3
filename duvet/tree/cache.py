"""The cache of a project: checksummed files, written atomically, whose results are valid until an input changes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from enum import StrEnum
from functools import cache
from io import FileIO
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from duvet.errors import OutputError, UnreadableError
from duvet.tree import recorder
from duvet.tree.files import CACHE_FOLDER, DiskTree
from duvet.tree.outputs import is_unfinished, store_file
from duvet.version import VERSION

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = ("site-packages", "dist-packages")


@cache
def compute_build_id() -> bytes:
    try:
        # An installed package changes only as a whole, together with its folder. During development, its files change.
        own = () if os.path.dirname(_PACKAGE).endswith(_INSTALLED) else _list_modules(_PACKAGE)
        parts = [VERSION, sys.version, sys.byteorder, _PACKAGE, *own]
        # The folders that packages are installed into change with every package.
        beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
        for folder in dict.fromkeys([beside, *sys.path]):
            if (folder == beside or folder.endswith(_INSTALLED)) and os.path.isdir(folder):
                parts.append(f"{folder} {os.stat(folder).st_mtime_ns}")
        parts.append(sys.getfilesystemencoding())
        if sys.platform != "win32":
            parts.append(f"{os.geteuid()} {os.getegid()} {sorted(os.getgroups())}")
    except OSError:
        # An unknown build is different from all others.
        return os.urandom(32)
    return recorder.digest_content("\n".join(parts).encode(errors="surrogateescape"))


def _list_modules(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if not entry.is_dir():
            info = entry.stat()
            yield f"{entry.path} {info.st_size} {info.st_mtime_ns}"
        elif entry.name != "__pycache__":
            yield from _list_modules(entry.path)


BLOB_MAGIC = b"duvet cache\n"
_DIGEST, _SIZE = 32, 8
_HEAD = len(BLOB_MAGIC) + _DIGEST + _SIZE + _DIGEST
"""The length of a header: magic bytes, a digest of build and name, the size of the payload, and its digest."""
IGNORE_FILE, IGNORE_ALL = ".gitignore", b"*\n"

Value = TypeVar("Value")


class CacheFileState(StrEnum):
    GOOD = "good"
    OTHER_BUILD = "from another build or user"
    DAMAGED = "damaged"
    FOREIGN = "not from duvet"


class BlobStore:
    def __init__(self, folder: str = "") -> None:
        self.folder = folder

    def load(self, name: str, kind: type[Value]) -> Value | None:
        _, _, payload = self.inspect(name)
        return None if payload is None else decode_blob(payload, kind)

    def inspect(self, name: str) -> tuple[CacheFileState, int, bytes | None]:
        if not self.folder:
            return CacheFileState.FOREIGN, 0, None
        with suppress(OSError, UnreadableError):
            handle, info = DiskTree(self.folder).open_file(name)
            with FileIO(handle) as file:
                start, size = file.read(_HEAD), info.st_size
                ##= man/spec/cache.md#storage
                ##% duvet MUST ignore a cache that is damaged, that belongs to another user, or that another build of
                ##% duvet wrote.
                if not start.startswith(make_blob_header(name)):
                    is_own = start.startswith(BLOB_MAGIC)
                    return CacheFileState.OTHER_BUILD if is_own else CacheFileState.FOREIGN, size, None
                # A file that is not from the cache may be larger than memory.
                if size == _HEAD + int.from_bytes(start[-_DIGEST - _SIZE : -_DIGEST]):
                    payload = file.read()
                    if start.endswith(recorder.digest_content(payload)):
                        return CacheFileState.GOOD, size, payload
                return CacheFileState.DAMAGED, size, None
        return CacheFileState.FOREIGN, 0, None

    def save(self, name: str, value: object) -> None:
        path, ignore = os.path.join(self.folder, name), os.path.join(self.folder, IGNORE_FILE)
        ##= man/spec/cache.md#storage
        ##% duvet MUST NOT write to the cache or the index through a symbolic link.
        if not self.folder or os.path.islink(self.folder) or os.path.islink(os.path.dirname(self.folder)):
            return
        ##= man/spec/cache.md#storage
        ##% If the cache cannot be written, duvet MUST work without it.
        ##= man/spec/cache.md#storage
        ##% Concurrent and killed runs MUST NOT damage the cache.
        # File names that are not UTF-8 and times in the far future can't be encoded.
        with suppress(OSError, OutputError, UnicodeEncodeError, OverflowError):
            # Encode directly into the file, because a second copy might take many megabytes.
            data = bytearray(_HEAD)
            msgspec.msgpack.Encoder().encode_into(value, data, _HEAD)
            payload = memoryview(data)[_HEAD:]
            data[:_HEAD] = make_blob_header(name) + len(payload).to_bytes(_SIZE) + recorder.digest_content(payload)
            ##= man/spec/cache.md#storage
            ##% duvet MUST exclude the cache and the index from git.
            if not os.path.lexists(ignore):
                os.makedirs(self.folder, exist_ok=True)
                store_file(ignore, IGNORE_ALL)
            # Leave alone anything but a regular file, including the target of a link.
            if not os.path.lexists(path) or stat.S_ISREG(os.lstat(path).st_mode):
                # Each file is replaced as a whole and names all of its dependencies, so no file relies on another one.
                store_file(path, data)

    def names(self, *, unfinished: bool = False) -> list[str]:
        try:
            found = os.listdir(self.folder)
        except OSError:
            return []
        return sorted(name for name in found if name != IGNORE_FILE and is_unfinished(name) == unfinished)


def make_blob_header(name: str) -> bytes:
    return BLOB_MAGIC + recorder.digest_content(compute_build_id() + os.fsencode(name))


def decode_blob(data: bytes | msgspec.Raw, kind: type[Value]) -> Value | None:
    with suppress(msgspec.DecodeError, RecursionError):
        return msgspec.msgpack.decode(data, type=kind)
    return None


class CacheFile(msgspec.Struct, frozen=True):
    name: str
    size: int
    state: CacheFileState


def list_cache_files(blobs: BlobStore) -> tuple[CacheFile, ...]:
    inspected = ((name, blobs.inspect(name)) for name in blobs.names())
    return tuple([CacheFile(name, size, state) for name, (state, size, _) in inspected])


def clear_cache(blobs: BlobStore) -> tuple[CacheFile, ...]:
    found = tuple(item for item in list_cache_files(blobs) if item.state is not CacheFileState.FOREIGN)
    names = [item.name for item in found] + blobs.names(unfinished=True)
    with suppress(UnreadableError):
        if DiskTree(blobs.folder).read(IGNORE_FILE) == IGNORE_ALL:
            names.append(IGNORE_FILE)
    for name in names:
        # Another process may be clearing the cache, too.
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(blobs.folder, name))
    with suppress(OSError):
        os.rmdir(blobs.folder)
    return found


class Cache:
    """A cache that stores nothing, so that everything is computed each time; see DiskCache."""

    def compute(
        self, name: str, kind: type[Value], key: object, work: Callable[[], Value], *, whole_run: bool = False
    ) -> Value:
        """Return the result of `work`, which depends only on the tree, the environment and `key`.

        With `whole_run`, the result also depends on everything read before, and parsed files are saved, too.
        """
        return work()

    def load_last(self, name: str, kind: type[Value]) -> Value | None:
        """Return the last stored result, if any, whatever its key; it may be out of date."""
        return None

    def parse_files(
        self, name: str, kind: type[Value], paths: Iterable[str], key: object, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        """Yield each path with its parsed content unless that is None; `read` may be skipped for unchanged files."""
        for path in paths:
            value = read(path)
            if value is not None:
                yield path, value

    def parse_text(
        self, name: str, kind: type[Value], path: str, key: object, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        return parse()

    def has_content(self, path: str, data: bytes) -> bool:
        """Return whether duvet wrote this content to the file and the file has not changed since."""
        return False

    def note_written(self, path: str, data: bytes) -> None: ...

    def note_removed(self, path: str) -> None: ...

    def note_day(self, day: str, is_over: bool) -> None:
        """Make the result depend on whether the day `YYYY-MM-DD` is over."""

    def forgo(self) -> None:
        """Don't store the result of this run, because a fault may be temporary or an output can't be compared."""


class _StoredResult(msgspec.Struct, array_like=True):
    key: str
    now: int
    record: recorder.TreeRecord
    value: msgspec.Raw


class DiskCache(Cache):
    def __init__(
        self,
        disk: DiskTree,
        environ: Mapping[str, str],
        now: int | None = None,
        *,
        kept: bool = True,
        today: date | None = None,
        pinned: Mapping[str, recorder.FileContent] | None = None,
    ) -> None:
        self.blobs = BlobStore(disk.at(CACHE_FOLDER) if kept else "")
        self.tree = recorder.RecordedTree(disk, now, pinned)
        self.environ = recorder.RecordedEnvironment(environ, self.tree)
        self._today = "" if today is None else today.isoformat()
        self._parsed: dict[str, _ParsedFiles[Any]] = {}
        self._written: dict[str, bytes] = {}

    def compute(
        self, name: str, kind: type[Value], key: object, work: Callable[[], Value], *, whole_run: bool = False
    ) -> Value:
        known = self.recall(name, kind, key)
        if known is not None:
            return known
        if whole_run:
            value = work()
            self.store(name, key, value)
            self.save()
            return value
        with self.tree.recording() as record:
            value = work()
        self._store(name, key, record, value)
        return value

    def recall(self, name: str, kind: type[Value], key: object) -> Value | None:
        """Return a stored result if it is still valid, and record its inputs as inputs of this run."""
        stored = self.blobs.load(name, _StoredResult)
        if stored is None or stored.key != make_cache_key(key) or stored.now > self.tree.now:
            return None
        variables, days = stored.record.variables, stored.record.days
        if any(recorder.digest_variable(self.environ.plain, name) != digest for name, digest in variables.items()):
            return None
        if any((day < self._today) is not is_over for day, is_over in days.items()):
            return None
        ##= man/spec/cache.md#freshness
        ##% duvet MUST give the same answer with and without the cache.
        record = recorder.check_unchanged(stored.record, self.tree)
        if record is None:
            return None
        self.tree.record.merge(record)
        if record is not stored.record:
            self.blobs.save(name, (stored.key, self.tree.now, record, stored.value))
        return decode_blob(stored.value, kind)

    def load_last(self, name: str, kind: type[Value]) -> Value | None:
        stored = self.blobs.load(name, _StoredResult)
        return None if stored is None else decode_blob(stored.value, kind)

    def store(self, name: str, key: object, value: object) -> None:
        self.settle()
        self._store(name, key, self.tree.record, value)

    def _store(self, name: str, key: object, record: recorder.TreeRecord, value: object) -> None:
        if record.settled:
            self.blobs.save(name, (make_cache_key(key), self.tree.now, record, value))

    def save(self) -> None:
        self.settle()
        for parsed in self._parsed.values():
            parsed.save()

    def settle(self) -> None:
        for path, content in self._written.items():
            self._open_parsed("outputs", bytes).add(path, "", self.tree.note_written(path, content), content)
        self._written.clear()

    def parse_files(
        self, name: str, kind: type[Value], paths: Iterable[str], key: object, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        parsed, digest = self._open_parsed(name, kind), make_cache_key(key)
        for path, known in parsed.recall(paths, digest):
            value = read(path) if known is None else known
            if value is None:
                continue
            if known is None:
                parsed.add(path, digest, self.tree.seen.get(path), value)
            yield path, value

    def parse_text(
        self, name: str, kind: type[Value], path: str, key: object, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        parsed, digest = self._open_parsed(name, kind), make_cache_key(key)
        known, stamp = parsed.rows(digest).get(path), self.tree.seen.get(path)
        # The file was just read: has its content changed since it was parsed?
        if known and stamp and replace(stamp, digest=known[0].digest) == known[0]:
            content = known[0].digest
            if not content or content == recorder.digest_content(data):
                parsed.add(path, digest, stamp, known[1], is_new=bool(content and not stamp.digest))
                return known[1]
        value = parse()
        if stamp and not (stamp.digest and stamp.digest != recorder.digest_content(data)):
            # Otherwise, the file was different when its stamp was taken.
            parsed.add(path, digest, stamp, value)
        return value

    def has_content(self, path: str, data: bytes) -> bool:
        outputs = self._open_parsed("outputs", bytes)
        last = outputs.rows("").get(path)
        if last is None or last[1] != recorder.digest_content(data):
            return False
        # A stamp is recalled only if the file has not changed since.
        ((_, known),) = outputs.recall([path], "")
        return known is not None

    def note_written(self, path: str, data: bytes) -> None:
        self._written[path] = recorder.digest_content(data)

    def note_removed(self, path: str) -> None:
        self.tree.note_removed(path)

    def note_day(self, day: str, is_over: bool) -> None:
        self.tree.record.note_answer(self.tree.record.days, day, is_over)

    def forgo(self) -> None:
        self.tree.record.settled = False

    def _open_parsed(self, name: str, kind: type[Value]) -> _ParsedFiles[Value]:
        if name not in self._parsed:
            self._parsed[name] = _ParsedFiles(self.blobs, name, kind, self.tree)
        return self._parsed[name]


_ParsedRows = dict[str, tuple[recorder.FileStamp, Value]]
_SHARE = 50  # If fewer than one file in 50 is new, reading those again costs less than saving all.


class _ParsedFiles(Generic[Value]):
    def __init__(self, blobs: BlobStore, name: str, kind: type[Value], tree: recorder.RecordedTree) -> None:
        self.blobs = blobs
        self.name = name
        self.kind = kind
        self.tree = tree
        self._rows: dict[str, _ParsedRows[Value]] | None = None
        self._asked: dict[str, _ParsedRows[Value]] = {}
        self._new = 0  # Files that were parsed, or that no longer need a digest.

    def recall(self, paths: Iterable[str], key: str) -> Iterator[tuple[str, Value | None]]:
        rows, asked = self.rows(key), self._asked.setdefault(key, {})
        recall_stamp = self.tree.recall_stamp
        for path in paths:
            known = rows.get(path)
            stamp = recall_stamp(path, known[0]) if known else None
            if known is None or stamp is None:
                yield path, None
                continue
            if stamp is not known[0]:
                self._new += not stamp.digest
                known = (stamp, known[1])
            asked[path] = known
            yield path, known[1]

    def add(self, path: str, key: str, stamp: recorder.FileStamp | None, value: Value, *, is_new: bool = True) -> None:
        if stamp is not None:
            self._new += is_new
            self._asked.setdefault(key, {})[path] = (stamp, value)

    def save(self) -> None:
        known = sum(map(len, (self._rows or {}).values()))
        asked = sum(map(len, self._asked.values()))
        if self._new * _SHARE > asked or (known - asked) * 2 > known:
            self.blobs.save(self.name, (self.tree.now, self._asked))

    def rows(self, key: str) -> _ParsedRows[Value]:
        if self._rows is None:
            kind: Any = tuple[int, dict[str, dict[str, tuple[recorder.FileStamp, self.kind]]]]  # type: ignore[name-defined]
            now, rows = self.blobs.load(self.name, kind) or (0, {})
            self._rows = rows if now <= self.tree.now else {}
        return self._rows.get(key, {})


def make_cache_key(key: object) -> str:
    # Even file names that are not UTF-8 have a representation.
    return key if isinstance(key, str) else recorder.digest_content(repr(key).encode()).hex()
