"""Records of what a run asked of a tree and of the environment, with the stamps of the files it read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from copy import copy
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.tree.files import TreeEntry

_CLOSE_BY = 2_000_000_000
"""Nanoseconds within which a second change may leave the times as they are: FAT counts in twos of seconds."""
_TIMES_TELL = os.name != "nt"
"""Windows tells when a file was made, not when it was changed last in any way: its content has to tell."""


class FileStamp(Struct, frozen=True, array_like=True, gc=False):
    """The marks of a file or folder; with a digest of what is in it where the times alone prove nothing."""

    size: int
    modified: int
    changed: int
    inode: int
    digest: bytes = b""

    def looks_like(self, info: os.stat_result) -> bool:
        """Whether all marks but the digest are those of the file now."""
        return (
            self.modified == info.st_mtime_ns
            and self.changed == info.st_ctime_ns
            and self.size == info.st_size
            and self.inode == info.st_ino
        )

    def agrees(self, other: FileStamp) -> bool:
        """Whether both may be looks at one and the same state."""
        known = self.digest and other.digest
        return self == (other if known else replace(other, digest=self.digest))


def make_file_stamp(info: os.stat_result, digest: bytes = b"") -> FileStamp:
    """The marks that a file or folder has now."""
    return FileStamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, digest)


def is_fresh(info: os.stat_result, now: int) -> bool:
    """Whether it changed so lately, or in the future, that it may change once more and look the same."""
    ##= man/spec/cache.md#freshness
    ##% duvet MUST compare the content of a file that changed less than two seconds before it was read, or later.
    return not _TIMES_TELL or max(info.st_mtime_ns, info.st_ctime_ns) > now - _CLOSE_BY


def digest_content(data: bytes | memoryview) -> bytes:
    """A short name for the content."""
    from blake3 import blake3

    return blake3(data).digest()


Answer = TypeVar("Answer")


class TreeRecord(Struct, array_like=True):
    """Questions with their answers; the work comes to the same result while the answers are the same."""

    files: dict[str, FileStamp] = {}
    """Files that were read."""
    folders: dict[str, FileStamp] = {}
    """Folders that were listed."""
    absent: dict[str, None] = {}
    """What was to be read, and was not there."""
    unlisted: dict[str, None] = {}
    """Folders that were to be listed, and were not there."""
    regular: dict[str, bool] = {}
    """Whether a regular file is there."""
    present: dict[str, bool] = {}
    """Whether anything is there."""
    links: dict[str, bool] = {}
    """Whether a link leads to a folder."""
    identities: dict[str, tuple[int, int]] = {}
    variables: dict[str, bytes | None] = {}
    """Variables of the environment: digests, for values may be secret, and None where one is not set."""
    days: dict[str, bool] = {}
    """Whether these days, as `YYYY-MM-DD`, are over."""
    faults: dict[str, str] = {}
    """What could not be read for another reason than being absent, and why."""
    unsteady: dict[str, None] = {}
    """What changed between two looks at it, but for folders."""
    settled: bool = True
    """False where no later state of the tree is sure to give the same answers: one was a fault, or two differed."""

    def look(self, looks: dict[str, FileStamp], path: str, seen: FileStamp) -> None:
        """Note what a file or folder looks like."""
        was = looks.get(path)
        if was is not None and not was.agrees(seen):
            ##= man/spec/cache.md#freshness
            ##% duvet MUST NOT store an answer that involved a failure, such as an unreadable file, or an input that
            ##% changed during the run.
            self._waver(looks, path)
        looks[path] = seen

    def hear(self, answers: dict[str, Answer], question: str, answer: Answer) -> Answer:
        """Note an answer, and hand it on."""
        if answers.setdefault(question, answer) != answer:
            self._waver(answers, question)
        return answer

    def _waver(self, answers: object, path: str) -> None:
        self.settled = False
        # Folders change with every file that is written into them.
        if answers is not self.folders:
            self.unsteady[path] = None

    def add(self, other: TreeRecord) -> None:
        """Take in what another piece of work asked."""
        for looks, more in ((self.files, other.files), (self.folders, other.folders)):
            for path in looks.keys() & more.keys():
                if not looks[path].agrees(more[path]):
                    self._waver(looks, path)
        for answers, others in zip(self._answers(), other._answers(), strict=True):
            for question in answers.keys() & others.keys():
                if answers[question] != others[question]:
                    self._waver(answers, question)
        if not self.unlisted.keys().isdisjoint(other.folders):
            self.settled = False
        self.renew(other)
        self.unsteady.update(other.unsteady)
        self.settled = self.settled and other.settled

    def renew(self, other: TreeRecord) -> None:
        """Put the answers that another piece of work heard in the place of earlier ones."""
        for answers, others in zip(self._all(), other._all(), strict=True):
            answers.update(others)
        for folder in other.folders:
            self.unlisted.pop(folder, None)

    def copy(self) -> TreeRecord:
        """The same questions and answers, to which others can be added."""
        return TreeRecord(**{name: copy(getattr(self, name)) for name in self.__struct_fields__})

    def knows(self, path: str) -> bool:
        """Whether anything was asked about this path, but for what it holds as a folder."""
        return any(path in answers for answers in self._all() if answers is not self.folders)

    def about(self, paths: Collection[str]) -> TreeRecord:
        """What was asked about these paths."""
        found = TreeRecord()
        for answers, own in zip(found._all(), self._all(), strict=True):
            answers.update({path: own[path] for path in paths if path in own})
        return found

    def _answers(self) -> tuple[dict[str, Any], ...]:
        return self.regular, self.present, self.links, self.identities, self.variables, self.days

    def _all(self) -> tuple[dict[str, Any], ...]:
        more = self.files, self.folders, self.absent, self.unlisted, self.faults
        return *self._answers(), *more


def encode_listing(entries: Iterable[TreeEntry]) -> bytes:
    """The names in a folder, as one text to take a digest of."""
    names = sorted(f"{entry.name}/{entry.is_symlink():d}{_is_real_folder(entry):d}" for entry in entries)
    return os.fsencode("\n".join(names))


def _is_real_folder(entry: TreeEntry) -> bool:
    return not entry.is_symlink() and entry.is_dir()
