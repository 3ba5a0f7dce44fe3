"""Detects whether the files of a project have changed since they were read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from duvet.project.changes import FollowedReading, RecordedAnswers
from duvet.tree.file_events import (
    UNKNOWN_EVENTS,
    FolderEvent,
    InotifyDescriptor,
    MountTable,
    read_mounts,
    wants_polling,
)

_ATTEMPTS = 5
_ANYTHING = {""}


class ChangeDetector:
    """Knows what the last reading was made from. One thread at a time follows and looks; any may ask `is_silent`."""

    def __init__(self, descriptor: InotifyDescriptor | None, mounted: MountTable | None = None) -> None:
        """With what the system tells of changes; without that, each question is one for the disk."""
        self._descriptor = descriptor
        self._mounts = mounted
        self._linked: set[str] = set()
        """Files with other names, by which they can be written to without a word."""
        self._retired: InotifyDescriptor | None = None
        self._followed: FollowedReading | None = None
        self._changed = _ANYTHING

    @property
    def handle(self) -> int | None:
        """What can be waited for to become readable when something happens; None where the system doesn't tell."""
        return self._descriptor.handle if self._descriptor else None

    def is_silent(self) -> bool:
        """Whether there is no doubt at all; that is known without a look at the project."""
        ##= man/spec/mcp.md#freshness
        ##% The server MUST rely on the system's notifications of changes, and look for changes itself only where they
        ##% are missing or unreliable, as on network file systems.
        if self._descriptor is None or self._changed or not self._descriptor.is_silent():
            return False
        return not self._are_stirred()

    @property
    def looks(self) -> bool:
        """Whether there are files that nothing is told of, so that they have to be looked at."""
        return bool(self._linked)

    def _are_stirred(self) -> bool:
        followed, linked = self._followed, self._linked
        return bool(linked and followed and followed.answers.altered_among(linked))

    def calm(self, milliseconds: int) -> None:
        """Wait until nothing happens for so long, but not more than a few times."""
        for _ in range(_ATTEMPTS):
            if self._descriptor is None or self._descriptor.is_silent(milliseconds):
                return
            self.changed()

    def changed(self) -> bool:
        """Whether anything would be read otherwise by now."""
        followed = self._followed
        if followed is None or self._changed:
            return bool(self._changed)
        self._changed = self._heard(followed, lambda: self._touched(followed))
        return bool(self._changed)

    def _touched(self, followed: FollowedReading) -> set[str]:
        """What has changed, or was written to at least: what was there for a moment may have been read then."""
        events = self._events()
        written = followed.about(events) or set()
        return written | followed.among(events) | followed.answers.altered_among(self._linked)

    def forget(self) -> None:
        """Nothing is known of the last reading."""
        self._followed, self._changed, self._linked = None, _ANYTHING, set()

    def trust(self) -> None:
        """Nothing can change."""
        self._followed, self._changed, self._linked = None, set(), set()

    def follow(self, answers: RecordedAnswers) -> bool:
        """From now on it is about this reading; whether that is of one moment."""
        heard_of = self._descriptor.folders if self._descriptor and self._followed else set()
        followed = self._followed = FollowedReading(answers, self._descriptor or _Nobody())
        self._changed = self._heard(followed, followed.everything)
        self._look_where_nothing_is_told(followed)
        events = self._events()
        touched = followed.about(events)
        self._changed |= self._heard(followed, lambda: followed.among(events))
        ##= man/spec/mcp.md#freshness
        ##% An answer MUST describe one state of the project, with everything that was written to disk before the
        ##% request.
        # Where one file alone has changed since the reading began, it was read before that or after it.
        alone = touched is not None and len(touched | self._changed) == 1
        return not self._changed or (alone and followed.folders <= heard_of)

    def _look_where_nothing_is_told(self, followed: FollowedReading) -> None:
        if self._descriptor is None:
            return
        self._mounts = self._mounts or read_mounts()
        if self._mounts.are_blind(followed.folders):
            self._retire()
        else:
            self._linked = set(followed.answers.linked())

    def _events(self) -> Iterable[FolderEvent]:
        return self._descriptor.read() if self._descriptor else UNKNOWN_EVENTS

    def _heard(self, followed: FollowedReading, ask: Callable[[], set[str]]) -> set[str]:
        """What has changed; where the system has no room for more folders, it is asked no more."""
        for _ in range(_ATTEMPTS):
            if self._descriptor is None:
                return followed.answers.altered()
            try:
                return ask()
            except FileNotFoundError:
                # A folder was there a moment ago.
                ask = followed.everything
            except OSError:
                self._retire()
                return followed.answers.altered()
        return _ANYTHING

    def _retire(self) -> None:
        """Somebody may be waiting for it, so it stays open, and silent."""
        self._retired, self._descriptor = self._descriptor, None
        if self._retired:
            with suppress(OSError):
                self._retired.open(set())

    def close(self) -> None:
        """Ask the system no more."""
        for one in filter(None, (self._descriptor, self._retired)):
            one.close()
        self._descriptor = self._retired = None


class _Nobody:
    """Tells nothing."""

    folders: set[str] = set()  # noqa: RUF012

    def open(self, folders: set[str]) -> None:
        pass


def open_descriptor(environ: Mapping[str, str]) -> InotifyDescriptor | None:
    """What tells of changes here; None where nothing does, or nobody wants it."""
    if sys.platform != "linux" or wants_polling(environ):
        return None
    try:
        return InotifyDescriptor()
    except OSError:
        return None
