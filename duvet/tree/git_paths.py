"""Paths in a commit: through folders and links to what they lead to."""

from __future__ import annotations

import errno
import os
import posixpath

from msgspec import Struct

from duvet.tree.git_objects import Node, Objects

_MOST_LINKS = 40


class Place(Struct, frozen=True):
    """Where a path leads: the real path, from the top of the repository, and what is there."""

    path: str
    node: Node


class Outside(Exception):
    """A path leads out of the repository."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Paths:
    """Finds what is where in one commit."""

    def __init__(self, objects: Objects, commit: str, tops: tuple[str, ...], prefix: str) -> None:
        self.objects = objects
        self.tops = tops
        """The working tree, by each name that it may go by; none of a bare repository."""
        self.prefix = prefix
        """The folder that paths are relative to, below the top."""
        self.lacks: list[str] = []
        """What could not be read, because the clone is not whole."""
        self._root = Place("", Node("40000", f"{commit}^{{tree}}"))
        self._folders: dict[str, dict[str, Node]] = {}

    def find(self, path: str, *, follow: bool = True) -> Place:
        """What is at a path; OSError where nothing is, Outside where that is for others to know."""
        return _Walk(self).run(path, follow=follow)

    def inside(self, place: Place) -> dict[str, Node]:
        """What a folder holds; a submodule is empty, for its files are in another repository."""
        if place.node.is_submodule:
            return {}
        if place.path not in self._folders:
            self._folders[place.path] = dict(self.objects.nodes(self.content(place)))
        return self._folders[place.path]

    def content(self, place: Place) -> bytes:
        """What a file holds, or where a link leads."""
        data = self.objects.read(place.node.object)
        if data is None:
            self.lacks.append(place.path)
            raise OSError(errno.EIO, "this clone lacks the object")
        return data

    def child(self, place: Place, name: str) -> Place:
        """What has this name in a folder."""
        if not place.node.is_folder:
            raise _error(errno.ENOTDIR)
        node = self.inside(place).get(name)
        if node is None:
            raise _error(errno.ENOENT)
        return Place(posixpath.join(place.path, name), node)


class _Walk:
    """One way from the root, with the folders that lie behind, for `..`."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.way: list[Place] = []
        self.todo: list[str] = []
        self.links = 0

    def run(self, path: str, *, follow: bool) -> Place:
        if "\0" in path:
            raise ValueError("a path can't hold a NUL")
        if path.startswith("/"):
            self._enter(path)
        else:
            self._restart([*self.paths.prefix.split("/"), *path.split("/")])
        while self.todo:
            name = self.todo.pop()
            if name not in ("", ".", ".."):
                self._step(name, follow=follow or bool(self.todo))
            elif not self.way[-1].node.is_folder:
                raise _error(errno.ENOTDIR)
            elif name == "..":
                self._leave()
        return self.way[-1]

    def _restart(self, parts: list[str]) -> None:
        self.way = [self.paths._root]
        self.todo = parts[::-1]

    def _enter(self, path: str) -> None:
        """Go on at an absolute path, which may be one in the repository."""
        for spelt in (path, posixpath.normpath(path)):
            for top in self.paths.tops:
                if f"{spelt}/".startswith(f"{top}/"):
                    self._restart(spelt[len(top) :].split("/"))
                    return
        raise Outside(path)

    def _leave(self) -> None:
        if len(self.way) > 1:
            self.way.pop()
            return
        if not self.paths.tops:
            raise _error(errno.ENOENT)
        self._enter(posixpath.join(posixpath.dirname(self.paths.tops[0]), *self.todo[::-1]))

    def _step(self, name: str, *, follow: bool) -> None:
        place = self.paths.child(self.way[-1], name)
        if not (place.node.is_link and follow):
            self.way.append(place)
            return
        ##= man/spec/diff.md#reading
        ##% What a link in the revision leads to MUST be read in its place.
        self.links += 1
        if self.links > _MOST_LINKS:
            raise _error(errno.ELOOP)
        target = os.fsdecode(self.paths.content(place))
        if target.startswith("/"):
            self._enter(posixpath.join(target, *self.todo[::-1]))
        else:
            self.todo += target.split("/")[::-1]


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
