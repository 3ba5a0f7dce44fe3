"""The stores that there are: each is asked the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from duvet.store.opening import open_store, store_path
from duvet.store.protocol import Store


class Engine(Protocol):
    """Opens the store of a folder."""

    def __call__(self, folder: Path, *, create: bool = False) -> Store: ...


def sqlite(folder: Path, *, create: bool = False) -> Store:
    return open_store(store_path(str(folder)), create=create)


ENGINES: Mapping[str, Engine] = {"sqlite": sqlite}
