"""What a piece of work asked of a tree and of the environment, and what it heard."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import Struct

from duvet.tree.protocol import Entry
from duvet.tree.seen import Seen

Answer = TypeVar("Answer")


class Record(Struct, array_like=True):
    """Questions with their answers; the work comes to the same result while the answers are the same."""

    files: dict[str, Seen] = {}
    """Files that were read."""
    folders: dict[str, Seen] = {}
    """Folders that were listed."""
    absent: dict[str, None] = {}
    """What was to be read or listed, and was not there."""
    regular: dict[str, bool] = {}
    """Whether a regular file is there."""
    present: dict[str, bool] = {}
    """Whether anything is there."""
    links: dict[str, bool] = {}
    """Whether a link leads to a folder."""
    identities: dict[str, tuple[int, int]] = {}
    variables: dict[str, bytes | None] = {}
    """Variables of the environment: digests, for values may be secret, and None where one is not set."""
    settled: bool = True
    """False where no later state of the tree is sure to give the same answers: one was a fault, or two differed."""

    def look(self, looks: dict[str, Seen], path: str, seen: Seen) -> None:
        """Note what a file or folder looks like."""
        was = looks.get(path)
        if was is not None and not was.agrees(seen):
            ##= man/spec/cache.md#freshness
            ##% An answer MUST NOT be kept where an input changed between two looks at it.
            self.settled = False
        looks[path] = seen

    def hear(self, answers: dict[str, Answer], question: str, answer: Answer) -> Answer:
        """Note an answer, and hand it on."""
        if answers.setdefault(question, answer) != answer:
            ##= man/spec/cache.md#freshness
            ##% An answer MUST NOT be kept where an input changed between two looks at it.
            self.settled = False
        return answer

    def add(self, other: Record) -> None:
        """Take in what another piece of work asked."""
        for looks, more in ((self.files, other.files), (self.folders, other.folders)):
            both = looks.keys() & more.keys()
            self.settled = self.settled and all(looks[path].agrees(more[path]) for path in both)
            looks.update(more)
        self.absent.update(other.absent)
        for answers, others in zip(self._answers(), other._answers(), strict=True):
            both = answers.keys() & others.keys()
            self.settled = self.settled and all(answers[question] == others[question] for question in both)
            answers.update(others)
        self.settled = self.settled and other.settled

    def _answers(self) -> tuple[dict[str, Any], ...]:
        return self.regular, self.present, self.links, self.identities, self.variables


def listing(entries: Iterable[Entry]) -> bytes:
    """The names in a folder, as one text to take a digest of."""
    names = sorted(f"{entry.name}/{entry.is_symlink():d}{_is_real_folder(entry):d}" for entry in entries)
    return os.fsencode("\n".join(names))


def _is_real_folder(entry: Entry) -> bool:
    return not entry.is_symlink() and entry.is_dir()
