"""What a piece of work asked of a tree and of the environment, and what it heard."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from duvet.tree.protocol import Entry
from duvet.tree.seen import Seen


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
    """False where an answer was a fault, which may be gone the next time."""

    def add(self, other: Record) -> None:
        """Take in what another piece of work asked."""
        self.files.update(other.files)
        self.folders.update(other.folders)
        self.absent.update(other.absent)
        self.regular.update(other.regular)
        self.present.update(other.present)
        self.links.update(other.links)
        self.identities.update(other.identities)
        self.variables.update(other.variables)
        self.settled = self.settled and other.settled


def listing(entries: Iterable[Entry]) -> bytes:
    """The names in a folder, as one text to take a digest of."""
    names = sorted(f"{entry.name}/{entry.is_symlink():d}{_is_real_folder(entry):d}" for entry in entries)
    return os.fsencode("\n".join(names))


def _is_real_folder(entry: Entry) -> bool:
    return not entry.is_symlink() and entry.is_dir()
