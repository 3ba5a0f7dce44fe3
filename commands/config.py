"""`duvet config`"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import click

from duvet.config.explain import Setting, SettingOrigin, explain_file, json_schema, service_schema
from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files
from duvet.console.settings import current_settings
from duvet.reports.cells import escape_cell
from duvet.reports.tables import encode_json
from duvet.tree.files import DiskTree


@click.command(cls=Subcommand)
@click.option(
    "--config-path",
    metavar="FILE",
    shell_complete=complete_files,
    help="The configuration [default: .duvet/config.toml].",
)
@click.option(
    "--schema",
    type=click.Choice(["upstream", "extended", "service"]),
    is_flag=False,
    flag_value="upstream",
    help="Print the JSON Schema of the file for editors: upstream's, which is the default, our own, or that of the "
    "configuration of the service.",
)
@click.option("--format", type=click.Choice(["table", "json"]), default="table", help="How settings are shown.")
def config(config_path: str | None, schema: str | None, format: str) -> None:
    """A value comes from a line of the file, from an environment variable that the line names, from the
    command line, or it is the default. All problems of a file are listed when it can't be read.

    \b
    Examples:
      duvet config
      duvet config --format json | jq '.[] | select(.origin == "file")'
      duvet config --schema extended > config.schema.json
    """
    from functools import partial

    from duvet.console.streams import render_bytes, write_output

    shown = current_settings()
    if schema:
        made = service_schema() if schema == "service" else json_schema(extended=schema == "extended")
        render = partial(render_config_schema, made)
    else:
        explained = explain_file(DiskTree(), config_path or shown.config_path, shown.environ)
        render = partial(SETTINGS_FORMATS[format], explained)
    write_output("-", render_bytes(render))


def render_settings_table(settings: Iterable[Setting], out: BinaryIO) -> None:
    """One line a setting: its key, its value and where that comes from."""
    rows = [(setting.key, _value(setting.value), _origin(setting)) for setting in settings]
    keys = max((len(key) for key, _, _ in rows), default=0)
    values = max((len(value) for _, value, _ in rows), default=0)
    out.writelines(f"{key:{keys}}  {value:{values}}  {origin}\n".encode() for key, value, origin in rows)


def render_settings_json(settings: Iterable[Setting], out: BinaryIO) -> None:
    """An array of settings."""
    out.write(encode_json(list(settings)))


def render_config_schema(schema: Mapping[str, Any], out: BinaryIO) -> None:
    """A JSON Schema."""
    out.write(encode_json(schema))


SETTINGS_FORMATS = {"table": render_settings_table, "json": render_settings_json}


def _value(value: str | bool | int | tuple[str, ...] | None) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case tuple():
            return escape_cell(", ".join(value)) or "-"
    ##= man/spec/trace.md#diagnostics
    ##% An input MUST NOT cause a traceback or control the terminal.
    return escape_cell(value or "-")


def _origin(setting: Setting) -> str:
    match setting.origin:
        case SettingOrigin.FILE:
            place = f"{setting.path}:{setting.line}"
            return " ".join([place, *(f"${variable}" for variable in setting.variables)])
        case SettingOrigin.COMMAND_LINE:
            return setting.option
    return setting.origin.value
