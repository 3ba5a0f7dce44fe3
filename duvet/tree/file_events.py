"""File system notifications: inotify where it is reliable, watchfiles or polling elsewhere."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import select
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from threading import Event as Stop
from typing import TYPE_CHECKING
from weakref import finalize

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import format_count

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify


FolderEvent = tuple[int, str]
"""What happened, and the absolute path that it happened to."""
UNKNOWN_EVENTS: tuple[FolderEvent, ...] = ()
"""Something has happened, or may have."""
MODIFIED_EVENT = 2
"""Neither added nor deleted."""

_QUIET = 25
"""Milliseconds without an event after which those that have come count as one change."""
_LONGEST = 400
"""Milliseconds after which events that don't end count as one, too."""
_BETWEEN_POLLS = 0.3
_NO_POLLS = ("", "false", "disable", "disabled")
_ATTEMPTS = 5


class FolderWatcher:
    """Hears of everything that happens in some folders."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.polling = wants_polling(environ)
        delay = environ.get("WATCHFILES_POLL_DELAY_MS", "")
        self.seconds = int(delay) / 1000 if delay.isdecimal() else _BETWEEN_POLLS
        self.folders: set[str] = set()
        self._told: RustNotify | None = None

    def open(self, folders: set[str]) -> None:
        """Hear of these folders from now on, and of no others; what has not been waited for is forgotten."""
        self.close()
        ##= man/spec/watch.md#noticing-changes
        ##% duvet MUST watch only the folders that matter, by notifications of the system, and poll only when
        ##% `WATCHFILES_FORCE_POLLING` says so.
        if self.polling:
            return
        for _ in range(_ATTEMPTS):
            try:
                self._told = self._opened([one for one in folders if _can_be_watched(one)])
            except (FileNotFoundError, PermissionError):
                # Gone, or closed to us, since it was looked at.
                continue
            self.folders = folders
            return
        raise DuvetError("can't watch for changes: folders come and go too fast")

    def _opened(self, folders: list[str]) -> RustNotify:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        try:
            return RustNotify(folders, False, False, 0, False, False)
        except (FileNotFoundError, PermissionError):
            raise
        except (OSError, WatchfilesRustInternalError) as error:
            raise _refusal(str(error), len(folders)) from error

    def wait(self, stop: Stop) -> Iterable[FolderEvent] | None:
        """What has happened since the last time, which may be unknown; None once that is asked to stop."""
        if self.polling:
            # watchfiles has a way of its own to poll, but what is changed twice in a second escapes it.
            return None if stop.wait(self.seconds) else UNKNOWN_EVENTS
        from watchfiles._rust_notify import WatchfilesRustInternalError

        assert self._told is not None
        try:
            ##= man/spec/watch.md#reporting-again
            ##% `duvet report --watch` SHOULD answer changes that come together with one run, and MUST name some of the
            ##% changed files first.
            told = self._told.watch(_LONGEST, _QUIET, 0, stop)
        except WatchfilesRustInternalError:
            # Such as a name that is not UTF-8. From then on it says nothing else.
            self.close()
            return UNKNOWN_EVENTS
        if told == "signal":
            # Python's own handler has been called, and what it raised was caught.
            raise KeyboardInterrupt
        return None if isinstance(told, str) else told

    def close(self) -> None:
        """Hear of nothing any more."""
        if self._told is not None:
            self._told.close()
        self._told = None
        self.folders = set()


def wants_polling(environ: Mapping[str, str]) -> bool:
    """Whether files are to be looked at again and again."""
    # The names are those of watchfiles, for file systems that don't tell, such as network drives.
    return environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in _NO_POLLS


def _can_be_watched(folder: str) -> bool:
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return os.access(folder, os.R_OK)


def _refusal(reason: str, count: int) -> DuvetError:
    ##= man/spec/watch.md#noticing-changes
    ##% When the system does not allow enough watched folders, duvet MUST say so and what to do.
    if "watch limit" in reason:
        return DuvetError(
            f"can't watch {format_count(count, 'folder')}: the system allows no more",
            hint="raise the limit, with `sudo sysctl fs.inotify.max_user_watches=524288`, or name fewer folders",
        )
    if "os error 24" in reason:
        return DuvetError(
            "can't watch for changes: too many programs of this user do so, or too many files are open",
            hint="end some of them, or raise the limit, with `sudo sysctl fs.inotify.max_user_instances=1024`",
        )
    return DuvetError(f"can't watch for changes: {reason}")


_BLIND = re.compile(
    r"(nfs\d?|9p|fuse.*|virtiofs|cifs|smb.*|vboxsf|vmhgfs|prl_fs|drvfs|ceph|afs|lustre|beegfs|ocfs2|gfs2?)\Z"
)
"""Others than this machine write there, or this machine past the system that we ask."""
_LAYERS = re.compile(r"(?:\A|,)(?:lowerdir|upperdir)\+?=((?:\\.|[^,])*)")
_ESCAPED = re.compile(r"\\(0[0-7]{2}|1[0-7]{2})")
_MOUNTED = "/proc/self/mountinfo"


class Mount(Struct, frozen=True):
    """A file system, and where it begins."""

    folder: str
    kind: str
    options: str = ""


class MountTable:
    """All that are mounted."""

    def __init__(self, mounts: Iterable[Mount] = ()) -> None:
        # What was mounted last hides what was there before.
        self._mounts = {mount.folder: mount for mount in mounts}

    def are_blind(self, folders: Iterable[str]) -> bool:
        """Whether changes in one of these real folders may be made without being told of."""
        found = {mount.folder: mount for mount in map(self._mount_of, folders) if mount}
        return any(map(self._is_blind, found.values()))

    def _is_blind(self, mount: Mount) -> bool:
        if mount.kind != "overlay":
            return bool(_BLIND.match(mount.kind))
        layers = [layer for listed in _LAYERS.findall(mount.options) for layer in listed.split(":")]
        below = [self._mount_of(_plain(layer)) for layer in layers]
        return any(_BLIND.match(one.kind) for one in below if one)

    def _mount_of(self, folder: str) -> Mount | None:
        path = PurePosixPath(folder)
        return next((self._mounts[str(one)] for one in (path, *path.parents) if str(one) in self._mounts), None)


def parse_mounts(table: str) -> MountTable:
    """What a table of the system says."""
    return MountTable(_mounts(table))


def _mounts(table: str) -> Iterable[Mount]:
    for line in table.splitlines():
        place, _, kind = line.partition(" - ")
        places, kinds = place.split(" "), kind.split(" ")
        if len(places) > 4 and len(kinds) > 2:
            yield Mount(_plain(places[4]), kinds[0], kinds[2])


def _plain(written: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), written)


def read_mounts() -> MountTable:
    """Those of this process; none where the system has no such table."""
    try:
        with open(_MOUNTED, encoding="utf-8", errors="surrogateescape") as table:
            return parse_mounts(table.read())
    except OSError:
        return MountTable()


_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_OVERFLOW, _IGNORED, _ONLY_FOLDERS = 0x4000, 0x8000, 0x1000000
_CONTENT = _MODIFY | _ATTRIB | _CLOSE_WRITE
_NAMES = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_ADDED = 1
_HEAD = struct.Struct("iIII")
_SIZE = 1 << 16
_GONE = (errno.ENOENT, errno.ENOTDIR)


class InotifyDescriptor:
    """Hears of everything that happens in some folders.

    The system has put a change in here before the call that made it returns: while the descriptor is silent, there was
    none. OSError where the system has no room for another one, or for so many folders.
    """

    def __init__(self) -> None:
        self._system = ctypes.CDLL(None, use_errno=True)
        self.handle = self._asked("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders: set[str] = set()
        self._watched: dict[int, set[str]] = {}
        self._readable = select.poll()
        self._readable.register(self.handle, select.POLLIN)
        self._closed = finalize(self, os.close, self.handle)

    def is_silent(self, milliseconds: int = 0) -> bool:
        """Whether nothing has happened that has not been read, and nothing does within this time."""
        return self._closed.alive and not self._readable.poll(milliseconds)

    def open(self, folders: set[str]) -> None:
        """Hear of these folders from now on, and of no others; FileNotFoundError where one of them has gone."""
        watched: dict[int, set[str]] = {}
        for folder in folders:
            try:
                mask = _CONTENT | _NAMES | _ONLY_FOLDERS
                number = self._asked("inotify_add_watch", self.handle, os.fsencode(folder), mask)
            except PermissionError:
                # Who may not read a folder hears from the one around it when that changes.
                continue
            watched.setdefault(number, set()).add(folder)
        for number in self._watched.keys() - watched.keys():
            self._asked("inotify_rm_watch", self.handle, number)
        self._watched = watched
        self.folders = folders

    def read(self) -> Iterable[FolderEvent]:
        """What has happened since the last time, which may be unknown; none of it is waited for."""
        found: list[FolderEvent] = []
        while self._closed.alive and not self.is_silent():
            for number, kind, name in _parts(os.read(self.handle, _SIZE)):
                if kind & _OVERFLOW:
                    ##= man/spec/mcp.md#freshness
                    ##% The server MUST rely on the system's notifications of changes, and look for changes itself only
                    ##% where they are missing or unreliable, as on network file systems.
                    self._drop()
                    return UNKNOWN_EVENTS
                folders = self._watched.get(number, set())
                found += [(_kind(kind), f"{folder}/{name}" if name else folder) for folder in folders]
                if kind & _IGNORED:
                    self.folders = self.folders - self._watched.pop(number, set())
        return found

    def _drop(self) -> None:
        while not self.is_silent():
            os.read(self.handle, _SIZE)

    def close(self) -> None:
        """Hear of nothing any more."""
        self._closed()

    def _asked(self, name: str, *arguments: object) -> int:
        answer = int(getattr(self._system, name)(*arguments))
        if answer < 0:
            number = ctypes.get_errno()
            # It may have gone by itself.
            if name == "inotify_rm_watch" and number == errno.EINVAL:
                return 0
            raise OSError(errno.ENOENT if number in _GONE else number, os.strerror(number))
        return answer


def _kind(kind: int) -> int:
    return MODIFIED_EVENT if kind & _CONTENT else _ADDED


def _parts(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Each event in what the system writes: which watch it is from, what happened, and to which name there."""
    start = 0
    while start < len(data):
        number, kind, _, size = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        yield number, kind, os.fsdecode(data[start : start + size].rstrip(b"\0"))
        start += size
