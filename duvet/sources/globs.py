"""The paths that a pattern matches.

Folders behind links are entered; unlike in Rust's glob crate, a folder that holds itself is entered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Problem
from duvet.sources.patterns import Component, Matches, Pattern
from duvet.tree.protocol import Entry, Tree, is_folder
from duvet.unfinished import is_unfinished

_END = re.compile(r"(?<=[^/])(?:/|\Z)")
_Step = tuple[str, int, tuple[object, ...]]
"""A folder, the component to look for there, and the folders around it where a link led there."""


def expand(pattern: Pattern, tree: Tree, report: Callable[[Problem], None]) -> list[str]:
    """Every path that the pattern matches, folders too, sorted; `report` hears of what could not be entered."""
    found = _Walk(tree, pattern.components, report).run(pattern.root)
    if pattern.wants_folders:
        found = {path for path in found if not tree.is_file(path)}
    if not any(map(_is_odd, found)):
        return sorted(found)
    for path in filter(_is_odd, found):
        shown = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
        report(rules.FILE_ODD_NAME.problem("the name of this file is not UTF-8, so it is not read", shown))
    return sorted(path for path in found if not _is_odd(path))


def _is_odd(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


class _Walk:
    """Goes through folders with a list of what is still to do: a tree may be deeper than Python's stack."""

    def __init__(self, tree: Tree, components: tuple[Component, ...], report: Callable[[Problem], None]) -> None:
        self.tree = tree
        self.components = components
        self.report = report
        self.found: set[str] = set()
        self.todo: list[_Step] = []
        self.linked: set[object] = set()
        """The folders that links have led to."""
        self.looped: set[object] = set()
        """The links that lead back, each by its folder and its name."""

    def run(self, root: str) -> set[str]:
        """Every path below the root that the components lead to."""
        if self.components:
            self.todo.append((root, 0, ()))
        while self.todo:
            folder, index, above = self.todo.pop()
            component = self.components[index]
            if component.literal is not None:
                self._literal(_start(folder) + component.literal, index)
            elif component.matches is not None:
                self._listed(folder, component.matches, index)
            else:
                self._at_any_depth(folder, index, above)
        return self.found

    def _literal(self, path: str, index: int) -> None:
        if index + 1 < len(self.components):
            self.todo.append((path, index + 1, ()))
        elif self.tree.exists(path):
            self.found.add(path)

    def _listed(self, folder: str, matches: Matches, index: int) -> None:
        start = _start(folder)
        names = [entry for entry in self._entries(folder) if matches(entry.name)]
        if index + 1 == len(self.components):
            self.found.update(start + entry.name for entry in names)
        else:
            self.todo += [(start + entry.name, index + 1, ()) for entry in names if is_folder(entry)]

    def _at_any_depth(self, folder: str, index: int, above: tuple[object, ...]) -> None:
        ##= man/spec/trace.md#sources
        ##% `**` MUST match any number of folders, hidden ones and those behind links too.
        rest = self.components[index + 1 :]
        test = rest[0].matches if len(rest) == 1 else None
        if rest and test is None:
            self.todo.append((folder, index + 1, ()))
        start = _start(folder)
        folders: list[tuple[str, bool]] = []
        for entry in self._entries(folder):
            if test is not None and test(entry.name):
                self.found.add(start + entry.name)
            if is_folder(entry):
                folders.append((start + entry.name, entry.is_symlink()))
        # In one order everywhere, because which link comes first decides where a folder is entered.
        for path, is_link in sorted(folders):
            inside = self._entered(folder, path, is_link, above)
            if inside is not None:
                self.todo.append((path, index, inside))
                if not rest:
                    self.found.add(path)

    def _entries(self, folder: str) -> Iterator[Entry]:
        try:
            ##= man/spec/trace.md#sources
            ##% Patterns MUST NOT match what was left unfinished by those who were killed.
            yield from (entry for entry in self.tree.entries(folder) if not is_unfinished(entry.name))
        except DuvetError as error:
            self._unreadable(error)

    def _entered(self, folder: str, path: str, is_link: bool, above: tuple[object, ...]) -> tuple[object, ...] | None:
        """The folders around what is in the path; None where the path leads back into one of them."""
        if not is_link and not above:
            return above
        try:
            around = above or tuple(map(self.tree.identity, _prefixes(folder)))
            identity = self.tree.identity(path)
        except DuvetError as error:
            self._unreadable(error)
            return None
        ##= man/spec/trace.md#sources
        ##% A folder that holds itself through a link MUST be entered once.
        if identity in around:
            self._tell_loop((around[-1], path.rpartition("/")[2]), path)
            return None
        # Behind a link, a folder that another link has led to is not entered again: packages that link to one another
        # would be walked in every order.
        if is_link and above and identity in self.linked:
            return None
        if is_link:
            self.linked.add(identity)
        return (*around, identity)

    def _tell_loop(self, link: object, path: str) -> None:
        """Once for each link, however many paths lead to it."""
        if link not in self.looped:
            self.looped.add(link)
            self.report(rules.LINK_LOOP.problem("this link leads back to a folder around it; it is not entered", path))

    def _unreadable(self, error: DuvetError) -> None:
        self.report(rules.FILE_UNREADABLE.problem(error.message, error.path))


def _start(folder: str) -> str:
    """What the paths in the folder begin with."""
    return f"{folder}/" if folder and not folder.endswith("/") else folder


def _prefixes(folder: str) -> Iterator[str]:
    """The folder and all that it is in, from the root on."""
    yield "/" if folder.startswith("/") else ""
    for end in _END.finditer(folder):
        yield folder[: end.start()]
