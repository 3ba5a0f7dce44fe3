"""Caches of one run, and work that counts how often it is done."""

from __future__ import annotations

import time
from pathlib import Path

from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

LATER = time.time_ns() + 3600 * 10**9


class Work:
    """Counts how often it is done."""

    def __init__(self, answer: str = "answer") -> None:
        self.answer = answer
        self.done = 0

    def __call__(self) -> str:
        self.done += 1
        return self.answer


def opened(root: Path, now: int = LATER, **environ: str) -> DiskCache:
    return DiskCache(DiskTree(str(root)), environ, now)
