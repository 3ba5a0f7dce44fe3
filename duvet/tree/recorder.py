"""Records everything that is read from a tree, so that later runs can check whether it is unchanged."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree, TreeEntry, find_read_fault

_CLOSE_BY = 2_000_000_000
"""Nanoseconds in which a second change may leave the times the same: FAT stores times in steps of two seconds."""
_HAS_CHANGE_TIMES = os.name != "nt"
"""False on Windows, which reports the creation time instead of the change time, so contents are compared."""


class FileStamp(Struct, frozen=True, array_like=True, gc=False):
    size: int
    modified: int
    changed: int
    inode: int
    digest: bytes = b""  # Of the content, if the times are not reliable.

    def looks_like(self, info: os.stat_result) -> bool:
        return (
            self.modified == info.st_mtime_ns
            and self.changed == info.st_ctime_ns
            and self.size == info.st_size
            and self.inode == info.st_ino
        )

    def agrees(self, other: FileStamp) -> bool:
        """Return whether two stamps may describe the same content."""
        known = self.digest and other.digest
        return self == (other if known else replace(other, digest=self.digest))


def make_file_stamp(info: os.stat_result, digest: bytes = b"") -> FileStamp:
    return FileStamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, digest)


def is_fresh(info: os.stat_result, now: int) -> bool:
    """Return whether a further change might leave the times the same; always True on Windows."""
    return not _HAS_CHANGE_TIMES or max(info.st_mtime_ns, info.st_ctime_ns) > now - _CLOSE_BY


def digest_content(data: bytes | memoryview) -> bytes:
    from blake3 import blake3

    return blake3(data).digest()


Answer = TypeVar("Answer")


class TreeRecord(Struct, array_like=True):
    """The files and variables that a run has read; its result is valid while they stay the same."""

    files: dict[str, FileStamp] = {}  # Files that were read.
    folders: dict[str, FileStamp] = {}  # Folders that were listed.
    absent: dict[str, None] = {}  # Files that were requested but did not exist.
    unlisted: dict[str, None] = {}  # Folders that were to be listed but did not exist.
    regular: dict[str, bool] = {}  # Whether the path is a regular file.
    present: dict[str, bool] = {}  # Whether the path exists.
    links: dict[str, bool] = {}  # Whether a link leads to a folder.
    identities: dict[str, tuple[int, int]] = {}
    variables: dict[str, bytes | None] = {}
    """Digests of environment variables, because their values may be secret; None for a variable that is not set."""
    days: dict[str, bool] = {}  # Whether these days, as `YYYY-MM-DD`, are over.
    faults: dict[str, str] = {}  # Why a path could not be read although it exists.
    unsteady: dict[str, None] = {}  # Paths, other than folders, for which the answer changed during the run.
    settled: bool = True  # False if the answers can't be checked later, because one was a fault or two differed.

    def note_stamp(self, stamps: dict[str, FileStamp], path: str, stamp: FileStamp) -> None:
        was = stamps.get(path)
        if was is not None and not was.agrees(stamp):
            self._unsettle(stamps, path)
        stamps[path] = stamp

    def note_answer(self, answers: dict[str, Answer], question: str, answer: Answer) -> Answer:
        if answers.setdefault(question, answer) != answer:
            self._unsettle(answers, question)
        return answer

    def _unsettle(self, answers: object, path: str) -> None:
        self.settled = False
        # A folder changes with every file that is written into it.
        if answers is not self.folders:
            self.unsteady[path] = None

    def merge(self, other: TreeRecord) -> None:
        for stamps, more in ((self.files, other.files), (self.folders, other.folders)):
            for path in stamps.keys() & more.keys():
                if not stamps[path].agrees(more[path]):
                    self._unsettle(stamps, path)
        for answers, others in zip(self._list_answers(), other._list_answers(), strict=True):
            for question in answers.keys() & others.keys():
                if answers[question] != others[question]:
                    self._unsettle(answers, question)
        if not self.unlisted.keys().isdisjoint(other.folders):
            self.settled = False
        self.update(other)
        self.unsteady.update(other.unsteady)
        self.settled = self.settled and other.settled

    def update(self, other: TreeRecord) -> None:
        for answers, others in zip(self._list_all(), other._list_all(), strict=True):
            answers.update(others)
        for folder in other.folders:
            self.unlisted.pop(folder, None)

    def copy(self) -> TreeRecord:
        return TreeRecord(**{name: copy(getattr(self, name)) for name in self.__struct_fields__})

    def contains(self, path: str) -> bool:
        return any(path in answers for answers in self._list_all() if answers is not self.folders)

    def select(self, paths: Collection[str]) -> TreeRecord:
        found = TreeRecord()
        for answers, own in zip(found._list_all(), self._list_all(), strict=True):
            answers.update({path: own[path] for path in paths if path in own})
        return found

    def _list_answers(self) -> tuple[dict[str, Any], ...]:
        return self.regular, self.present, self.links, self.identities, self.variables, self.days

    def _list_all(self) -> tuple[dict[str, Any], ...]:
        more = self.files, self.folders, self.absent, self.unlisted, self.faults
        return *self._list_answers(), *more


def encode_listing(entries: Iterable[TreeEntry]) -> bytes:
    kinds = ((entry.name, entry.is_symlink(), not entry.is_symlink() and entry.is_dir()) for entry in entries)
    return os.fsencode("\n".join(sorted(f"{name}/{is_link:d}{is_folder:d}" for name, is_link, is_folder in kinds)))


class FileContent(NamedTuple):
    data: bytes
    info: os.stat_result


class FileChangedError(UnreadableError):
    def __init__(self, path: str, look: FileContent) -> None:
        super().__init__("the file changed while it was being read", path=path)
        self.look = look


class RecordedTree:
    def __init__(self, disk: DiskTree, now: int | None = None, pinned: Mapping[str, FileContent] | None = None) -> None:
        """`pinned` maps files to content that replaces what is on disk; without `pinned`, the run never restarts."""
        self.disk = disk
        self.pinned = pinned or {}
        self._can_restart = pinned is not None
        self.now = time.time_ns() if now is None else now
        self.record = TreeRecord()
        self.seen: dict[str, FileStamp | None] = {}
        """The stamp of each file that was read; None if the file changed between two reads."""
        self.written: set[str] = set()  # The files that this run wrote.

    @contextmanager
    def recording(self) -> Iterator[TreeRecord]:
        around, inner = self.record, TreeRecord()
        self.record = inner
        try:
            yield inner
        finally:
            self.record = around
            around.merge(inner)

    def read(self, path: str) -> bytes:
        try:
            return self._load(path).data
        except UnreadableError as error:
            self._note_failure(path, error, self.record.absent)
            raise

    def read_again(self, path: str) -> bytes:
        content = self._load(path)
        if self.seen[path] is None and self._can_restart:
            raise FileChangedError(path, content)
        return content.data

    def _load(self, path: str) -> FileContent:
        content = self.pinned.get(path) or FileContent(*self.disk.read_with_status(path))
        digest = digest_content(content.data) if is_fresh(content.info, self.now) else b""
        self._note_stamp(path, make_file_stamp(content.info, digest))
        return content

    def _note_stamp(self, path: str, stamp: FileStamp) -> None:
        was = self.seen.setdefault(path, stamp)
        if was is not stamp and not (was and was.agrees(stamp)):
            self.seen[path] = None
        self.record.note_stamp(self.record.files, path, stamp)

    def is_file(self, path: str) -> bool:
        return self.record.note_answer(self.record.regular, path, self.disk.is_file(path))

    def exists(self, path: str) -> bool:
        return self.record.note_answer(self.record.present, path, self.disk.exists(path))

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        if self.disk.is_own(folder):
            return
        try:
            info = self.disk.status(folder)
            found = list(self.disk.entries(folder))
        except UnreadableError as error:
            if self._note_failure(folder, error, self.record.unlisted):
                return
            raise
        stamp = make_file_stamp(info, digest_content(encode_listing(found)) if is_fresh(info, self.now) else b"")
        self.record.note_stamp(self.record.folders, folder, stamp)
        start = f"{folder}/" if folder and not folder.endswith("/") else folder
        for entry in found:
            yield _LinkEntry(entry.name, entry, start + entry.name, self.record) if entry.is_symlink() else entry

    def identity(self, folder: str) -> object:
        try:
            info = self.disk.status(folder)
        except UnreadableError as error:
            self._note_failure(folder, error, self.record.absent)
            raise
        return self.record.note_answer(self.record.identities, folder, (info.st_dev, info.st_ino))

    def _note_failure(self, path: str, error: UnreadableError, absences: dict[str, None]) -> bool:
        absent = isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
        if absent:
            absences[path] = None
        else:
            self.record.faults[path] = find_read_fault(self.disk, path)
            self.record.settled = False
        return absent

    def recall_stamp(self, path: str, stamp: FileStamp) -> FileStamp | None:
        found = self.compare_stamp(path, stamp)
        if found is not None:
            self._note_stamp(path, found)
        return found

    def compare_stamp(self, path: str, stamp: FileStamp) -> FileStamp | None:
        """If a file is unchanged, return its current stamp without recording a read; otherwise return None."""
        pin = self.pinned.get(path)
        try:
            info = pin.info if pin else os.stat(self.disk.at(path))
        except (OSError, ValueError):
            return None
        if not stamp.looks_like(info):
            return None
        if not stamp.digest:
            return stamp
        try:
            data, info = pin or self.disk.read_with_status(path)
        except UnreadableError:
            return None
        if not stamp.looks_like(info) or digest_content(data) != stamp.digest:
            return None
        return make_file_stamp(info, stamp.digest if is_fresh(info, self.now) else b"")

    def note_written(self, path: str, content: bytes) -> FileStamp | None:
        """`content` is the digest of what was written."""
        self.written.add(path)
        try:
            info = os.stat(self.disk.at(path))
        except (OSError, ValueError):
            info = None
        if info is None or not stat.S_ISREG(info.st_mode):
            self.record.settled = False
            return None
        # The times alone can't show whether another process wrote to it a moment later.
        stamp = make_file_stamp(info, content)
        self._note_stamp(path, stamp)
        self._correct_answers(path, there=True)
        return stamp

    def note_removed(self, path: str) -> None:
        self.record.files.pop(path, None)
        self.seen.pop(path, None)
        self._correct_answers(path, there=False)

    def _correct_answers(self, path: str, *, there: bool) -> None:
        record = self.record
        asked = [answers for answers in (record.present, record.regular) if path in answers]
        if path in record.absent or any(answers[path] is not there for answers in asked):
            record.settled = False
        record.absent.pop(path, None)
        record.unsteady.pop(path, None)
        for answers in asked:
            answers[path] = there


class _LinkEntry(Struct, frozen=True):
    name: str
    entry: TreeEntry
    path: str
    record: TreeRecord

    def is_dir(self) -> bool:
        found = False
        try:
            found = self.entry.is_dir()
        finally:
            self.record.note_answer(self.record.links, self.path, found)
        return found

    def is_symlink(self) -> bool:
        return True


class RecordedEnvironment(Mapping[str, str]):
    def __init__(self, environ: Mapping[str, str], tree: RecordedTree) -> None:
        self.plain = environ
        self.tree = tree

    def __getitem__(self, name: str) -> str:
        self.tree.record.variables[name] = digest_variable(self.plain, name)
        return self.plain[name]

    def __iter__(self) -> Iterator[str]:
        self.tree.record.settled = False
        return iter(self.plain)

    def __len__(self) -> int:
        return len(self.plain)


def digest_variable(environ: Mapping[str, str], name: str) -> bytes | None:
    # The value may be secret, and the record is stored.
    value = environ.get(name)
    return None if value is None else digest_content(value.encode(errors="surrogateescape"))


def check_unchanged(record: TreeRecord, tree: RecordedTree) -> TreeRecord | None:
    """Return the record, without unneeded digests, if its answers about files are unchanged; otherwise None."""
    if not record.settled:
        return None
    files: dict[str, FileStamp] = {}
    folders: dict[str, FileStamp] = {}
    at, stat = tree.disk.at, os.stat
    try:
        for path, stamp in record.files.items():
            if stamp.digest:
                found = tree.compare_stamp(path, stamp)
                if found is None:
                    return None
                if not found.digest:
                    files[path] = found
            elif not stamp.looks_like(stat(at(path))):
                return None
    except (OSError, ValueError):
        return None
    for path, stamp in record.folders.items():
        found = _compare_folder(path, stamp, tree)
        if found is None:
            return None
        if found is not stamp:
            folders[path] = found
    if any(_is_there(tree.disk, path) for path in record.unlisted):
        return None
    if any(True for _ in _find_other_changes(record, tree.disk)):
        return None
    if not files and not folders:
        return record
    return replace(record, files=record.files | files, folders=record.folders | folders)


def _compare_folder(path: str, stamp: FileStamp, tree: RecordedTree) -> FileStamp | None:
    try:
        info = tree.disk.status(path)
        if not stamp.looks_like(info):
            return None
        if stamp.digest and digest_content(encode_listing(tree.disk.entries(path))) != stamp.digest:
            return None
    except UnreadableError:
        return None
    return make_file_stamp(info) if stamp.digest and not is_fresh(info, tree.now) else stamp


def find_altered_paths(record: TreeRecord, tree: RecordedTree) -> Iterator[str]:
    """Yield paths whose recorded answers changed; folder entries, variables and days are not compared."""
    yield from (path for path, stamp in record.files.items() if tree.compare_stamp(path, stamp) is None)
    yield from record.unsteady
    yield from _find_other_changes(record, tree.disk)


def find_refilled_folders(record: TreeRecord, tree: RecordedTree) -> Iterator[str]:
    yield from (path for path in record.unlisted if _is_there(tree.disk, path))
    yield from (path for path, stamp in record.folders.items() if _compare_folder(path, stamp, tree) is None)


def _find_other_changes(record: TreeRecord, disk: DiskTree) -> Iterator[str]:
    yield from (path for path in record.absent if _is_there(disk, path))
    yield from (path for path, answer in record.regular.items() if disk.is_file(path) != answer)
    yield from (path for path, answer in record.present.items() if disk.exists(path) != answer)
    yield from (path for path, answer in record.links.items() if os.path.isdir(disk.at(path)) != answer)
    yield from (path for path, answer in record.identities.items() if _find_identity(disk, path) != answer)
    yield from (path for path, answer in record.faults.items() if find_read_fault(disk, path) != answer)


def _is_there(disk: DiskTree, path: str) -> bool:
    """Return False only if a path certainly doesn't exist, because a fault may hide a file."""
    try:
        disk.status(path)
    except UnreadableError as error:
        return not isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
    return True


def _find_identity(disk: DiskTree, path: str) -> object:
    with suppress(UnreadableError):
        return disk.identity(path)
    return None
