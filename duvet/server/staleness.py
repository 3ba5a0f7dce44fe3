"""Detects changed files of the project and its configuration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from duvet.project.changes import FollowedReading, RecordedAnswers
from duvet.tree import file_events

_ATTEMPTS = 5
_ANYTHING = {""}


class ChangeDetector:
    """Watches the files of the last reading; only `is_silent` is thread-safe."""

    def __init__(
        self, descriptor: file_events.InotifyDescriptor | None, mounted: file_events.MountTable | None = None
    ) -> None:
        """Without a descriptor, every check reads the disk."""
        self._descriptor = descriptor
        self._mounts = mounted
        self._linked: set[str] = set()
        """Files with several hard links, which can be changed without an event."""
        self._retired: file_events.InotifyDescriptor | None = None
        self._followed: FollowedReading | None = None
        self._changed = _ANYTHING

    @property
    def handle(self) -> int | None:
        """A descriptor that becomes readable when a file changes; None if the system doesn't report changes."""
        return self._descriptor.handle if self._descriptor else None

    @property
    def needs_polling(self) -> bool:
        """True if the system doesn't report changes of some files."""
        return bool(self._linked)

    def is_silent(self) -> bool:
        """Return True if nothing can have changed; reads the disk only for files with several hard links."""
        if self._descriptor is None or self._changed or not self._descriptor.is_silent():
            return False
        followed, linked = self._followed, self._linked
        return not (linked and followed and followed.answers.find_changes_among(linked))

    def wait_for_calm(self, milliseconds: int) -> None:
        """Wait until nothing changes for this long; give up after a few attempts."""
        for _ in range(_ATTEMPTS):
            if self._descriptor is None or self._descriptor.is_silent(milliseconds):
                return
            self.changed()

    def changed(self) -> bool:
        """Return whether a new reading would differ from the last one."""
        followed = self._followed
        if followed is not None and not self._changed:
            self._changed = self._find_changes(followed, lambda: self._find_touched(followed))
        return bool(self._changed)

    def _find_touched(self, followed: FollowedReading) -> set[str]:
        """Return the files that changed or were written to, even with the same content."""
        events = self._read_events()
        written = followed.find_affected_paths(events) or set()
        return written | followed.find_changes(events) | followed.answers.find_changes_among(self._linked)

    def forget(self) -> None:
        """Stop watching, and count as changed until the next reading."""
        self._followed, self._changed, self._linked = None, _ANYTHING, set()

    def trust(self) -> None:
        """Stop watching, and count as unchanged until the next reading."""
        self._followed, self._changed, self._linked = None, set(), set()

    def follow(self, answers: RecordedAnswers) -> bool:
        """Watch the files of this reading; return whether it is consistent, that is, nothing changed meanwhile."""
        before = self._followed.answers.record if self._followed else None
        watched_before = self._descriptor.folders if self._descriptor and self._followed else set()
        followed = self._followed = FollowedReading(answers, self._descriptor or _NoDescriptor())
        self._changed = self._find_changes(followed, followed.find_all_changes)
        if self._descriptor is not None:
            self._mounts = self._mounts or file_events.read_mounts()
            if self._mounts.are_blind(followed.folders):
                self._retire()
            else:
                self._linked = set(followed.answers.find_hard_linked_files(before, self._linked))
        events = self._read_events()
        touched = followed.find_affected_paths(events)
        self._changed |= self._find_changes(followed, lambda: followed.find_changes(events))
        # If only one file has changed since the reading began, the reading is consistent: it has the old or the new file.
        is_only_one = touched is not None and len(touched | self._changed) == 1
        return not self._changed or (is_only_one and followed.folders <= watched_before)

    def _read_events(self) -> Iterable[file_events.FolderEvent]:
        return self._descriptor.read() if self._descriptor else file_events.UNKNOWN_EVENTS

    def _find_changes(self, followed: FollowedReading, find: Callable[[], set[str]]) -> set[str]:
        """Return the changed files; read the disk from now on if the system can't watch all folders."""
        for _ in range(_ATTEMPTS):
            if self._descriptor is None:
                return followed.answers.find_changes()
            try:
                return find()
            except FileNotFoundError:
                # A folder was just removed.
                find = followed.find_all_changes
            except OSError:
                self._retire()
                return followed.answers.find_changes()
        return _ANYTHING

    def _retire(self) -> None:
        """Stop using the descriptor, but keep it open, because a thread may wait for it."""
        self._retired, self._descriptor = self._descriptor, None
        if self._retired:
            with suppress(OSError):
                self._retired.open(set())

    def close(self) -> None:
        for descriptor in filter(None, (self._descriptor, self._retired)):
            descriptor.close()
        self._descriptor = self._retired = None


class _NoDescriptor:
    folders: set[str] = set()  # noqa: RUF012

    def open(self, folders: set[str]) -> None:
        pass


def open_descriptor(environ: Mapping[str, str]) -> file_events.InotifyDescriptor | None:
    """Return a descriptor for change notifications; None if there is no support or polling is requested."""
    if sys.platform != "linux" or file_events.wants_polling(environ):
        return None
    try:
        return file_events.InotifyDescriptor()
    except OSError:
        return None
