"""`duvet config`"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from duvet.config.project_file import find_config, require_config
from duvet.config.schema import Setting, SettingOrigin, explain_file, json_schema, service_schema
from duvet.config.service import find_service_file
from duvet.console.command import OldOption, SubcommandGroup, current_settings, show_path
from duvet.console.options import SERVICE_KEY, add_config_option, add_service_option
from duvet.console.problems import add_problem_format, has_errors, list_error_problems, make_problem_output
from duvet.console.streams import FAILED, detect_table_look, is_on_terminal, print_remark, write_stdout
from duvet.errors import DuvetError
from duvet.model import sort_problems
from duvet.reports.cells import encode_json, escape_cell, measure_width
from duvet.reports.tables import Column, Listing, render_list_table
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.model import Problem

_SCHEMAS = ("upstream", "extended", "service")


@click.group(cls=SubcommandGroup, default="show")
def config() -> None:
    """The project's configuration is .duvet/config.toml. The service configuration, duvet.config.json, .yaml or
    .toml, sets up the server, its tools and models, and the index.

    Without a COMMAND, `duvet config` shows the project's settings.

    \b
    Examples:
      duvet config
      duvet config check
      duvet config schema extended > config.schema.json
    """


@config.command("show")
@add_config_option
@click.option("--format", type=click.Choice(["table", "json"]), default="table", help="Output format [default: table].")
@click.option(
    "--schema",
    cls=OldOption,
    instead="duvet config schema",
    type=click.Choice(_SCHEMAS),
    is_flag=False,
    flag_value="upstream",
)
@click.pass_context
def show_config(ctx: click.Context, /, config_path: str | None, format: str, schema: str | None) -> None:
    """Show each project setting with its value and origin.

    The origin is a line in the file (and any environment variables that it uses), a command-line option, or the
    default.

    \b
    Examples:
      duvet config show
      duvet config show --format json | jq '.[] | select(.origin == "file")'
    """
    if schema:
        ctx.invoke(print_schema, name=schema)
        return
    settings = current_settings()
    explained = explain_file(DiskTree(), config_path or settings.config_path, settings.environ)
    look = detect_table_look()
    table = render_settings_table(explained, settings.folder)
    if format == "json":
        table = encode_json(list(explained))
    elif is_on_terminal() and max(map(measure_width, table.decode().splitlines()), default=0) > look.width:
        columns = (
            Column("setting", lambda one: one.key),
            Column(
                "value (origin)",
                lambda one: f"{_format_value(one, settings.folder)} ({_format_origin(one, settings.folder)})",
                wraps=True,
            ),
        )
        table = render_list_table(Listing(columns, list(explained)), look).encode(errors="replace")
    write_stdout(table)


@config.command("check")
@add_problem_format
@add_service_option
@add_config_option
def check(config_path: str | None, service_path: str | None, format: str | None, output: str | None) -> None:
    """Check the project and service configurations.

    Exits with 1 for unknown keys, invalid values and undefined environment variables.

    \b
    Examples:
      duvet config check
      duvet config check --format github
    """
    problem_output = make_problem_output(format, output)
    paths, problems = _check_files(config_path or current_settings().config_path, service_path)
    if not problem_output.write(problems) or has_errors(problems):
        raise Exit(FAILED)
    print_remark(f"checked {' and '.join(escape_cell(show_path(path)) for path in paths)}: no errors")


@config.command("schema")
@click.argument("name", type=click.Choice(_SCHEMAS), default="upstream", metavar="[NAME]")
def print_schema(name: str) -> None:
    """Print the JSON Schema of a configuration.

    `upstream`, the default, describes .duvet/config.toml as awslabs duvet reads it. `extended` describes the same file
    with all of duvet's keys. `service` describes duvet.config.*.

    \b
    Examples:
      duvet config schema > config.schema.json
      duvet config schema service
    """
    write_stdout(encode_json(service_schema() if name == "service" else json_schema(extended=name == "extended")))


def _check_files(config_path: str | None, service_path: str | None) -> tuple[list[str], tuple[Problem, ...]]:
    tree, environ = DiskTree(), current_settings().environ
    paths: list[str] = []
    problems: list[Problem] = []
    try:
        if service := find_service_file(tree, environ, service_path).path:
            paths.append(service)
            # Only a check of the service configuration needs these imports.
            from duvet.console.application import find_service_problems, make_application

            where = {SERVICE_KEY: service, "config_path": config_path}
            problems += find_service_problems(make_application(where))
    except DuvetError as error:
        problems += list_error_problems(error)
    try:
        if find_config(tree, config_path) or not (paths or problems):
            paths.insert(0, require_config(tree, config_path))
            explain_file(tree, config_path, environ)
    except DuvetError as error:
        problems += list_error_problems(error)
    return paths, sort_problems(problems)


def render_settings_table(settings: Iterable[Setting], folder: str = "") -> bytes:
    rows = [(one.key, _format_value(one, folder), _format_origin(one, folder)) for one in settings]
    keys = max((len(key) for key, _, _ in rows), default=0)
    values = max((len(value) for _, value, _ in rows), default=0)
    return "".join(f"{key:{keys}}  {value:{values}}  {origin}\n" for key, value, origin in rows).encode()


def _format_value(setting: Setting, folder: str) -> str:
    match setting.value:
        case bool() | int():
            return str(setting.value).lower()
        case tuple():
            return escape_cell(", ".join(setting.value)) or "-"
        case str() if setting.key == "config-path":
            return escape_cell(show_path(setting.value, folder)) or "-"
    return escape_cell(setting.value or "-")


def _format_origin(setting: Setting, folder: str) -> str:
    match setting.origin:
        case SettingOrigin.FILE:
            place = f"{show_path(setting.path, folder)}:{setting.line}"
            return " ".join([place, *(f"${variable}" for variable in setting.variables)])
        case SettingOrigin.COMMAND_LINE:
            return setting.option
    return setting.origin.value
