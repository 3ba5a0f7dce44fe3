"""The word of Linux that something has happened in some folders, for those who don't want to wait for it."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
from collections.abc import Iterable, Iterator
from weakref import finalize

from duvet.watching.notices import MODIFIED, UNKNOWN, Event

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_OVERFLOW, _IGNORED, _ONLY_FOLDERS = 0x4000, 0x8000, 0x1000000
_CONTENT = _MODIFY | _ATTRIB | _CLOSE_WRITE
_NAMES = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_ADDED = 1
_HEAD = struct.Struct("iIII")
_SIZE = 1 << 16
_GONE = (errno.ENOENT, errno.ENOTDIR)


class Descriptor:
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

    def read(self) -> Iterable[Event]:
        """What has happened since the last time, which may be unknown; none of it is waited for."""
        found: list[Event] = []
        while self._closed.alive and not self.is_silent():
            for number, kind, name in _parts(os.read(self.handle, _SIZE)):
                if kind & _OVERFLOW:
                    ##= man/spec/mcp.md#freshness
                    ##% Where the system loses count of what has changed, all that an answer was made from MUST be looked
                    ##% at again.
                    self._drop()
                    return UNKNOWN
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
    return MODIFIED if kind & _CONTENT else _ADDED


def _parts(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Each event in what the system writes: which watch it is from, what happened, and to which name there."""
    start = 0
    while start < len(data):
        number, kind, _, size = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        yield number, kind, os.fsdecode(data[start : start + size].rstrip(b"\0"))
        start += size
