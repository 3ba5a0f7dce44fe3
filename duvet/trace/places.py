"""Where in its file an annotation's parts stand, for diagnostics."""

from __future__ import annotations

from duvet.errors import DuvetError
from duvet.model import Annotation, Place
from duvet.text import place_of
from duvet.tree.protocol import Tree


class Places:
    """Reads a file again, once, when something in it has to be pointed at."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._texts: dict[str, str] = {}

    def of(self, annotation: Annotation, span: tuple[int, int]) -> Place:
        """The place of a span of the annotation; its first line where the span is empty."""
        text = self.text(annotation.path)
        if span == (0, 0) or span[1] > len(text):
            return Place(annotation.line)
        return place_of(text, *span)

    def text(self, path: str) -> str:
        """The text of a file as it was when it was first asked for; nothing where it can't be read."""
        if path not in self._texts:
            try:
                self._texts[path] = self.tree.read(path).decode(errors="replace")
            except DuvetError:
                self._texts[path] = ""
        return self._texts[path]
