"""The reading protocol: every input of a trace comes through a Tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

IS_FOLDER = "Is a directory (os error 21)"
"""What is said where a file is wanted and a folder stands."""


class Entry(Protocol):
    """A name in a folder; os.DirEntry is one."""

    @property
    def name(self) -> str:
        """The last part of the path."""

    def is_dir(self) -> bool:
        """Whether it is a folder, or a link to one."""

    def is_symlink(self) -> bool:
        """Whether it is a link."""


def is_folder(entry: Entry) -> bool:
    """Whether it is a folder or a link to one; what can't be told is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


class Tree(Protocol):
    """Files below a root. Paths are relative to the root, or absolute, with forward slashes."""

    def read(self, path: str) -> bytes:
        """The bytes of a regular file; UnreadableError where there is none."""

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there."""

    def exists(self, path: str) -> bool:
        """Whether anything is there, be it a link that leads nowhere."""

    def entries(self, folder: str) -> Iterator[Entry]:
        """What a folder holds, in no order; nothing where there is no folder."""

    def identity(self, folder: str) -> object:
        """What two paths to one folder have in common, to see loops."""
