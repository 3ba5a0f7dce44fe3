"""The options of commands that have tools called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
from msgspec import Struct

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


class Listening(Struct, frozen=True):
    """How clients are to reach the server, as far as the command line says."""

    stdio: bool
    http: str | None
    hosts: tuple[str, ...]
    rate: float | None

    @property
    def mode(self) -> str:
        """By which way; empty where the configuration decides."""
        return "http" if self.http is not None else "stdio" if self.stdio else ""


def http_options(function: Function) -> Function:
    """How clients are to reach the server."""
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


def parted(given: Mapping[str, Any]) -> tuple[Listening, dict[str, Any]]:
    """What options say of how clients reach the server, and what is left of them."""
    names = Listening.__struct_fields__
    return Listening(*(given[name] for name in names)), {key: given[key] for key in given if key not in names}


def about_trace(where: Mapping[str, Any]) -> dict[str, Any]:
    """The options among these that describe the project."""
    return {name: value for name, value in where.items() if name not in (SERVICE, PACKS)}
