"""A tree that records every question, and the check whether its answers are still the same."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from msgspec.structs import replace

from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree, TreeEntry, find_read_fault
from duvet.tree.record import FileStamp, TreeRecord, digest_content, encode_listing, is_fresh, make_file_stamp


class FileContent(NamedTuple):
    """The content and status of a file at one moment."""

    data: bytes
    info: os.stat_result


class FileChangedError(UnreadableError):
    """A file has changed since it was read."""

    def __init__(self, path: str, look: FileContent) -> None:
        super().__init__("it has changed meanwhile", path=path)
        self.look = look


class RecordedTree:
    """The files on disk, with a record of every question and its answer."""

    def __init__(self, disk: DiskTree, now: int | None = None, pinned: Mapping[str, FileContent] | None = None) -> None:
        """Files in `pinned` stay as they were; without it, no run restarts, and changed files are read as they are."""
        self.disk = disk
        self.pinned = pinned or {}
        self._can_restart = pinned is not None
        self.now = time.time_ns() if now is None else now
        self.record = TreeRecord()
        self.seen: dict[str, FileStamp | None] = {}
        """The stamp of each file that was read; None if it changed in between."""
        self.written: set[str] = set()
        """The files that the run itself has written."""

    @contextmanager
    def recording(self) -> Iterator[TreeRecord]:
        """Record a piece of work on its own; the surrounding record gets the same questions."""
        around, inner = self.record, TreeRecord()
        self.record = inner
        try:
            yield inner
        finally:
            self.record = around
            around.merge(inner)

    def read(self, path: str) -> bytes:
        try:
            content = self._load(path)
        except UnreadableError as error:
            self._note_failure(path, error, self.record.absent)
            raise
        self._note_content(path, content)
        return content.data

    def read_again(self, path: str) -> bytes:
        """Read a file once more; FileChangedError with its new content if that has changed."""
        content = self._load(path)
        self._note_content(path, content)
        if self.seen[path] is None and self._can_restart:
            raise FileChangedError(path, content)
        return content.data

    def _load(self, path: str) -> FileContent:
        return self.pinned.get(path) or FileContent(*self.disk.read_with_marks(path))

    def _note_content(self, path: str, content: FileContent) -> None:
        digest = digest_content(content.data) if is_fresh(content.info, self.now) else b""
        self._note_stamp(path, make_file_stamp(content.info, digest))

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
            info = self.disk.marks(folder)
            found = list(self.disk.entries(folder))
        except UnreadableError as error:
            if self._note_failure(folder, error, self.record.unlisted):
                return
            raise
        stamp = make_file_stamp(info, digest_content(encode_listing(found)) if is_fresh(info, self.now) else b"")
        self.record.note_stamp(self.record.folders, folder, stamp)
        start = f"{folder}/" if folder and not folder.endswith("/") else folder
        for entry in found:
            yield _LinkEntry(entry, start + entry.name, self.record) if entry.is_symlink() else entry

    def identity(self, folder: str) -> object:
        try:
            info = self.disk.marks(folder)
        except UnreadableError as error:
            self._note_failure(folder, error, self.record.absent)
            raise
        return self.record.note_answer(self.record.identities, folder, (info.st_dev, info.st_ino))

    def _note_failure(self, path: str, error: UnreadableError, absences: dict[str, None]) -> bool:
        """Return True if nothing is there; any other fault may be gone the next time."""
        absent = isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
        if absent:
            absences[path] = None
        else:
            self.record.faults[path] = find_read_fault(self.disk, path)
            self.record.settled = False
        return absent

    def recall_stamp(self, path: str, stamp: FileStamp) -> FileStamp | None:
        """Return the current stamp of a file that is unchanged, and record it as read; None for any other."""
        found = self.compare_stamp(path, stamp)
        if found is not None:
            self._note_stamp(path, found)
        return found

    def compare_stamp(self, path: str, stamp: FileStamp) -> FileStamp | None:
        """Return the current stamp of a file that is unchanged, without recording it."""
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
            data, info = self._load(path)
        except UnreadableError:
            return None
        if not stamp.looks_like(info) or digest_content(data) != stamp.digest:
            return None
        return make_file_stamp(info, stamp.digest if is_fresh(info, self.now) else b"")

    def note_written(self, path: str, content: bytes) -> FileStamp | None:
        """Return the stamp of a file with this digest; the result is valid only while the file stays so."""
        self.written.add(path)
        try:
            info = os.stat(self.disk.at(path))
        except (OSError, ValueError):
            info = None
        if info is None or not stat.S_ISREG(info.st_mode):
            self.record.settled = False
            return None
        # The times alone can't show that another process wrote to it a moment later.
        stamp = make_file_stamp(info, content)
        self._note_stamp(path, stamp)
        self._correct_answers(path, there=True)
        return stamp

    def note_removed(self, path: str) -> None:
        """Record that a file which was read is gone, and that the result would be the same without it."""
        self.record.files.pop(path, None)
        self.seen.pop(path, None)
        self._correct_answers(path, there=False)

    def _correct_answers(self, path: str, *, there: bool) -> None:
        """Update earlier answers about the existence of the file to those that a new run would get."""
        record = self.record
        asked = [answers for answers in (record.present, record.regular) if path in answers]
        if path in record.absent or any(answers[path] is not there for answers in asked):
            record.settled = False
        record.absent.pop(path, None)
        record.unsteady.pop(path, None)
        for answers in asked:
            answers[path] = there


class _LinkEntry:
    """A link in a folder, which records whether it leads to a folder."""

    def __init__(self, entry: TreeEntry, path: str, record: TreeRecord) -> None:
        self.name = entry.name
        self._entry = entry
        self._path = path
        self._record = record

    def is_dir(self) -> bool:
        found = False
        try:
            found = self._entry.is_dir()
        finally:
            self._record.note_answer(self._record.links, self._path, found)
        return found

    def is_symlink(self) -> bool:
        return True


class RecordedEnvironment(Mapping[str, str]):
    """Environment variables; those that are looked up are part of the tree's record."""

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
    """Return a digest of a variable, because its value may be secret; None if it is not set."""
    value = environ.get(name)
    return None if value is None else digest_content(value.encode(errors="surrogateescape"))


def check_unchanged(record: TreeRecord, tree: RecordedTree) -> TreeRecord | None:
    """Return the record if every answer about the tree is the same, less the digests that are no longer needed."""
    disk = tree.disk
    files = _renew_files(record.files, tree)
    folders = None if files is None else _renew_folders(record.folders, tree)
    if files is None or folders is None or not record.settled:
        return None
    if any(_is_there(disk, path) for path in record.unlisted) or any(True for _ in _find_other_changes(record, disk)):
        return None
    if files is record.files and folders is record.folders:
        return record
    return replace(record, files=files, folders=folders)


def _renew_files(files: dict[str, FileStamp], tree: RecordedTree) -> dict[str, FileStamp] | None:
    renewed: dict[str, FileStamp] = {}
    at, compare = tree.disk.at, tree.compare_stamp
    stat = os.stat
    try:
        for path, stamp in files.items():
            if stamp.digest:
                found = compare(path, stamp)
                if found is None:
                    return None
                if not found.digest:
                    renewed[path] = found
            elif not stamp.looks_like(stat(at(path))):
                return None
    except (OSError, ValueError):
        return None
    return {**files, **renewed} if renewed else files


def _renew_folders(folders: dict[str, FileStamp], tree: RecordedTree) -> dict[str, FileStamp] | None:
    renewed: dict[str, FileStamp] = {}
    for path, stamp in folders.items():
        found = _compare_folder(path, stamp, tree)
        if found is None:
            return None
        if found is not stamp:
            renewed[path] = found
    return {**folders, **renewed} if renewed else folders


def _compare_folder(path: str, stamp: FileStamp, tree: RecordedTree) -> FileStamp | None:
    """Return the current stamp of a folder with the same entries; None for any other."""
    try:
        info = tree.disk.marks(path)
        if not stamp.looks_like(info):
            return None
        if stamp.digest and digest_content(encode_listing(tree.disk.entries(path))) != stamp.digest:
            return None
    except UnreadableError:
        return None
    return make_file_stamp(info) if stamp.digest and not is_fresh(info, tree.now) else stamp


def find_altered_paths(record: TreeRecord, tree: RecordedTree) -> Iterator[str]:
    """Yield the paths with other answers now; the entries of folders and variables are not compared."""
    yield from (path for path, stamp in record.files.items() if tree.compare_stamp(path, stamp) is None)
    yield from record.unsteady
    yield from _find_other_changes(record, tree.disk)


def find_refilled_folders(record: TreeRecord, tree: RecordedTree) -> Iterator[str]:
    """Yield the folders whose entries may differ."""
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
    """Check for anything but a plain absence; a fault may hide a file."""
    try:
        disk.marks(path)
    except UnreadableError as error:
        return not isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
    return True


def _find_identity(disk: DiskTree, path: str) -> object:
    with suppress(UnreadableError):
        return disk.identity(path)
    return None
