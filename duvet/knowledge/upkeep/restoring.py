"""Puts a backup in the place of what is kept."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from datetime import datetime

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.upkeep.backup import back_up
from duvet.knowledge.upkeep.lines import append_all, lines_of
from duvet.knowledge.upkeep.manifest import FEEDBACK, STORE, Manifest
from duvet.knowledge.upkeep.places import BACKUP, BACKUPS, Places
from duvet.knowledge.upkeep.scratch import scratch
from duvet.knowledge.upkeep.unpacking import unpack
from duvet.outputs import settle
from duvet.store.copying import move_aside, overwrite
from duvet.store.errors import BusyError, DamagedError, MissingError, VersionError
from duvet.store.opening import open_store
from duvet.store.replacing import can_be_replaced
from duvet.store.sqlite import SqliteStore

PATIENCE = 10.0
"""Seconds that it is waited for those who write."""


class Restored(Struct, frozen=True):
    """What has come of it."""

    manifest: Manifest
    kept: str = ""
    """Where what was there before is now; empty where there was nothing, or nobody wanted it."""
    votes: int = 0
    """How many were brought back."""


def restore(places: Places, path: str, now: datetime, *, keeps: bool = True, patience: float = PATIENCE) -> Restored:
    """Put what is in the archive in the place of what is kept; DuvetError where that can't be, and nothing is changed."""
    places.make(f"{places.store}*")
    with scratch(places) as folder:
        manifest = unpack(path, folder)
        copy = os.path.join(folder, STORE)
        _check(copy)
        kept = _put_back(places, copy, now, patience, keeps=keeps)
        return Restored(manifest, kept, _bring_back(places, os.path.join(folder, FEEDBACK)))


def _check(copy: str) -> None:
    """That it is a store which can be read; the error tells nothing of where it is for the moment."""
    try:
        with closing(open_store(copy)) as store:
            store.artifacts()
    except DuvetError as error:
        hint = "take everything in again instead" if isinstance(error, VersionError) else "take another backup"
        raise type(error)(f"the store in this backup is of no use: {error.message}", hint=hint) from error


def _put_back(places: Places, copy: str, now: datetime, patience: float, *, keeps: bool) -> str:
    ##= man/spec/gateway.md#maintenance
    ##% `duvet restore` MUST put a backup in the place of the store at once and as a whole, also while servers have it open,
    ##% and MUST keep what was there before as another backup, unless `--force` is given.
    try:
        with closing(open_store(places.store)) as store:
            assert isinstance(store, SqliteStore)
            kept = back_up(places, places.backups, now).path if keeps else ""
            overwrite(store.database, copy, patience)
            return kept
    except BusyError:
        raise
    except MissingError:
        kept = ""
    except (DamagedError, VersionError) as error:
        if isinstance(error, DamagedError) and not can_be_replaced(places.store):
            raise
        # On the same disk, so that it is moved and not copied.
        name = f"{BACKUP}replaced-{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
        kept = os.path.join(places.folder, BACKUPS, name)
        move_aside(places.store, kept)
        if not keeps:
            _remove(kept)
            kept = ""
    os.replace(copy, places.store)
    settle(places.folder)
    return kept


def _remove(folder: str) -> None:
    from shutil import rmtree

    with suppress(OSError):
        rmtree(folder)


def _bring_back(places: Places, path: str) -> int:
    """Add the feedback that isn't there any more."""
    ##= man/spec/gateway.md#maintenance
    ##% Neither a run, nor a store that is replaced, nor a backup that is restored MUST lose feedback: what was given since
    ##% stays, and what is missing comes back.
    known = set(lines_of(places.feedback))
    missing = [line for line in lines_of(path) if line not in known]
    if missing:
        append_all(places.make(places.feedback), missing)
    return len(missing)
