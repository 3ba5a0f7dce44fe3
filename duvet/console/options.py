"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duvet.console.command import make_repeated_error
from duvet.console.completion_values import (
    complete_specification_ids,
    file_option,
)
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
        type=TEXT_TYPE,
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
