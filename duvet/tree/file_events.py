"""Notifications of changed files: from inotify for the server, from watchfiles or polling for `--watch`."""

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

from duvet.errors import DuvetError
from duvet.text import format_count

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

FolderEvent = tuple[int, str]  # The kind of event, and the absolute path.
UNKNOWN_EVENTS: tuple[FolderEvent, ...] = ()  # Something has changed, or may have changed.
MODIFIED_EVENT = 2  # Neither added nor deleted.

_QUIET = 25  # After this many milliseconds without an event, the events so far count as one change.
_LONGEST = 400  # After this many milliseconds, events count as one change even if more events arrive.
_BETWEEN_POLLS = 0.3
_ATTEMPTS = 5
_SURROGATE = "[\ud800-\udfff]"  # In a name that is not UTF-8, which watchfiles can't watch.


class FolderWatcher:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self.polling = wants_polling(environ)
        delay = environ.get("WATCHFILES_POLL_DELAY_MS", "")
        self.seconds = int(delay) / 1000 if delay.isdecimal() else _BETWEEN_POLLS
        self.folders: set[str] = set()
        self._notifier: RustNotify | None = None

    def open(self, folders: set[str]) -> None:
        self.close()
        if self.polling:
            return
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        for _ in range(_ATTEMPTS):
            try:
                watched = [one for one in folders if os.access(one, os.R_OK) and not re.search(_SURROGATE, one)]
                self._notifier = RustNotify(watched, False, False, 0, False, False)
            except (FileNotFoundError, PermissionError):
                # Since the check, the folder was removed or its permissions changed.
                continue
            except (OSError, WatchfilesRustInternalError) as error:
                message, hint = f"can't watch for changes: {error}", ""
                if "watch limit" in str(error):
                    message = f"can't watch {format_count(len(watched), 'folder')}: the system's limit is reached"
                    hint = "raise the limit with `sudo sysctl fs.inotify.max_user_watches=524288`"
                elif "os error 24" in str(error):
                    message = "can't watch for changes: too many watchers or open files"
                    hint = (
                        "close some programs, or raise the limit with `sudo sysctl fs.inotify.max_user_instances=1024`"
                    )
                raise DuvetError(message, hint=hint) from error
            self.folders = folders
            return
        raise DuvetError("can't watch for changes: folders are created and removed too fast")

    def wait(self, stop: Stop) -> Iterable[FolderEvent] | None:
        """Return None after `stop`."""
        if self.polling:
            # watchfiles can also poll, but it misses the second of two changes within a second.
            return None if stop.wait(self.seconds) else UNKNOWN_EVENTS
        from watchfiles._rust_notify import WatchfilesRustInternalError

        assert self._notifier is not None
        try:
            events = self._notifier.watch(_LONGEST, _QUIET, 0, stop)
        except WatchfilesRustInternalError:
            # This happens, for example, after a name that is not UTF-8; watchfiles then reports nothing else.
            self.close()
            return UNKNOWN_EVENTS
        if events == "signal":
            # Python's own handler was called, and the exception that it raised was caught.
            raise KeyboardInterrupt
        return None if isinstance(events, str) else events

    def close(self) -> None:
        if self._notifier is not None:
            self._notifier.close()
        self._notifier = None
        self.folders = set()


def wants_polling(environ: Mapping[str, str]) -> bool:
    # These are watchfiles' variables, for file systems without notifications, such as network drives.
    return environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "false", "disable", "disabled")


_BLIND = re.compile(
    r"(nfs\d?|9p|fuse.*|virtiofs|cifs|smb.*|vboxsf|vmhgfs|prl_fs|drvfs|ceph|afs|lustre|beegfs|ocfs2|gfs2?)\Z"
)
"""File systems on which changes by other machines, or by this one, may cause no notification."""
_LAYERS = re.compile(r"(?:\A|,)(?:lowerdir|upperdir)\+?=((?:\\.|[^,])*)")
_ESCAPED = re.compile(r"\\(0[0-7]{2}|1[0-7]{2})")


class MountTable:
    def __init__(self, table: str = "") -> None:
        rows = [[part.split(" ") for part in line.partition(" - ")[::2]] for line in table.splitlines()]
        # The last mount on a folder hides the earlier ones.
        self._mounts = {
            _unescape(place[4]): (kind[0], kind[2]) for place, kind in rows if len(place) > 4 and len(kind) > 2
        }

    def are_blind(self, folders: Iterable[str]) -> bool:
        """Return whether changes in any of these folders may go unnoticed; symlinks must be resolved."""
        found = {mount for mount in map(self._find_mount, folders) if mount}
        for _, options in [mount for mount in found if mount[0] == "overlay"]:
            layers = [layer for listed in _LAYERS.findall(options) for layer in listed.split(":")]
            found |= {mount for layer in layers if (mount := self._find_mount(_unescape(layer)))}
        return any(_BLIND.match(kind) for kind, _ in found)

    def _find_mount(self, folder: str) -> tuple[str, str] | None:
        path = PurePosixPath(folder)
        return next((self._mounts[str(one)] for one in (path, *path.parents) if str(one) in self._mounts), None)


def _unescape(written: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), written)


def read_mounts() -> MountTable:
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            return MountTable(table.read())
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


class InotifyDescriptor:
    """Watches folders with inotify; raises OSError if the system allows no more descriptors or watched folders."""

    # The system queues an event before the change is complete, so while no event is queued, nothing has changed.

    def __init__(self) -> None:
        self._system = ctypes.CDLL(None, use_errno=True)
        self.handle = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders: set[str] = set()
        self._watched: dict[int, set[str]] = {}
        self._readable = select.poll()
        self._readable.register(self.handle, select.POLLIN)
        self._closed = finalize(self, os.close, self.handle)

    def is_silent(self, milliseconds: int = 0) -> bool:
        return self._closed.alive and not self._readable.poll(milliseconds)

    def open(self, folders: set[str]) -> None:
        """Raise FileNotFoundError if a folder no longer exists."""
        watched: dict[int, set[str]] = {}
        for folder in folders:
            try:
                mask = _CONTENT | _NAMES | _ONLY_FOLDERS
                number = self._call("inotify_add_watch", self.handle, os.fsencode(folder), mask)
            except PermissionError:
                # If the permissions of the folder change, its parent reports it.
                continue
            watched.setdefault(number, set()).add(folder)
        for number in self._watched.keys() - watched.keys():
            self._call("inotify_rm_watch", self.handle, number)
        self._watched = watched
        self.folders = folders

    def read(self) -> Iterable[FolderEvent]:
        found: list[FolderEvent] = []
        while self._closed.alive and not self.is_silent():
            for number, kind, name in _parse_events(os.read(self.handle, _SIZE)):
                if kind & _OVERFLOW:
                    while not self.is_silent():
                        os.read(self.handle, _SIZE)
                    return UNKNOWN_EVENTS
                folders = self._watched.get(number, set())
                event = MODIFIED_EVENT if kind & _CONTENT else _ADDED
                found += [(event, f"{folder}/{name}" if name else folder) for folder in folders]
                if kind & _IGNORED:
                    self.folders = self.folders - self._watched.pop(number, set())
        return found

    def close(self) -> None:
        self._closed()

    def _call(self, name: str, *arguments: object) -> int:
        answer = int(getattr(self._system, name)(*arguments))
        if answer < 0:
            number = ctypes.get_errno()
            # The system may already have removed it.
            if name == "inotify_rm_watch" and number == errno.EINVAL:
                return 0
            raise OSError(errno.ENOENT if number in (errno.ENOENT, errno.ENOTDIR) else number, os.strerror(number))
        return answer


def _parse_events(data: bytes) -> Iterator[tuple[int, int, str]]:
    start = 0
    while start < len(data):
        number, kind, _, size = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        yield number, kind, os.fsdecode(data[start : start + size].rstrip(b"\0"))
        start += size
