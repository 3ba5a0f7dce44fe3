"""A tree less what links lead out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from duvet.sources.filtered import FilteredTree
from duvet.tree.inside import Inside
from duvet.tree.protocol import Entry, Tree, is_folder


class InnerTree(FilteredTree):
    """Another tree, less the folders that are outside; `report` hears of each of these."""

    def __init__(self, tree: Tree, inside: Inside, report: Callable[[str], None]) -> None:
        super().__init__(tree, lambda path, is_folder: False)
        self.inside = inside
        self.report = report

    def entries(self, folder: str) -> Iterator[Entry]:
        if not self.inside.has_folder(folder):
            self.report(folder)
            return
        start = f"{folder}/" if folder and not folder.endswith("/") else folder
        for entry in self.tree.entries(folder):
            if is_folder(entry):
                path = start + entry.name
                if not entry.is_symlink():
                    self.inside.know(path)
                elif not self.inside.has_folder(path):
                    self.report(path)
                    continue
            yield entry
