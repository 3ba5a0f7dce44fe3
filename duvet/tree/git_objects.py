"""The objects of a git repository, read by one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.tree.git_command import Git

if TYPE_CHECKING:
    from subprocess import Popen

_FOLDER, _LINK, _SUBMODULE = "40000", "120000", "160000"


class Node(Struct, frozen=True):
    """A name in a folder of git: what it is, and the object that holds it."""

    mode: str
    object: str

    @property
    def is_link(self) -> bool:
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        return self.mode == _SUBMODULE

    @property
    def is_folder(self) -> bool:
        """A submodule is a folder; what is in it belongs to another repository."""
        return self.mode in (_FOLDER, _SUBMODULE)


class Objects:
    """Reads objects by their names; the process that does it ends with `close`, or with this one."""

    def __init__(self, git: Git, digest_size: int) -> None:
        self.git = git
        self.digest_size = digest_size
        """The bytes of the name of an object: 20, or 32 in a repository with SHA-256."""
        self._process: Popen[bytes] | None = None

    def read(self, name: str) -> bytes | None:
        """The bytes of an object; None where this clone lacks it."""
        process = self._process = self._process or self.git.open("cat-file", "--batch")
        assert process.stdin and process.stdout
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            # What it has said before it ended is not about this object.
            self.close()
            return None
        *_, size = process.stdout.readline().split() or [b"0"]
        if not size.isdigit():
            return None
        data = process.stdout.read(int(size) + 1)
        if len(data) > int(size):
            return data[:-1]
        # A clone without all objects can end the process.
        self.close()
        return None

    def nodes(self, data: bytes) -> Iterator[tuple[str, Node]]:
        """What a folder holds, by name."""
        start = 0
        while start < len(data):
            blank = data.index(b" ", start)
            end = data.index(b"\0", blank)
            after = end + 1 + self.digest_size
            yield os.fsdecode(data[blank + 1 : end]), Node(data[start:blank].decode(), data[end + 1 : after].hex())
            start = after

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            # What it was about to say is of no interest any more.
            process.kill()
            process.communicate()
