"""The project in the working directory, for as long as a server runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from duvet.cache.cache import Cache
from duvet.config.schema import NotesRule
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.server.doubt import Doubt, descriptor
from duvet.server.live import Live
from duvet.terminal.catalogues import CATALOGUE
from duvet.terminal.options import key_of, open_project
from duvet.terminal.progress import Quietly
from duvet.terminal.questions import require_contents
from duvet.terminal.settings import settings, wants_cache
from duvet.tree.disk import DiskTree


def live_project(
    where: Mapping[str, Any], page_size: Callable[[Project], int], notes: tuple[NotesRule, ...] | None = None
) -> Live:
    """The project that these options describe, whatever becomes of its folder; each reading says how long lists are."""
    shown, root, how = settings(), os.getcwd(), key_of(where)

    def opened() -> Project:
        cache = Cache(DiskTree(root), shown.environ, kept=wants_cache(shown, root), today=shown.today)
        return open_project(cache, Quietly(shown), shown=shown, root=root, notes=notes, **where)

    def read(project: Project) -> Catalogue:
        assert isinstance(project.memory, Cache)
        return project.memory.remembered(CATALOGUE, Catalogue, how, lambda: _read(project))

    return Live(opened, page_size, read=read, today=lambda: shown.today, doubt=Doubt(descriptor(shown.environ)))


def _read(project: Project) -> Catalogue:
    require_contents(project)
    return project.catalogue
