"""The pages of the project in the working directory."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from duvet.errors import DuvetError

if TYPE_CHECKING:
    from duvet.config.schema import NotesRule


def has_pages(where: Mapping[str, Any], rules: tuple[NotesRule, ...] | None) -> bool:
    """Whether there are any; the trace is not asked."""
    from duvet.knowledge.pages.files import wanted_of
    from duvet.terminal.options import open_project
    from duvet.terminal.progress import Quietly
    from duvet.terminal.settings import settings

    with suppress(DuvetError):
        project = open_project(None, Quietly(settings()), notes=rules, **where)
        return bool(wanted_of(project).files(project.tree).prefixes)
    return False
