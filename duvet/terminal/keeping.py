"""The store that `duvet ingest` writes to, whatever there is in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from duvet.progress import Progress
from duvet.store.errors import DamagedError, MissingError, OlderError
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.replacing import can_be_replaced, remove_store

Result = TypeVar("Result")


def with_store(
    path: str, take: Callable[[Store | None], Result], progress: Progress, *, full: bool, dry_run: bool
) -> Result:
    """What comes of a run, which makes the store where there is none; one that is dry is then without."""
    try:
        return _once(path, take, dry_run=dry_run)
    except DamagedError as error:
        if not can_be_replaced(path):
            raise
        if not full:
            error.hint = "`duvet ingest --full` replaces it: it holds nothing but what was taken in"
            raise
    ##= man/spec/knowledge.md#runs
    ##% With `--full`, a store that is damaged MUST be replaced, unless it may be a file of another program.
    if dry_run:
        return take(None)
    remove_store(path)
    progress.begin(f"Replacing {path}, which is damaged")
    return _once(path, take, dry_run=dry_run)


def _once(path: str, take: Callable[[Store | None], Result], *, dry_run: bool) -> Result:
    try:
        store = open_store(path, create=not dry_run)
    except (MissingError, OlderError):
        ##= man/spec/knowledge.md#runs
        ##% A dry run MUST take a store that the next run replaces for one that isn't there.
        return take(None)
    try:
        return take(store)
    finally:
        store.close()
