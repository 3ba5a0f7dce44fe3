"""Why a store can't be asked."""

from __future__ import annotations

from duvet.errors import DuvetError


class StoreError(DuvetError):
    """A store that can't be read or written."""


class MissingError(StoreError):
    """Nothing was taken in yet."""


class FullError(StoreError):
    """There is no room for what is to be written."""


class BusyError(StoreError):
    """Somebody else is writing."""


class ChangedError(StoreError):
    """Somebody else has written meanwhile."""


class VersionError(StoreError):
    """A store that another version of duvet has made."""


class OlderError(VersionError):
    """One that an older duvet has made, which the next run replaces."""


class DamagedError(StoreError):
    """What stands there is no store, or not a whole one."""
