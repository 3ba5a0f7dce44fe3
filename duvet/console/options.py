"""Options that several commands share: project, service, format, limit and variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from duvet.console import command
from duvet.model import Level

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
    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("the value is not valid UTF-8", param, ctx)
        return str(value)


TEXT_TYPE = _Text()

add_reference = click.argument(
    "reference",
    type=command.ReferenceType(TEXT_TYPE),
    metavar="REF",
    shell_complete=command.complete_values("references"),
)

PAGES_KEY = "pages"
SERVICE_KEY, PACKS_KEY = "service_path", "packs"  # Names of the parameters.
_SERVICE_OPTION = "--service-config"
_CONFIG_META, _SERVICE_META = "duvet.config", "duvet.service-config"  # The value of `--config`, for other options.


def add_config_option(function: Function) -> Function:
    # Two options, because a command line of an older version may contain both.
    hidden = command.path_option("--config-path", cls=command.OldOption, instead="--config", callback=_choose_config)
    return _make_config_option(_note_config)(hidden(function))


def _make_config_option(
    callback: Callable[[click.Context, click.Parameter, str | None], None],
) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return command.path_option(
        "--config",
        "project_path",
        expose_value=False,
        callback=callback,
        help="The project's configuration [default: .duvet/config.toml].",
    )


def _note_config(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None or ctx.resilient_parsing:
        return
    is_service = any(one.name == SERVICE_KEY for one in ctx.command.params)
    if is_service:
        from duvet.config.service import SERVICE_FILE_NAMES

        name = os.path.basename(value).lower()
        is_service = name in SERVICE_FILE_NAMES or name.endswith((".json", ".yaml", ".yml"))
    other = SERVICE_KEY if is_service else "config_path"
    if ctx.params.get(other) is not None:
        raise _make_conflict(_SERVICE_OPTION if is_service else "--config-path", ctx)
    ctx.meta[_SERVICE_META if is_service else _CONFIG_META] = value


def _make_conflict(other: str, ctx: click.Context) -> click.UsageError:
    what = "a service configuration" if other == _SERVICE_OPTION else "the project's configuration"
    return click.UsageError(f"--config and {other} both name {what}; give only one of them", ctx)


def _choose_config(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    named: str | None = ctx.meta.get(_CONFIG_META)
    if value is not None and named is not None:
        raise _make_conflict("--config-path", ctx)
    return value if named is None else named


def add_trace_options(function: Function) -> Function:
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
        click.option("--allow-http", is_flag=True, help="Allow downloads over plain HTTP."),
        click.option("--offline", is_flag=True, help="Do not download anything."),
    ):
        function = option(function)
    return add_config_option(function)


def add_service_option(function: Function) -> Function:
    option = command.path_option(
        _SERVICE_OPTION,
        SERVICE_KEY,
        callback=_choose_service,
        help="The service configuration [default: $DUVET_CONFIG, or duvet.config.toml, .yaml or .json].",
    )
    if not any(one.name == "config_path" for one in getattr(function, "__click_params__", ())):
        function = _make_config_option(_set_config)(function)
    return option(function)


def _choose_service(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    named: str | None = ctx.meta.get(_SERVICE_META)
    if named is None:
        return value
    if value is not None:
        raise _make_conflict(_SERVICE_OPTION, ctx)
    command.note_deprecation(ctx, f"--config {named}", f"{_SERVICE_OPTION} {named}")
    return named


def _set_config(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    _note_config(ctx, param, value)
    if path := ctx.meta.get(_CONFIG_META):
        ctx.obj = replace(command.current_settings(ctx), config_path=path)


def add_service_options(function: Function) -> Function:
    packs = click.option(
        "--pack", PACKS_KEY, metavar="NAME", multiple=True, help="Also enable this pack of tools; repeatable."
    )
    return add_service_option(packs(function))


add_pages_option = click.option(
    PAGES_KEY,
    f"--{PAGES_KEY}",
    metavar="FOLDER",
    help="Use the Markdown files in this folder as pages, without a project.",
)


def select_trace_options(where: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in where.items() if name not in (SERVICE_KEY, PACKS_KEY)}


add_list_format = click.option(
    "--format",
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown"]),
    help="The format of the list [default: table on a terminal, else plain].",
)
add_detail_format = click.option(
    "--format", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format [default: text]."
)
add_text_format = click.option(
    "--format", type=click.Choice(["text", "json"]), default="text", help="Output format [default: text]."
)


def add_limit_option(default: int | None = None) -> Callable[[click.decorators.FC], click.decorators.FC]:
    note = "" if default is None else f" [default: {default}]"
    return click.option(
        "--limit",
        type=command.IntegerRange(min=0),
        default=default,
        metavar="N",
        help=f"List at most N entries; 0 means all.{note}",
    )


def add_variable_options(function: Function) -> Function:
    variables = click.option(
        "--var", "variables", type=TEXT_TYPE, multiple=True, metavar="NAME=VALUE", help="Set a variable; repeatable."
    )
    json = click.option(
        "--json", "given", metavar="OBJECT", help="Set variables from a JSON object; - reads standard input."
    )
    return variables(json(function))


def add_unused_options(function: Function) -> Function:
    before: list[click.Parameter] = list(getattr(function, "__click_params__", ()))
    function = add_service_options(add_trace_options(function))
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    for index, param in enumerate(params):
        if param not in before and isinstance(param, click.Option) and not param.hidden:
            params[index] = command.OldOption(
                list(param.opts), instead="", is_flag=param.is_flag, multiple=param.multiple
            )
        params[index].expose_value = param.expose_value and param in before
    return function
