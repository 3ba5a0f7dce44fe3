"""The stores that there are: each is asked the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from duvet.config.settings import StoreSection
from duvet.store.location import open_store
from duvet.store.records import Store


class Engine(Protocol):
    """Opens the store of a folder."""

    def __call__(self, folder: Path, *, create: bool = False) -> Store: ...


def store_path(root: str) -> str:
    """Where the store of a project is."""
    return os.path.join(root, StoreSection().path)


def sqlite(folder: Path, *, create: bool = False) -> Store:
    return open_store(store_path(str(folder)), create=create)


ENGINES: Mapping[str, Engine] = {"sqlite": sqlite}
