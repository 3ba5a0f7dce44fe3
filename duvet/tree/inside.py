"""What is in a folder, whatever links lead to it."""

from __future__ import annotations

import os
import posixpath

from duvet.tree.disk import DiskTree


def leads_inside(root: str, path: str) -> bool:
    """Whether a path leads to a folder, or to something in it."""
    top, real = os.path.realpath(root), os.path.realpath(path)
    return real == top or real.startswith(os.path.join(top, ""))


class Inside:
    """Which paths of a disk lead into a folder; each folder around them is looked at once."""

    def __init__(self, root: str, disk: DiskTree) -> None:
        self.root = os.path.realpath(root)
        self.disk = disk
        self._folders: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Whether this path does."""
        at = self.disk.at(path)
        return self.has_folder(posixpath.dirname(path)) and not (os.path.islink(at) and not self._leads(path))

    def has_folder(self, folder: str) -> bool:
        """The same of a folder, be it a link."""
        if folder not in self._folders:
            self._folders[folder] = self._leads(folder)
        return self._folders[folder]

    def know(self, folder: str) -> None:
        """Take it that this folder is one of them."""
        self._folders[folder] = True

    def _leads(self, path: str) -> bool:
        return leads_inside(self.root, self.disk.at(path))
