"""Puts a backup in the place of what is kept."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import datetime

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.upkeep.backup import back_up
from duvet.knowledge.upkeep.lines import append_all, lines_of
from duvet.knowledge.upkeep.manifest import FEEDBACK, STORE, Manifest
from duvet.knowledge.upkeep.places import BACKUP, BACKUPS, Places
from duvet.knowledge.upkeep.putting_back import put_back
from duvet.knowledge.upkeep.scratch import scratch
from duvet.knowledge.upkeep.unpacking import unpack
from duvet.store.errors import VersionError
from duvet.store.opening import open_store

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
        copy, votes = os.path.join(folder, STORE), lines_of(os.path.join(folder, FEEDBACK))
        kept = ""
        # What can't be read is to be known before anything is changed.
        lines_of(places.feedback)
        if STORE in manifest.files:
            _check(copy)
            # On the same disk, so that it is moved and not copied.
            name = f"{BACKUP}replaced-{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
            aside = os.path.join(places.folder, BACKUPS, name)
            keep = (lambda: back_up(places, places.backups, now).path) if keeps else None
            kept = put_back(places, copy, keep, aside, patience)
        return Restored(manifest, kept, _bring_back(places, votes))


def _check(copy: str) -> None:
    """That it is a store which can be read; the error tells nothing of where it is for the moment."""
    try:
        with closing(open_store(copy)) as store:
            store.artifacts()
    except DuvetError as error:
        hint = "take everything in again instead" if isinstance(error, VersionError) else "take another backup"
        raise type(error)(f"the store in this backup is of no use: {error.message}", hint=hint) from error


def _bring_back(places: Places, votes: list[bytes]) -> int:
    """Add the feedback that isn't there any more."""
    ##= man/spec/gateway.md#maintenance
    ##% Neither a run, nor a store that is replaced, nor a backup that is restored MUST lose feedback: what was given since
    ##% stays, and what is missing comes back.
    known = set(lines_of(places.feedback))
    missing = [line for line in votes if line not in known]
    if missing:
        append_all(places.make(places.feedback), missing)
    return len(missing)
