"""Page rules of the project in the working directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duvet.console.settings import current_settings
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.config.settings import NotesRule
    from duvet.tree.files import Tree


PageRules = tuple["NotesRule", ...]
_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
_BEGINNINGS = ("duvet.config.", "contextive.config.")
"""What may name the configuration of the service, and what its name begins with."""


def load_page_rules(where: Mapping[str, Any], tree: Tree | None = None) -> PageRules | None:
    """Which files are pages by the configuration of the service, for commands that have no other use for it."""
    # Most projects have none, and then nothing needs to be imported.
    if not any(map(current_settings().environ.get, _VARIABLES)) and not any(map(_is_of_service, _names())):
        return None
    from duvet.config.service import load_service_pages

    return load_service_pages(
        tree or DiskTree(), current_settings().environ, where["config_path"] or current_settings().config_path
    )


def _names() -> list[str]:
    try:
        return os.listdir()
    except OSError:
        # Whoever reads the project says what is wrong with the folder.
        return []


def _is_of_service(name: str) -> bool:
    return name.startswith(_BEGINNINGS)
