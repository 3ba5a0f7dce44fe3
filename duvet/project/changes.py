"""Waits for changes to the files that a run has read, for `duvet report --watch` and the server."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Event
from typing import Self

from duvet.errors import UnreadableError
from duvet.project.project import Project
from duvet.tree.cache import Cache
from duvet.tree.file_events import MODIFIED_EVENT, UNKNOWN_EVENTS, FolderEvent, FolderWatcher, InotifyDescriptor
from duvet.tree.files import DiskTree
from duvet.tree.recorder import RecordedTree, TreeRecord, find_altered_paths, find_refilled_folders


class FollowedReading:
    def __init__(
        self, project: Project, source: FolderWatcher | InotifyDescriptor | None, *, recalled: bool = False
    ) -> None:
        """Without `source`, changes are found only by reading the disk.

        With `recalled`, if the project's patterns are unknown, every added or removed file counts as a change.
        """
        if not isinstance(project.tree, RecordedTree):
            raise TypeError("the project's tree must be a RecordedTree")
        self.tree = project.tree
        # A copy, because the project may read more files, even in another thread.
        self.record = project.tree.record.copy()
        self._matched = project.matched
        self._listings = list(project.listings)
        self._is_recalled = recalled
        self._source = source

    @property
    def folders(self) -> set[str]:
        return self._places.folders

    def find_hard_linked_files(self, earlier: TreeRecord | None = None, known: Collection[str] = ()) -> Iterator[str]:
        """`known` are the files found for the `earlier` record."""
        before = earlier.files if earlier else {}
        for path, stamp in self.record.files.items():
            # A new hard link changes the times of the file, too.
            if not stamp.digest and path not in known and before.get(path) == stamp:
                continue
            # A missing file is a separate change.
            with suppress(OSError, ValueError):
                if os.stat(self.tree.disk.at(path)).st_nlink > 1:
                    yield path

    def find_affected_paths(self, events: Iterable[FolderEvent]) -> set[str] | None:
        touched = None if events is UNKNOWN_EVENTS else self._places.find_touched(events)
        return None if touched is None else set(filter(self.record.contains, touched[0]))

    def find_changes(self, events: Iterable[FolderEvent]) -> set[str]:
        touched = None if events is UNKNOWN_EVENTS else self._places.find_touched(events)
        if touched is None:
            return self.find_all_changes(anew=True)
        ##= man/spec/watch.md#noticing-changes
        ##% Until it is interrupted, `duvet report --watch` MUST report again when a file that it read is changed, moved
        ##% or removed, or when the patterns match different files, even if this happens during a run.
        changed = self.find_changes_among(touched[0])
        if not touched[1]:
            return changed
        known = len(self.record.folders)
        changed |= self._find_listing_changes()
        grown = len(self.record.folders) > known
        return self.find_all_changes() if grown and not changed else changed

    def find_all_changes(self, *, anew: bool = False) -> set[str]:
        while True:
            try:
                self._places = WatchedPlaces(self.record, self.tree.disk)
            except FileNotFoundError as error:
                raise UnreadableError("the folder no longer exists", path=self.tree.disk.at("")) from error
            if self._source is not None and (anew or self._places.folders != self._source.folders):
                self._source.open(self._places.folders)
            known = len(self.record.folders)
            changed = self.find_changes_on_disk()
            grown = len(self.record.folders) > known or self._places.has_grown()
            if changed or not grown:
                return changed

    def find_changes_on_disk(self) -> set[str]:
        found = set(find_altered_paths(self.record, self.tree))
        if any(True for _ in find_refilled_folders(self.record, self.tree)):
            found |= self._find_listing_changes()
        return found

    def find_changes_among(self, paths: Collection[str]) -> set[str]:
        return set(find_altered_paths(self.record.select(paths), self.tree))

    def _find_listing_changes(self) -> set[str]:
        if self._matched is None and self._is_recalled:
            return {""}
        tree, found = RecordedTree(self.tree.disk), set[str]()
        now = self._matched and self._matched[0].match(tree, Cache())
        for names, listed in self._listings:
            found.update(set(names(tree)) ^ set(listed))
        self.record.update(tree.record)
        if found or now is None or self._matched is None:
            return found
        inputs = now, self._matched[1]
        after, before = ((one.sources, one.requirements, frozenset(one.problems)) for one in inputs)
        if after == before:
            return set()
        files = [{path for _, paths in one.sources for path in paths}.union(one.requirements) for one in inputs]
        at_fault = [{problem.path for problem in one.problems} for one in inputs]
        return (files[0] | at_fault[0]) ^ (files[1] | at_fault[1]) or {""}


class WatchedPlaces:
    def __init__(self, record: TreeRecord, disk: DiskTree) -> None:
        self.folders: set[str] = set()
        self._missing: list[str] = []  # Parent folders that don't exist.
        self._at = disk.at
        self._listed = record.folders
        self._around: set[str] = set()
        """Every parent folder, by its own name and by the names of links that point to it."""
        self._spelled: dict[str, list[str]] = defaultdict(list)  # The paths under which each real folder was read.
        self._linked: dict[str, list[str]] = defaultdict(list)  # The links that point to each real file.
        paths = {*record.files, *record.absent, *record.regular, *record.present, *record.links, *record.faults}
        asked = {*record.folders, *record.unlisted, *record.identities, *map(_get_parent, paths)}
        root = _resolve_path(self._at(""))
        found: dict[str, str] = {}
        for folder in sorted({one for path in asked for one in _list_enclosing_folders(path, root)}):
            actual = found[folder] = self._resolve_folder(folder, found)
            self._around.add(actual)
            self._spelled[actual].append(folder)
            if not os.path.isdir(actual):
                self._missing.append(actual)
            else:
                self.folders.add(actual)
        while root and not os.path.isdir(root):
            # It may be created again.
            self._around.add(root)
            root = _get_parent(root)
        self.folders.add(root)
        for path in paths:
            if os.path.islink(self._at(path)):
                real = _resolve_path(self._at(path))
                self._linked[real].append(path)
                if os.path.isdir(_get_parent(real)):
                    self.folders.add(_get_parent(real))

    def _resolve_folder(self, folder: str, found: dict[str, str]) -> str:
        above = found.get(_get_parent(folder))
        name = folder.rpartition("/")[2]
        if above is None or name in ("", ".", ".."):
            return _resolve_path(self._at(folder))
        path = _join(above, name)
        if not os.path.islink(path):
            return path
        self._around.add(path)
        return _resolve_path(path)

    def has_grown(self) -> bool:
        return any(map(os.path.isdir, self._missing))

    def find_touched(self, events: Iterable[FolderEvent]) -> tuple[set[str], bool] | None:
        """Return the recorded paths that these events may affect, and whether a listed folder gained or lost an entry.

        Return None if everything may have changed.
        """
        found: set[str] = set()
        is_listing = False
        for kind, event in events:
            path = _use_slashes(event)
            if path in self._around:
                return None
            found.update(self._linked.get(path, ()))
            for folder in self._spelled.get(_get_parent(path), ()):
                found.add(_join(folder, path.rpartition("/")[2]))
                is_listing = is_listing or (kind != MODIFIED_EVENT and folder in self._listed)
        return found, is_listing


def _list_enclosing_folders(folder: str, root: str) -> Iterator[str]:
    yield folder
    while folder not in ("", "/") and not f"{root}/".startswith(f"{folder}/"):
        folder = _get_parent(folder)
        yield folder


def _get_parent(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") and path != "/" else "")


def _join(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder in ("", "/") else f"{folder}/{name}"


def _resolve_path(path: str) -> str:
    return _use_slashes(os.path.realpath(path))


def _use_slashes(path: str) -> str:
    return path.replace(os.sep, "/")


class ChangeWatcher:
    """Waits until a file that affects the project changes.

    After each reading, call `follow` with the project, and then `wait`. Changes in between are noticed. Any thread may
    call `stop`. If the run has written files, call the cache's `settle` before `follow`.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._watcher = FolderWatcher(environ or {})
        self._stop = Event()
        self._changed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._watcher.close()

    def stop(self) -> None:
        self._stop.set()

    def follow(self, project: Project) -> None:
        self._followed = FollowedReading(project, self._watcher)
        ##= man/spec/watch.md#noticing-changes
        ##% `duvet report --watch` MUST ignore its own writes, and changes that do not affect the result.
        self._changed = self._followed.find_all_changes()

    def are_outputs(self, paths: Iterable[str]) -> bool:
        return self._followed.tree.written.issuperset(paths)

    def wait(self) -> tuple[str, ...] | None:
        """Return the changed paths; None after `stop`."""
        changed, self._changed = self._changed, set()
        while not changed:
            events = self._watcher.wait(self._stop)
            if events is None:
                return None
            changed = self._followed.find_changes(events)
        return tuple(sorted(path or "." for path in changed))
