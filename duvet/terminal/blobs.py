"""What earlier runs have kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.terminal.settings import Settings, wants_cache

if TYPE_CHECKING:
    from duvet.cache.blobs import Blobs


def blobs_of(shown: Settings) -> Blobs:
    """What earlier runs have kept for this project, where a cache is wanted."""
    from duvet.cache.blobs import Blobs, NoBlobs
    from duvet.tree.disk import CACHE_FOLDER, DiskTree

    return Blobs(DiskTree().at(CACHE_FOLDER)) if wants_cache(shown) else NoBlobs()
