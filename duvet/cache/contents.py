"""What a cache holds, for people who want to see it or be rid of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum

from msgspec import Raw, Struct

from duvet.cache.blobs import IGNORE, IGNORED, MAGIC, Blobs, mark
from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree


class State(StrEnum):
    """Whether a file of the cache is any good."""

    GOOD = "good"
    OTHER_BUILD = "of another build or user"
    DAMAGED = "damaged"
    FOREIGN = "not from duvet"


class Item(Struct, frozen=True):
    """One file of a cache."""

    name: str
    size: int
    state: State


def contents(blobs: Blobs) -> tuple[Item, ...]:
    """Every file, by name."""
    return tuple(_item(blobs, name) for name in blobs.names())


def _item(blobs: Blobs, name: str) -> Item:
    start, size = blobs.start(name), 0
    if start:
        with suppress(OSError):
            size = os.stat(os.path.join(blobs.folder, name)).st_size
    return Item(name, size, _state(blobs, name, start))


def _state(blobs: Blobs, name: str, start: bytes) -> State:
    if not start.startswith(MAGIC):
        return State.FOREIGN
    if not start.startswith(mark(name)):
        return State.OTHER_BUILD
    return State.DAMAGED if blobs.load(name, Raw) is None else State.GOOD


def clear(blobs: Blobs) -> tuple[Item, ...]:
    """Remove the cache; a file that is none of ours stays, and its folder too."""
    ##= man/spec/cache.md#keeping
    ##% `duvet cache` MUST show what the cache holds, and with `--clear` remove it and nothing else.
    found = tuple(item for item in contents(blobs) if item.state is not State.FOREIGN)
    for path in _ours(blobs, found):
        # Another one may be clearing it, too.
        with suppress(FileNotFoundError):
            os.unlink(path)
    with suppress(OSError):
        os.rmdir(blobs.folder)
    return found


def _ours(blobs: Blobs, found: tuple[Item, ...]) -> Iterator[str]:
    names = [item.name for item in found] + blobs.names(unfinished=True)
    yield from (os.path.join(blobs.folder, name) for name in names)
    ignore = os.path.join(blobs.folder, IGNORE)
    with suppress(UnreadableError):
        if DiskTree().read(ignore) == IGNORED:
            yield ignore
