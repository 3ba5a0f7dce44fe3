"""The pages of the project in the working directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from duvet.errors import DuvetError
from duvet.terminal.options import open_project
from duvet.terminal.settings import settings

if TYPE_CHECKING:
    from duvet.config.schema import NotesRule
    from duvet.tree.protocol import Tree

Rules = tuple["NotesRule", ...]
_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
_BEGINNINGS = ("duvet.config.", "contextive.config.")
"""What may name the configuration of the service, and what its name begins with."""


def has_pages(where: Mapping[str, Any], rules: Rules | None) -> bool:
    """Whether there are any; the trace is not asked."""
    from duvet.knowledge.pages.files import wanted_of
    from duvet.terminal.progress import Quietly

    with suppress(DuvetError):
        project = open_project(None, Quietly(settings()), notes=rules, **where)
        return bool(wanted_of(project).files(project.tree).prefixes)
    return False


def said_of_pages(where: Mapping[str, Any], tree: Tree | None = None) -> Rules | None:
    """Which files are pages by the configuration of the service, for commands that have no other use for it."""
    # Most projects have none, and then nothing needs to be imported.
    if not any(map(settings().environ.get, _VARIABLES)) and not any(map(_is_of_service, _names())):
        return None
    from duvet.config.service.noting import service_notes
    from duvet.tree.disk import DiskTree

    return service_notes(tree or DiskTree(), settings().environ, where["config_path"] or settings().config_path)


def _names() -> list[str]:
    try:
        return os.listdir()
    except OSError:
        # Whoever reads the project says what is wrong with the folder.
        return []


def _is_of_service(name: str) -> bool:
    return name.startswith(_BEGINNINGS)
