"""Options of commands that call tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
from msgspec import Struct

from duvet.console.completion_values import complete_files

Function = TypeVar("Function", bound=Callable[..., Any])
SERVICE_KEY, PACKS_KEY = "service_path", "packs"
"""Names of the parameters."""


add_service_option = click.option(
    "--config",
    SERVICE_KEY,
    metavar="FILE",
    shell_complete=complete_files,
    help="The configuration of the service [default: DUVET_CONFIG, or duvet.config.json, .yaml, .yml or .toml].",
)


def add_service_options(function: Function) -> Function:
    """Add the options for the configuration of the service and for further packs."""
    packs = click.option(
        "--pack",
        PACKS_KEY,
        metavar="NAME",
        multiple=True,
        help="Switch this pack of tools on, too; it may be repeated.",
    )
    return add_service_option(packs(function))


class ListenOptions(Struct, frozen=True):
    """Options for how clients reach the server."""

    stdio: bool
    http: str | None
    hosts: tuple[str, ...]
    rate: float | None

    @property
    def mode(self) -> str:
        """The mode of the server; empty if the configuration decides."""
        return "http" if self.http is not None else "stdio" if self.stdio else ""


def add_http_options(function: Function) -> Function:
    """Add the options of ListenOptions."""
    for option in (
        click.option(
            "--rate",
            type=click.FloatRange(min=0),
            metavar="NUMBER",
            help="With --http, requests a second that a client may make; 0 is any number [default: 1000].",
        ),
        click.option(
            "--allow-host",
            "hosts",
            metavar="NAME",
            multiple=True,
            help="With --http, a name that the server goes by, such as that of a proxy in front of it.",
        ),
        click.option(
            "--http", metavar="[HOST:]PORT", help="Serve over HTTP there, not over standard input and output."
        ),
        click.option(
            "--stdio", is_flag=True, help="Serve over standard input and output, whatever the configuration says."
        ),
    ):
        function = option(function)
    return function


def split_listen_options(given: Mapping[str, Any]) -> tuple[ListenOptions, dict[str, Any]]:
    """Split off the options of ListenOptions."""
    names = ListenOptions.__struct_fields__
    return ListenOptions(*(given[name] for name in names)), {key: given[key] for key in given if key not in names}


def select_trace_options(where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that describe the project."""
    return {name: value for name, value in where.items() if name not in (SERVICE_KEY, PACKS_KEY)}
