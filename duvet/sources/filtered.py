"""A tree without some of its paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from duvet.tree.protocol import Entry, Tree, is_folder

Hides = Callable[[str, bool], object]
"""Whether a path, a folder or not, is left out; what is in a folder that is left out has to be, too."""


class FilteredTree:
    """Another tree, less the paths that are hidden."""

    def __init__(self, tree: Tree, hides: Hides) -> None:
        self.tree = tree
        self.hides = hides

    def read(self, path: str) -> bytes:
        return self.tree.read(path)

    def is_file(self, path: str) -> bool:
        return self.tree.is_file(path) and not self.hides(path, False)

    def exists(self, path: str) -> bool:
        return self.tree.exists(path) and not self.hides(path, False)

    def entries(self, folder: str) -> Iterator[Entry]:
        start = f"{folder}/" if folder and not folder.endswith("/") else folder
        for entry in self.tree.entries(folder):
            if not self.hides(start + entry.name, is_folder(entry)):
                yield entry

    def identity(self, folder: str) -> object:
        return self.tree.identity(folder)
