"""Puts a backup in the place of what is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.upkeep.backup import back_up
from duvet.knowledge.upkeep.lines import append_all, each_line
from duvet.knowledge.upkeep.manifest import FEEDBACK, STORE, Manifest
from duvet.knowledge.upkeep.places import BACKUP, BACKUPS, Places
from duvet.knowledge.upkeep.putting_back import put_back
from duvet.knowledge.upkeep.room import advising_force, check_room
from duvet.knowledge.upkeep.scratch import scratch
from duvet.knowledge.upkeep.unpacking import spooled, unpack
from duvet.store.errors import VersionError
from duvet.store.opening import IGNORE, open_store

PATIENCE = 10.0
"""Seconds that it is waited for those who write."""
_AT_ONCE = 1000
"""Votes that are brought back in one step."""


class Restored(Struct, frozen=True):
    """What has come of it."""

    manifest: Manifest
    kept: str = ""
    """Where what was there before is now; empty where there was nothing, or nobody wanted it."""
    votes: int = 0
    """How many were brought back."""


def restore(
    places: Places,
    path: str,
    now: datetime,
    *,
    keeps: bool = True,
    patience: float = PATIENCE,
    stream: BinaryIO | None = None,
) -> Restored:
    """Put what is in the archive in the place of what is kept; DuvetError where that can't be, and the store stays.

    Where there is a stream, the archive comes out of it, and the path only tells what that is called.
    """
    with _folder(places), scratch(places.folder) as folder:
        archive = path if stream is None else spooled(stream, os.path.join(folder, "archive"), path)

        def check(manifest: Manifest) -> None:
            if STORE in manifest.files:
                check_room(places, folder, manifest.size, keeps=keeps)

        manifest = unpack(archive, folder, path, check)
        copy = os.path.join(folder, STORE)
        has_store = STORE in manifest.files
        if has_store:
            _check(copy)
        ##= man/spec/gateway.md#maintenance
        ##% `duvet restore` MUST bring feedback back before it replaces the store: where that can't be done, the store MUST
        ##% stay.
        votes = _bring_back(places, os.path.join(folder, FEEDBACK))
        kept = _replaced(places, copy, now, keeps=keeps, patience=patience) if has_store else ""
        return Restored(manifest, kept, votes)


@contextmanager
def _folder(places: Places) -> Iterator[None]:
    """The folder of the store; where there was none before, there is none after what goes wrong, either."""
    ##= man/spec/gateway.md#maintenance
    ##% Neither a restore nor a call without a token that fails MUST make the folder of the store where there is none.
    made, at = [], places.folder
    while at and not os.path.lexists(at):
        made.append(at)
        at = os.path.dirname(at)
    try:
        places.make(f"{places.store}*")
        yield
    except BaseException:
        with suppress(OSError):
            if made and os.listdir(places.folder) == [IGNORE]:
                os.unlink(os.path.join(places.folder, IGNORE))
            for one in made:
                os.rmdir(one)
        raise


def _replaced(places: Places, copy: str, now: datetime, *, keeps: bool, patience: float) -> str:
    # On the same disk, so that it is moved and not copied.
    name = f"{BACKUP}replaced-{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
    aside = os.path.join(places.folder, BACKUPS, name)

    def keep() -> str:
        with advising_force():
            return back_up(places, places.backups, now).path

    return put_back(places, copy, keep if keeps else None, aside, patience)


def _check(copy: str) -> None:
    """That it is a store which can be read; the error tells nothing of where it is for the moment."""
    try:
        with closing(open_store(copy)) as store:
            store.artifacts()
    except DuvetError as error:
        hint = "take everything in again instead" if isinstance(error, VersionError) else "take another backup"
        raise type(error)(f"the store in this backup is of no use: {error.message}", hint=hint) from error


def _bring_back(places: Places, votes: str) -> int:
    """Add the feedback of a file that isn't there any more; how much that was."""
    from blake3 import blake3

    ##= man/spec/gateway.md#maintenance
    ##% Neither a run, nor a store that is replaced, nor a backup that is restored MUST lose feedback: what was given since
    ##% stays, and what is missing comes back.
    known = {blake3(line).digest() for line in each_line(places.feedback)}
    missing = (line for line in each_line(votes) if blake3(line).digest() not in known)
    found = 0
    while some := list(islice(missing, _AT_ONCE)):
        append_all(places.make(places.feedback), some)
        found += len(some)
    return found
