"""The configuration of the service, as a command reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.terminal.settings import Settings, settings

if TYPE_CHECKING:
    from duvet.config.service.read import Service
    from duvet.tree.protocol import Tree


def read_service(given: str | None, config_path: str | None) -> Service:
    """The configuration of the service; ProblemsError with everything that is wrong with it."""
    from duvet.tree.disk import DiskTree

    return read(DiskTree(), given, config_path, settings())


def read(tree: Tree, given: str | None, config_path: str | None, shown: Settings) -> Service:
    """The same from this tree."""
    from duvet.config.service.read import service_config

    return service_config(tree, shown.environ, given, config_path or shown.config_path)
