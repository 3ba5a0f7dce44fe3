"""Gives up a store that makes no sense any more."""

from __future__ import annotations

import os
from contextlib import suppress

from duvet.config.schema import StoreRule
from duvet.errors import describe
from duvet.store.errors import StoreError
from duvet.store.opening import BESIDE, require_plain
from duvet.store.schema import APPLICATION

_MAGIC, _AT = b"SQLite format 3\0", 68
"""How a file of sqlite begins, and where it says whose it is."""


def can_be_replaced(path: str) -> bool:
    """Whether a damaged store is ours beyond doubt: it says so, or stands where nobody else writes."""
    whole = os.path.abspath(path).replace(os.sep, "/")
    if whole.endswith(f"/{StoreRule().path}"):
        return not os.path.isdir(path)
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(_MAGIC) and head[_AT : _AT + 4] == APPLICATION.to_bytes(4)


def remove_store(path: str) -> None:
    """Remove the file, and what sqlite keeps beside it; StoreError where that can't be done."""
    require_plain(path)
    try:
        # What is to be written to the file goes first: alone, it would be taken for that of the next one.
        for end in reversed(BESIDE):
            with suppress(FileNotFoundError):
                os.remove(path + end)
    except OSError as error:
        raise StoreError(describe(error), path=path, hint="see who may write there") from error
