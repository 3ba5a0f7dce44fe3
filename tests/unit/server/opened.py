"""Projects as servers read them: with a record of what was asked of the disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import anyio

from duvet.project.project import Project
from duvet.server.live_project import LiveProject
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

PAGE_SIZE = 50
LONGEST = 30
"""Seconds after which something that has not happened never will."""


def opened(folder: Path, today: date | None = None) -> Project:
    """The project in a folder, yet to be read."""
    cache = DiskCache(DiskTree(str(folder)), {}, kept=False, today=today)
    return Project(str(folder), tree=cache.tree, memory=cache, today=today)


@asynccontextmanager
async def living(
    folder: Path, open_project: Callable[[], Project] | None = None, today: Callable[[], date] = date.today
) -> AsyncIterator[LiveProject]:
    """The project in a folder, for as long as a test runs."""
    live = LiveProject(open_project or (lambda: opened(folder)), PAGE_SIZE, today=today)
    try:
        with anyio.fail_after(LONGEST):
            yield live
    finally:
        live.close()


def read(folder: Path) -> Catalogue:
    """What is in the project, as a new process would find it."""
    return Project(str(folder)).catalogue
