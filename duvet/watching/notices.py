"""What the system tells about folders: the one place that knows who watches them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from threading import Event as Stop
from typing import TYPE_CHECKING

from duvet.errors import DuvetError
from duvet.text import plural

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

Event = tuple[int, str]
"""What happened, and the absolute path that it happened to."""
UNKNOWN: tuple[Event, ...] = ()
"""Something has happened, or may have."""
MODIFIED = 2
"""Neither added nor deleted."""

_QUIET = 25
"""Milliseconds without an event after which those that have come count as one change."""
_LONGEST = 400
"""Milliseconds after which events that don't end count as one, too."""
_BETWEEN_POLLS = 0.3
_NO_POLLS = ("", "false", "disable", "disabled")
_ATTEMPTS = 5


class Notices:
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
        ##= man/spec/watch.md#noticing
        ##% The system MUST be asked to tell of changes; files MUST NOT be looked at again and again unless
        ##% `WATCHFILES_FORCE_POLLING` asks for that.
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

    def wait(self, stop: Stop) -> Iterable[Event] | None:
        """What has happened since the last time, which may be unknown; None once that is asked to stop."""
        if self.polling:
            # watchfiles has a way of its own to poll, but what is changed twice in a second escapes it.
            return None if stop.wait(self.seconds) else UNKNOWN
        from watchfiles._rust_notify import WatchfilesRustInternalError

        assert self._told is not None
        try:
            ##= man/spec/watch.md#reporting-again
            ##% Changes that come together SHOULD cause one run.
            told = self._told.watch(_LONGEST, _QUIET, 0, stop)
        except WatchfilesRustInternalError:
            # Such as a name that is not UTF-8. From then on it says nothing else.
            self.close()
            return UNKNOWN
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
    ##= man/spec/watch.md#noticing
    ##% Where the system doesn't let so many folders be watched, duvet MUST say so and what to do.
    if "watch limit" in reason:
        return DuvetError(
            f"can't watch {plural(count, 'folder')}: the system allows no more",
            hint="raise the limit, with `sudo sysctl fs.inotify.max_user_watches=524288`, or name fewer folders",
        )
    if "os error 24" in reason:
        return DuvetError(
            "can't watch for changes: too many programs of this user do so, or too many files are open",
            hint="end some of them, or raise the limit, with `sudo sysctl fs.inotify.max_user_instances=1024`",
        )
    return DuvetError(f"can't watch for changes: {reason}")
