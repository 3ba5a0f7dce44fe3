"""Records of what a run asked of a tree and of the environment, with the stamps of the files it read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from duvet.tree.files import TreeEntry


_CLOSE_BY = 2_000_000_000
"""Nanoseconds within which a second change may leave the times as they are: FAT counts in steps of two seconds."""
_TIMES_TELL = os.name != "nt"
"""False on Windows, which reports when a file was made, not when it last changed: its content is compared."""


class FileStamp(Struct, frozen=True, array_like=True, gc=False):
    """The status of a file or folder; with a digest of its content if the times alone prove nothing."""

    size: int
    modified: int
    changed: int
    inode: int
    digest: bytes = b""

    def looks_like(self, info: os.stat_result) -> bool:
        """Compare everything but the digest with the file's status now."""
        return (
            self.modified == info.st_mtime_ns
            and self.changed == info.st_ctime_ns
            and self.size == info.st_size
            and self.inode == info.st_ino
        )

    def agrees(self, other: FileStamp) -> bool:
        """Check whether both may describe the same state."""
        known = self.digest and other.digest
        return self == (other if known else replace(other, digest=self.digest))


def make_file_stamp(info: os.stat_result, digest: bytes = b"") -> FileStamp:
    """Return the stamp of a file with this status."""
    return FileStamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, digest)


def is_fresh(info: os.stat_result, now: int) -> bool:
    """Check whether a file changed so recently, or in the future, that another change may look the same."""
    ##= man/spec/cache.md#freshness
    ##% duvet MUST compare the content of a file that changed less than two seconds before it was read, or later.
    return not _TIMES_TELL or max(info.st_mtime_ns, info.st_ctime_ns) > now - _CLOSE_BY


def digest_content(data: bytes | memoryview) -> bytes:
    from blake3 import blake3

    return blake3(data).digest()


Answer = TypeVar("Answer")


class TreeRecord(Struct, array_like=True):
    """Questions with their answers; work has the same result while all answers are the same."""

    files: dict[str, FileStamp] = {}
    """Files that were read."""
    folders: dict[str, FileStamp] = {}
    """Folders that were listed."""
    absent: dict[str, None] = {}
    """Files that were to be read and did not exist."""
    unlisted: dict[str, None] = {}
    """Folders that were to be listed and did not exist."""
    regular: dict[str, bool] = {}
    """Whether the path is a regular file."""
    present: dict[str, bool] = {}
    """Whether anything has the path."""
    links: dict[str, bool] = {}
    """Whether a link leads to a folder."""
    identities: dict[str, tuple[int, int]] = {}
    variables: dict[str, bytes | None] = {}
    """Digests of environment variables, whose values may be secret; None if one is not set."""
    days: dict[str, bool] = {}
    """Whether these days, as `YYYY-MM-DD`, are over."""
    faults: dict[str, str] = {}
    """Why a path could not be read, other than by being absent."""
    unsteady: dict[str, None] = {}
    """Paths other than folders whose answer changed during the run."""
    settled: bool = True
    """False if no later state of the tree is sure to give the same answers: one was a fault, or two differed."""

    def note_stamp(self, stamps: dict[str, FileStamp], path: str, stamp: FileStamp) -> None:
        """Record the stamp of a file or folder."""
        was = stamps.get(path)
        if was is not None and not was.agrees(stamp):
            ##= man/spec/cache.md#freshness
            ##% duvet MUST NOT store an answer that involved a failure, such as an unreadable file, or an input that
            ##% changed during the run.
            self._unsettle(stamps, path)
        stamps[path] = stamp

    def note_answer(self, answers: dict[str, Answer], question: str, answer: Answer) -> Answer:
        """Record an answer, and return it."""
        if answers.setdefault(question, answer) != answer:
            self._unsettle(answers, question)
        return answer

    def _unsettle(self, answers: object, path: str) -> None:
        self.settled = False
        # Folders change with every file that is written into them.
        if answers is not self.folders:
            self.unsteady[path] = None

    def merge(self, other: TreeRecord) -> None:
        """Add the questions of another piece of work."""
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
        """Replace earlier answers by those of another piece of work."""
        for answers, others in zip(self._list_all(), other._list_all(), strict=True):
            answers.update(others)
        for folder in other.folders:
            self.unlisted.pop(folder, None)

    def copy(self) -> TreeRecord:
        """Return a copy, to which other questions can be added."""
        return TreeRecord(**{name: copy(getattr(self, name)) for name in self.__struct_fields__})

    def contains(self, path: str) -> bool:
        """Check whether anything was asked about this path, apart from its entries as a folder."""
        return any(path in answers for answers in self._list_all() if answers is not self.folders)

    def select(self, paths: Collection[str]) -> TreeRecord:
        """Return the questions about these paths."""
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
    """Return the names and kinds in a folder as bytes to digest."""
    kinds = ((entry.name, entry.is_symlink(), not entry.is_symlink() and entry.is_dir()) for entry in entries)
    return os.fsencode("\n".join(sorted(f"{name}/{is_link:d}{is_folder:d}" for name, is_link, is_folder in kinds)))
