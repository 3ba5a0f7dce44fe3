"""Why a store can't be asked."""

from __future__ import annotations

from duvet.errors import DuvetError


class StoreError(DuvetError):
    """A store that can't be read or written."""


class MissingError(StoreError):
    """Nothing was taken in yet."""


class BusyError(StoreError):
    """Somebody else is writing."""
