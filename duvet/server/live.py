"""The project as it is now, for a process that lives on."""

from __future__ import annotations

from collections.abc import Callable

from duvet.project import Project
from duvet.tools.context import Context


class Live:
    """Knows the project, and notices when it is another."""

    def __init__(self, open_project: Callable[[], Project], page_size: int) -> None:
        self._open = open_project
        self._page_size = page_size
        self._context: Context | None = None

    async def context(self) -> Context:
        """One reading of the project that no edit on disk has outdated; DuvetError where it can't be read."""
        if self._context is None:
            project = self._open()
            self._context = Context(project, project.catalogue, self._page_size)
        return self._context
