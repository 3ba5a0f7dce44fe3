"""A tree that keeps account of what is asked of it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree, fault
from duvet.tree.protocol import Entry
from duvet.tree.record import Record, listing
from duvet.tree.seen import Seen, digest, is_fresh, marks


class Look(NamedTuple):
    """What a file held and looked like at one moment."""

    data: bytes
    info: os.stat_result


class ChangedError(UnreadableError):
    """A file that was read is another by now."""

    def __init__(self, path: str, look: Look) -> None:
        super().__init__("it has changed meanwhile", path=path)
        self.look = look


class RecordedTree:
    """The files on disk, with a record of every question and its answer."""

    def __init__(self, disk: DiskTree, now: int | None = None, pinned: Mapping[str, Look] | None = None) -> None:
        """Files that are pinned are as they were at that moment, whatever becomes of them.

        Where nothing can be pinned, nobody can begin anew with it, and what has changed is read as it is.
        """
        self.disk = disk
        self.pinned = pinned or {}
        self._begins_anew = pinned is not None
        self.now = time.time_ns() if now is None else now
        self.record = Record()
        self.seen: dict[str, Seen | None] = {}
        """What each file looked like when it was read, whoever asked; None where it changed from one time to the next."""
        self.written: set[str] = set()
        """The files that were written in between."""

    @contextmanager
    def recording(self) -> Iterator[Record]:
        """A record of its own for a piece of work; what surrounds it has asked all of that, too."""
        around, inner = self.record, Record()
        self.record = inner
        try:
            yield inner
        finally:
            self.record = around
            around.add(inner)

    def read(self, path: str) -> bytes:
        try:
            data, info = self._look(path)
        except UnreadableError as error:
            self._missed(path, error, self.record.absent)
            raise
        self._saw(path, marks(info, digest(data) if is_fresh(info, self.now) else b""))
        return data

    def read_again(self, path: str) -> bytes:
        """What was read before; ChangedError with what is there now, where that is something else."""
        look = self._look(path)
        self._saw(path, marks(look.info, digest(look.data) if is_fresh(look.info, self.now) else b""))
        if self.seen[path] is None and self._begins_anew:
            raise ChangedError(path, look)
        return look.data

    def _look(self, path: str) -> Look:
        return self.pinned.get(path) or Look(*self.disk.read_with_marks(path))

    def _saw(self, path: str, seen: Seen) -> None:
        was = self.seen.setdefault(path, seen)
        if was is not seen and not (was and was.agrees(seen)):
            self.seen[path] = None
        self.record.look(self.record.files, path, seen)

    def is_file(self, path: str) -> bool:
        return self.record.hear(self.record.regular, path, self.disk.is_file(path))

    def exists(self, path: str) -> bool:
        return self.record.hear(self.record.present, path, self.disk.exists(path))

    def entries(self, folder: str) -> Iterator[Entry]:
        if self.disk.is_own(folder):
            return
        try:
            info = self.disk.marks(folder)
            found = list(self.disk.entries(folder))
        except UnreadableError as error:
            if self._missed(folder, error, self.record.unlisted):
                return
            raise
        seen = marks(info, digest(listing(found)) if is_fresh(info, self.now) else b"")
        self.record.look(self.record.folders, folder, seen)
        start = f"{folder}/" if folder and not folder.endswith("/") else folder
        for entry in found:
            yield _Link(entry, start + entry.name, self.record) if entry.is_symlink() else entry

    def identity(self, folder: str) -> object:
        try:
            info = self.disk.marks(folder)
        except UnreadableError as error:
            self._missed(folder, error, self.record.absent)
            raise
        return self.record.hear(self.record.identities, folder, (info.st_dev, info.st_ino))

    def _missed(self, path: str, error: UnreadableError, absences: dict[str, None]) -> bool:
        """Whether nothing is there; any other fault may be gone the next time."""
        absent = isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError))
        if absent:
            absences[path] = None
        else:
            self.record.faults[path] = fault(self.disk, path)
            self.record.settled = False
        return absent

    def still(self, path: str, seen: Seen) -> Seen | None:
        """The marks of a file that is what it was when it looked like that, as if it was read; None for any other."""
        found = self.compared(path, seen)
        if found is not None:
            self._saw(path, found)
        return found

    def compared(self, path: str, seen: Seen) -> Seen | None:
        """The same without an entry on the record."""
        pin = self.pinned.get(path)
        try:
            info = pin.info if pin else os.stat(self.disk.at(path))
        except (OSError, ValueError):
            return None
        if not seen.looks_like(info):
            return None
        return self._content_compared(path, seen) if seen.digest else seen

    def wrote(self, path: str, content: bytes) -> Seen | None:
        """The marks of a file that holds content with this digest now; the result stands only while it does."""
        self.written.add(path)
        try:
            info = os.stat(self.disk.at(path))
        except (OSError, ValueError):
            info = None
        if info is None or not stat.S_ISREG(info.st_mode):
            self.record.settled = False
            return None
        # The times alone don't tell whether somebody else wrote to it a moment later.
        seen = marks(info, content)
        self._saw(path, seen)
        self._answers(path, there=True)
        return seen

    def removed(self, path: str) -> None:
        """A file that was read is gone, and the result would be the same without it."""
        self.record.files.pop(path, None)
        self.seen.pop(path, None)
        self._answers(path, there=False)

    def _answers(self, path: str, *, there: bool) -> None:
        """Whoever asked before whether this file is there would hear that now, and has no reason to ask again."""
        record = self.record
        asked = [answers for answers in (record.present, record.regular) if path in answers]
        ##= man/spec/cache.md#freshness
        ##% An answer MUST NOT be kept where an input changed between two looks at it.
        if path in record.absent or any(answers[path] is not there for answers in asked):
            record.settled = False
        record.absent.pop(path, None)
        record.unsteady.pop(path, None)
        for answers in asked:
            answers[path] = there

    def _content_compared(self, path: str, seen: Seen) -> Seen | None:
        """The marks as they are now, if the content is the same."""
        try:
            data, info = self._look(path)
        except UnreadableError:
            return None
        if not seen.looks_like(info) or digest(data) != seen.digest:
            return None
        return marks(info, seen.digest if is_fresh(info, self.now) else b"")


class _Link:
    """A link in a folder: whether it leads to a folder is a question of its own."""

    def __init__(self, entry: Entry, path: str, record: Record) -> None:
        self.name = entry.name
        self._entry = entry
        self._path = path
        self._record = record

    def is_dir(self) -> bool:
        found = False
        try:
            found = self._entry.is_dir()
        finally:
            self._record.hear(self._record.links, self._path, found)
        return found

    def is_symlink(self) -> bool:
        return True
