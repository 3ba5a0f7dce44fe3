"""`duvet config`"""

from __future__ import annotations

from collections.abc import Iterable

import click

from duvet.config.schema import Setting, SettingOrigin, explain_file, json_schema, service_schema
from duvet.console.command import Subcommand, current_settings
from duvet.console.options import add_config_option
from duvet.console.streams import write_stdout
from duvet.reports.cells import escape_cell
from duvet.reports.tables import encode_json
from duvet.tree.files import DiskTree


@click.command(cls=Subcommand)
@add_config_option
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
    if schema:
        found = service_schema() if schema == "service" else json_schema(extended=schema == "extended")
        write_stdout(encode_json(found))
        return
    settings = current_settings()
    explained = explain_file(DiskTree(), config_path or settings.config_path, settings.environ)
    write_stdout(encode_json(list(explained)) if format == "json" else render_settings_table(explained))


def render_settings_table(settings: Iterable[Setting]) -> bytes:
    """Render a line for each setting: its key, its value and its origin."""
    rows = [(setting.key, _format_value(setting.value), _format_origin(setting)) for setting in settings]
    keys = max((len(key) for key, _, _ in rows), default=0)
    values = max((len(value) for _, value, _ in rows), default=0)
    return "".join(f"{key:{keys}}  {value:{values}}  {origin}\n" for key, value, origin in rows).encode()


def _format_value(value: str | bool | int | tuple[str, ...] | None) -> str:
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


def _format_origin(setting: Setting) -> str:
    match setting.origin:
        case SettingOrigin.FILE:
            place = f"{setting.path}:{setting.line}"
            return " ".join([place, *(f"${variable}" for variable in setting.variables)])
        case SettingOrigin.COMMAND_LINE:
            return setting.option
    return setting.origin.value
