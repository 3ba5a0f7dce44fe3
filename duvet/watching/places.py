"""Where the answers on a record can change, and which of them an event is about."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from duvet.tree.disk import DiskTree
from duvet.tree.record import Record
from duvet.watching.notices import MODIFIED, Event


class Hints(Struct):
    """What events are about."""

    paths: set[str]
    """What may be answered otherwise now, as it was asked."""
    listing: bool = False
    """Whether something came or went in a folder that was listed."""
    whole: bool = False
    """Whether that happened to a folder around what was asked, so that all that is in it has come or gone."""


class Places:
    """The real folders, links followed, that hold what was asked, and those around them up to the project."""

    def __init__(self, record: Record, disk: DiskTree) -> None:
        self.folders: set[str] = set()
        self._missing: list[str] = []
        """Folders around what was asked that are not there."""
        self._at = disk.at
        self._listed = record.folders
        self._around: set[str] = set()
        """Every folder by its own name and by that of a link that leads to it."""
        self._spelled: dict[str, list[str]] = defaultdict(list)
        """How each real folder was called when it was asked for."""
        self._linked: dict[str, list[str]] = defaultdict(list)
        """The links that lead to each real file."""
        paths = {*record.files, *record.absent, *record.regular, *record.present, *record.links, *record.faults}
        self._add_folders({*record.folders, *record.unlisted, *record.identities, *map(_parent, paths)})
        self._add_links(paths)

    def _add_folders(self, asked: set[str]) -> None:
        root = _real(self._at(""))
        found: dict[str, str] = {}
        for folder in sorted({one for path in asked for one in _enclosing(path, root)}):
            real = found[folder] = self._resolved(folder, found)
            self._around.add(real)
            self._spelled[real].append(folder)
            if not os.path.isdir(real):
                self._missing.append(real)
            else:
                ##= man/spec/watch.md#noticing
                ##% Folders that neither hold nor surround anything that was asked for MUST NOT be watched.
                self.folders.add(real)
        while root and not os.path.isdir(root):
            # It may come back.
            self._around.add(root)
            root = _parent(root)
        self.folders.add(root)

    def _resolved(self, folder: str, found: dict[str, str]) -> str:
        """The real folder; those around it have been found."""
        above = found.get(_parent(folder))
        name = folder.rpartition("/")[2]
        if above is None or name in ("", ".", ".."):
            return _real(self._at(folder))
        path = _joined(above, name)
        if not os.path.islink(path):
            return path
        self._around.add(path)
        return _real(path)

    def _add_links(self, paths: Iterable[str]) -> None:
        for path in paths:
            if os.path.islink(self._at(path)):
                real = _real(self._at(path))
                self._linked[real].append(path)
                if os.path.isdir(_parent(real)):
                    self.folders.add(_parent(real))

    def grown(self) -> bool:
        """Whether a folder has come since."""
        return any(map(os.path.isdir, self._missing))

    def hints(self, events: Iterable[Event]) -> Hints:
        """What these events are about."""
        found = Hints(set())
        for kind, event in events:
            path = _slashed(event)
            found.whole = found.whole or path in self._around
            found.paths.update(self._linked.get(path, ()))
            name = path.rpartition("/")[2]
            for folder in self._spelled.get(_parent(path), ()):
                found.paths.add(_joined(folder, name))
                found.listing = found.listing or (kind != MODIFIED and folder in self._listed)
        return found


def _enclosing(folder: str, root: str) -> Iterator[str]:
    """The folder and those around it, up to the project or to a folder that holds the project."""
    yield folder
    while folder not in ("", "/") and not f"{root}/".startswith(f"{folder}/"):
        folder = _parent(folder)
        yield folder


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") and path != "/" else "")


def _joined(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder in ("", "/") else f"{folder}/{name}"


def _real(path: str) -> str:
    return _slashed(os.path.realpath(path))


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")
