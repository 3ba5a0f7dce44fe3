"""How much room a restore needs, which is asked before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from shutil import disk_usage

from duvet.errors import OutputError
from duvet.knowledge.upkeep.backup import MOST_REPORTS, folder_above
from duvet.knowledge.upkeep.manifest import REPORTS
from duvet.knowledge.upkeep.places import Places
from duvet.knowledge.upkeep.scratch import writing
from duvet.store.errors import StoreError
from duvet.store.opening import open_store
from duvet.store.places import files_of

_SHARE = 2
"""What is unpacked takes at most one part in so many of the room that there is: the store takes as much once more."""
_AROUND = 1 << 16
"""More bytes than sqlite needs besides."""
_FORCE = "make room, or keep no backup of what is there, with --force"


def room(folder: str) -> int:
    """How many bytes may be written to a folder of what comes from anybody."""
    return _free(folder) // _SHARE


def no_room(folder: str, what: str) -> OutputError:
    """That what comes from anybody takes more than that."""
    return OutputError(
        f"there is no room for {what}: it would take more than half of what is free",
        path=os.path.dirname(folder),
        hint="make room, if this is a backup of yours",
    )


def check_room(places: Places, folder: str, size: int, *, keeps: bool) -> None:
    """That so many bytes can be unpacked here and put in the place of what is there; OutputError where not."""
    current = _size_of(places)
    if not current:
        # What is there is moved, if anything.
        return
    free = _free(folder)
    forced = size + _log_of(size) + max(0, size - current)
    needed = max(forced, size + current) if keeps else forced
    ##= man/spec/gateway.md#maintenance
    ##% A restore MUST change nothing where there is no room to put the store in the place of another one and, unless
    ##% `--force` is given, for a copy and an archive of that.
    if keeps and _is_one_disk(places.folder, folder_above(places.backups)):
        needed += current
    if needed > free:
        what = "this backup and one of what is there" if keeps else "this backup in the place of what is there"
        message = f"there is no room for {what}: that takes up to {needed:,} bytes, and {free:,} are free"
        hint = _FORCE if keeps and forced <= free else "make room"
        raise OutputError(message, path=places.folder, hint=hint)


def _log_of(size: int) -> int:
    """What sqlite writes before it changes anything: all pages, each with a little around it."""
    return size + size // 64 + _AROUND


@contextmanager
def advising_force() -> Iterator[None]:
    """What can't be written of a backup of what is there can be left out."""
    try:
        yield
    except OutputError as error:
        error.hint = _FORCE
        raise


def _free(folder: str) -> int:
    with writing(os.path.dirname(folder)):
        return disk_usage(folder).free


def _size_of(places: Places) -> int:
    """How many bytes a copy of what is there takes; 0 where none is made."""
    try:
        with closing(open_store(places.store)) as store:
            reports = sum(len(one) + 1 for kind in REPORTS.values() for one in store.reports(kind, MOST_REPORTS))
    except StoreError:
        return 0
    files = (*files_of(places.store), places.feedback)
    return reports + sum(os.path.getsize(path) for path in files if os.path.exists(path))


def _is_one_disk(folder: str, other: str) -> bool:
    return os.stat(folder).st_dev == os.stat(other or os.curdir).st_dev
