"""The options of commands that have tools called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from duvet.terminal.known_names import files

Function = TypeVar("Function", bound=Callable[..., Any])
SERVICE, PACKS = "service_path", "packs"
"""What the options are called among the others."""


service_option = click.option(
    "--config",
    SERVICE,
    metavar="FILE",
    shell_complete=files,
    help="The configuration of the service [default: DUVET_CONFIG, or duvet.config.json, .yaml, .yml or .toml].",
)
"""Where the configuration of the service is."""


def service_options(function: Function) -> Function:
    """The same, and which packs are wanted beside it."""
    packs = click.option(
        "--pack", PACKS, metavar="NAME", multiple=True, help="Switch this pack of tools on, too; it may be repeated."
    )
    return service_option(packs(function))


def about_trace(where: Mapping[str, Any]) -> dict[str, Any]:
    """The options among these that describe the project."""
    return {name: value for name, value in where.items() if name not in (SERVICE, PACKS)}
