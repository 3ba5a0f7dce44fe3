"""Waits for changes to the files that a run has read."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Event
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from duvet.errors import UnreadableError
from duvet.project.inputs import InputFiles
from duvet.project.project import Project
from duvet.tree.cache import Cache
from duvet.tree.file_events import MODIFIED_EVENT, UNKNOWN_EVENTS, FolderEvent, FolderWatcher
from duvet.tree.files import DiskTree
from duvet.tree.record import TreeRecord
from duvet.tree.recorder import RecordedTree, find_altered_paths, find_refilled_folders


class RecordedAnswers:
    """All that a run has asked until now."""

    def __init__(self, project: Project, *, recalled: bool = False) -> None:
        """Of a run that was recalled it is not known which patterns there are, so that each name counts that comes."""
        if not isinstance(project.tree, RecordedTree):
            raise TypeError("the tree of the project has to be a RecordedTree")
        self.tree = project.tree
        # The project may be asked more, by another thread even.
        self.record = project.tree.record.copy()
        self.matched = project.matched
        self._listings = list(project.listings)
        self._unmatched = {""} if recalled else set()

    def altered(self) -> set[str]:
        """Every path that something else would be heard of."""
        found = set(find_altered_paths(self.record, self.tree))
        if any(True for _ in find_refilled_folders(self.record, self.tree)):
            found |= self.listed_otherwise()
        return found

    def altered_among(self, paths: Collection[str]) -> set[str]:
        """Those of these paths that something else would be heard of."""
        return set(find_altered_paths(self.record.about(paths), self.tree))

    def linked(self) -> Iterator[str]:
        """The files that have other names, too."""
        for path in self.record.files:
            # What is gone is told of.
            with suppress(OSError, ValueError):
                if os.stat(self.tree.disk.at(path)).st_nlink > 1:
                    yield path

    def listed_otherwise(self) -> set[str]:
        """The files that patterns match now and did not, or no more; folders that are new are on the record then."""
        if self.matched is None:
            return self._unmatched or self._listed_elsewhere()
        patterns, before = self.matched
        tree = RecordedTree(self.tree.disk)
        now = patterns.match(tree, Cache())
        self.record.renew(tree.record)
        if others := self._listed_elsewhere():
            return others
        return set() if _told(now) == _told(before) else _paths(now) ^ _paths(before) or {""}

    def _listed_elsewhere(self) -> set[str]:
        """The same for what is read beside the trace."""
        tree, found = RecordedTree(self.tree.disk), set[str]()
        for names, before in self._listings:
            found.update(set(names(tree)) ^ set(before))
        self.record.renew(tree.record)
        return found


def _told(inputs: InputFiles) -> object:
    """All of it; in what order problems are found depends on the order of names on disk."""
    return inputs.sources, inputs.requirements, frozenset(inputs.problems)


def _paths(inputs: InputFiles) -> set[str]:
    found = {path for _, paths in inputs.sources for path in paths}
    return found.union(inputs.requirements, (problem.path for problem in inputs.problems))


class EventHints(Struct):
    """What events are about."""

    paths: set[str]
    """What may be answered otherwise now, as it was asked."""
    listing: bool = False
    """Whether something came or went in a folder that was listed."""
    whole: bool = False
    """Whether that happened to a folder around what was asked, so that all that is in it has come or gone."""


class WatchedPlaces:
    """The real folders, links followed, that hold what was asked, and those around them up to the project."""

    def __init__(self, record: TreeRecord, disk: DiskTree) -> None:
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
                ##= man/spec/watch.md#noticing-changes
                ##% duvet MUST watch only the folders that matter, by notifications of the system, and poll only when
                ##% `WATCHFILES_FORCE_POLLING` says so.
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

    def hints(self, events: Iterable[FolderEvent]) -> EventHints:
        """What these events are about."""
        found = EventHints(set())
        for kind, event in events:
            path = _slashed(event)
            found.whole = found.whole or path in self._around
            found.paths.update(self._linked.get(path, ()))
            name = path.rpartition("/")[2]
            for folder in self._spelled.get(_parent(path), ()):
                found.paths.add(_joined(folder, name))
                found.listing = found.listing or (kind != MODIFIED_EVENT and folder in self._listed)
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


class ChangeSource(Protocol):
    """Hears of what happens in folders."""

    folders: set[str]

    def open(self, folders: set[str]) -> None:
        """Hear of these folders from now on, and of no others."""


class FollowedReading:
    """The answers of one reading, and what becomes of them."""

    def __init__(self, answers: RecordedAnswers, teller: ChangeSource) -> None:
        self.answers = answers
        self._teller = teller

    @property
    def folders(self) -> set[str]:
        """Where everything is that it is about."""
        return self._places.folders

    def about(self, events: Iterable[FolderEvent]) -> set[str] | None:
        """What of it these events are about, changed or not; None where that can't be told."""
        if events is UNKNOWN_EVENTS:
            return None
        hints = self._places.hints(events)
        if hints.whole:
            return None
        return {path for path in hints.paths if self.answers.record.knows(path)}

    def among(self, events: Iterable[FolderEvent]) -> set[str]:
        """What has changed, as far as these events are about it."""
        hints = self._places.hints(events)
        unclear = events is UNKNOWN_EVENTS or hints.whole
        return self.everything(anew=True) if unclear else self._hinted(hints)

    def _hinted(self, hints: EventHints) -> set[str]:
        ##= man/spec/watch.md#noticing-changes
        ##% `duvet report --watch` MUST report again when a file that it read changes, moves or disappears, or when
        ##% patterns match other files, until it is interrupted.
        changed = self.answers.altered_among(hints.paths)
        if not hints.listing:
            return changed
        known = len(self.answers.record.folders)
        changed |= self.answers.listed_otherwise()
        grown = len(self.answers.record.folders) > known
        return self.everything() if grown and not changed else changed

    def everything(self, *, anew: bool = False) -> set[str]:
        """Ask to hear of all that may change, and only then look at all of it."""
        while True:
            self._listen(anew=anew)
            known = len(self.answers.record.folders)
            changed = self.answers.altered()
            grown = len(self.answers.record.folders) > known or self._places.grown()
            if changed or not grown:
                return changed

    def _listen(self, *, anew: bool) -> None:
        answers = self.answers
        try:
            self._places = WatchedPlaces(answers.record, answers.tree.disk)
        except FileNotFoundError as error:
            raise UnreadableError("the folder is gone", path=answers.tree.disk.at("")) from error
        if anew or self._places.folders != self._teller.folders:
            self._teller.open(self._places.folders)


class ChangeWatcher:
    """Tells when a project would be read otherwise than it was.

    After each reading, `follow` the project; then `wait`. Nothing that changes in between is missed. One thread does
    both, and any thread may `stop` it. The tree of the project has to be a RecordedTree, such as that of a DiskCache, whose
    `settle` has been called if the run has written anything.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._notices = FolderWatcher(environ or {})
        self._stop = Event()
        self._changed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notices.close()

    def stop(self) -> None:
        """End the waiting."""
        self._stop.set()

    def follow(self, project: Project) -> None:
        """From now on, changes are those to what this project was read from."""
        self._answers = RecordedAnswers(project)
        self._followed = FollowedReading(self._answers, self._notices)
        ##= man/spec/watch.md#noticing-changes
        ##% `duvet report --watch` MUST notice changes that are made during a run, and ignore its own and those without
        ##% an effect.
        self._changed = self._followed.everything()

    def are_outputs(self, paths: Iterable[str]) -> bool:
        """Whether the project's reading has written all of these itself."""
        return self._answers.tree.written.issuperset(paths)

    def wait(self) -> tuple[str, ...] | None:
        """The paths that have changed, as soon as any has; None once it is stopped."""
        changed, self._changed = self._changed, set()
        while not changed:
            events = self._notices.wait(self._stop)
            if events is None:
                return None
            changed = self._followed.among(events)
        return tuple(sorted(path or "." for path in changed))
