"""What has changed since the snapshot that is committed."""

from __future__ import annotations

from msgspec import Struct


class SnapshotChange(Struct, frozen=True, kw_only=True):
    """A line of the snapshot that is not what it was."""

    specification: str
    section: str
    text: str
    before: str
    """What the line had got; nothing where it was not there."""
    after: str


class Since(Struct, frozen=True, kw_only=True):
    """The lines of a snapshot by what has become of them."""

    gained: tuple[SnapshotChange, ...] = ()
    lost: tuple[SnapshotChange, ...] = ()
    added: tuple[SnapshotChange, ...] = ()
    removed: tuple[SnapshotChange, ...] = ()
