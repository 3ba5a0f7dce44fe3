"""From the names of files and folders, as people and hooks write them, to the inputs that they mean."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from msgspec import Struct

from duvet import rules
from duvet.model import Problem
from duvet.tree.protocol import Tree


class Chosen(Struct, frozen=True):
    """The inputs that are meant, what is none of them, and what is not there."""

    paths: tuple[str, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def choose(names: Iterable[str], inputs: Iterable[str], root: str, tree: Tree) -> Chosen:
    """The inputs that these names mean; a folder means all that are in it."""
    chooser = _Chooser(inputs, root, tree)
    for name in names:
        chooser.add(name)
    return Chosen(tuple(chooser.paths), tuple(chooser.others), tuple(chooser.problems))


def plain(name: str, root: str, tree: Tree) -> str:
    """The name of a file as an input would have it: relative to the root where it is below that."""
    whole = posixpath.normpath(posixpath.join(root, _with_slashes(name, tree)))
    return whole.removeprefix(root.rstrip("/") + "/")


def _with_slashes(name: str, tree: Tree) -> str:
    return name if tree.exists(name) else name.replace("\\", "/")


class _Chooser:
    def __init__(self, inputs: Iterable[str], root: str, tree: Tree) -> None:
        self.root, self.tree = root, tree
        self.paths: dict[str, None] = {}
        self.others: dict[str, None] = {}
        self.problems: list[Problem] = []
        self._inputs = {self._whole(path): path for path in inputs}

    def _whole(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.root, path))

    def add(self, name: str) -> None:
        ##= man/spec/validate.md#choosing-files
        ##% All spellings of a path MUST name the same file: absolute or relative to the working directory, and with the
        ##% separators of Windows.
        path = _with_slashes(name, self.tree)
        whole = self._whole(path)
        exists = self.tree.exists(path)
        found = self._below(whole) or (self._below(_real(whole)) if exists else [])
        if found:
            self.paths.update(dict.fromkeys(found))
        elif exists:
            ##= man/spec/validate.md#choosing-files
            ##% A file that is no input MUST be left out, and that MUST be said on standard error.
            self.others[name] = None
        else:
            ##= man/spec/validate.md#choosing-files
            ##% A path that does not exist MUST be an error.
            message, hint = "there is no such file or folder", "paths begin in the working directory"
            self.problems.append(rules.FILE_UNREADABLE.problem(message, name, hint=hint))

    def _below(self, whole: str) -> list[str]:
        """The input of that name, or all in the folder of that name."""
        if whole in self._inputs:
            return [self._inputs[whole]]
        ##= man/spec/validate.md#choosing-files
        ##% A folder MUST mean all inputs in it.
        start = whole.rstrip("/") + "/"
        return [path for known, path in self._inputs.items() if known.startswith(start)]


def _real(whole: str) -> str:
    """The path without links."""
    return os.path.realpath(whole).replace(os.sep, "/")
