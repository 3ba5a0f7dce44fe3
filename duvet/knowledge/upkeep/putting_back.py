"""Puts a store in the place of another one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress

from duvet.errors import TakenError
from duvet.knowledge.upkeep.places import Places
from duvet.knowledge.upkeep.scratch import writing
from duvet.outputs import put, settle
from duvet.store.copying import moment_of, move_aside, overwrite
from duvet.store.errors import BusyError, ChangedError, DamagedError, MissingError, VersionError
from duvet.store.opening import open_store
from duvet.store.places import files_of
from duvet.store.replacing import can_be_replaced
from duvet.store.sqlite import SqliteStore

_TRIES = 5


def put_back(places: Places, copy: str, keep: Callable[[], str] | None, aside: str, patience: float) -> str:
    """Put a copy there; where it can be called on to keep what was there before, the path that this has told.

    What is no store any more goes to the folder `aside` instead, or away.
    """
    ##= man/spec/gateway.md#maintenance
    ##% `duvet restore` MUST put a backup in the place of the store at once and as a whole, also while servers have it open,
    ##% and MUST keep what was there before as another backup, unless `--force` is given.
    for _ in range(_TRIES):
        try:
            return _overwritten(places.store, copy, keep, patience)
        except ChangedError:
            continue
        except MissingError:
            pass
        except (DamagedError, VersionError) as error:
            if isinstance(error, DamagedError) and not can_be_replaced(places.store):
                raise
        kept = _moved(places.store, aside, keeps=keep is not None)
        with suppress(TakenError):
            with writing(places.folder):
                put(copy, places.store, replaces=False)
            settle(places.folder)
            return kept
    raise BusyError("others write to it again and again", path=places.store, hint="try again when that is done")


def _overwritten(path: str, copy: str, keep: Callable[[], str] | None, patience: float) -> str:
    with closing(open_store(path)) as store:
        assert isinstance(store, SqliteStore)
        if keep is None:
            overwrite(store.database, copy, patience)
            return ""
        moment = moment_of(store.database)
        kept = keep()
        try:
            ##= man/spec/gateway.md#maintenance
            ##% A run that ends while a backup is put back MUST be in the backup of what was there before.
            overwrite(store.database, copy, patience, only=moment)
        except ChangedError:
            # The next one holds what it holds, and more.
            with suppress(OSError):
                os.unlink(kept)
            raise
        return kept


def _moved(path: str, aside: str, *, keeps: bool) -> str:
    """Take away what is left of a store; where it is now, if anywhere."""
    from shutil import rmtree

    ##= man/spec/gateway.md#maintenance
    ##% What sqlite has left beside a store that is gone MUST NOT be taken for a part of the one that is put back.
    if not any(map(os.path.lexists, files_of(path))):
        return ""
    move_aside(path, aside)
    if keeps:
        return aside
    with suppress(OSError):
        rmtree(aside)
    return ""
