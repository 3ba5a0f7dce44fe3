"""Options that several commands share: the project, gates, the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from duvet.console.command import make_repeated_error
from duvet.console.completion_values import complete_files, complete_specification_ids, file_option
from duvet.console.discovery import PathType, ReferenceType
from duvet.model import Level

if TYPE_CHECKING:
    from duvet.console.report_result import ReportGate

Function = TypeVar("Function", bound=Callable[..., Any])

GATE_LEVELS = {"must": Level.MUST, "should": Level.SHOULD, "may": Level.MAY, "any": Level.AUTO}
"""The values of `--fail-on`, each with the weakest level that it covers."""
# Accepted because older command lines contain them; they have no effect.
_IGNORED = {
    "-p/--package": "NAME",
    "--features": "FEATURES",
    "--exclude": "NAME",
    "--target": "TRIPLE",
    "--target-dir": "DIR",
    "--manifest-path": "FILE",
}
_IGNORED_FLAGS = ("--workspace", "--all-features", "--no-default-features", "--no-cargo")


class _Text(click.ParamType[str]):
    """Text for files, which are UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("it is not UTF-8", param, ctx)
        return str(value)


class _Switch(click.ParamType[bool]):
    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if value in (True, False):
            return bool(value)
        if value not in ("true", "false"):
            self.fail(f"'{value}' is neither true nor false", param, ctx)
        return bool(value == "true")


TEXT_TYPE = _Text()


def add_trace_options(function: Function) -> Function:
    """Add the options that name the configuration, the sources and the specifications."""
    hidden: dict[str, Any] = {"hidden": True, "expose_value": False}
    for option in (
        *(click.option(name, is_flag=True, **hidden) for name in reversed(_IGNORED_FLAGS)),
        *(
            click.option(*names.split("/"), metavar=metavar, multiple=names in ("--features", "--exclude"), **hidden)
            for names, metavar in reversed(_IGNORED.items())
        ),
        click.option("--spec-path", metavar="DIR", hidden=True),
        click.option("--spec-pattern", "spec_patterns", type=TEXT_TYPE, metavar="GLOB", multiple=True, hidden=True),
        click.option(
            "--source-pattern",
            "source_patterns",
            type=TEXT_TYPE,
            metavar="[(META,CONTENT)]GLOB",
            multiple=True,
            hidden=True,
        ),
        click.option("--allow-http", is_flag=True, help="Allow downloads without encryption."),
        click.option("--offline", is_flag=True, help="Download nothing."),
        file_option("--config-path", help="The configuration [default: .duvet/config.toml]."),
    ):
        function = option(function)
    return function


def add_switch(name: str, *, help: str) -> Callable[[Function], Function]:
    """Add an option that takes `true` or `false`, and means `true` without a value."""
    return click.option(
        name, type=_Switch(), is_flag=False, flag_value="true", default=None, metavar="[true|false]", help=help
    )


def add_gate(name: str, *, help: str) -> Callable[[Function], Function]:
    """Add an option that takes `true` or `false`, means `true` without a value, and takes any number of targets."""
    return click.option(
        name,
        type=ReferenceType(TEXT_TYPE),
        is_flag=False,
        flag_value="true",
        multiple=True,
        callback=_make_gate,
        metavar="[true|false|TARGET]",
        shell_complete=complete_specification_ids,
        help=f"{help} [default: true]",
    )


def _make_gate(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> ReportGate:
    from duvet.console.report_result import ReportGate

    switches = [value == "true" for value in values if value in ("true", "false")]
    if len(switches) > 1:
        raise make_repeated_error(param, ctx)
    return ReportGate(all(switches), tuple(value for value in values if value not in ("true", "false")))


SERVICE_KEY, PACKS_KEY = "service_path", "packs"  # Names of the parameters.

add_service_option = click.option(
    "--config",
    SERVICE_KEY,
    metavar="FILE",
    type=PathType(),
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
    stdio: bool
    http: str | None
    hosts: tuple[str, ...]
    rate: float | None

    @property
    def mode(self) -> str:
        """The mode of the server; empty if the configuration decides."""
        return "http" if self.http is not None else "stdio" if self.stdio else ""


def add_http_options(function: Function) -> Function:
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


def select_trace_options(where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that describe the project."""
    return {name: value for name, value in where.items() if name not in (SERVICE_KEY, PACKS_KEY)}
