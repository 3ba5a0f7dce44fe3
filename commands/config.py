"""`duvet config`"""

from __future__ import annotations

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files


@click.command(cls=Subcommand)
@click.option(
    "--config-path", metavar="FILE", shell_complete=files, help="The configuration [default: .duvet/config.toml]."
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

    from duvet.config.explain import explain_file
    from duvet.config.json_schema import json_schema, service_schema
    from duvet.reports import config_settings
    from duvet.terminal.outputs import rendered, write_file
    from duvet.terminal.settings import settings
    from duvet.tree.disk import DiskTree

    shown = settings()
    if schema:
        made = service_schema() if schema == "service" else json_schema(extended=schema == "extended")
        render = partial(config_settings.render_schema, made)
    else:
        explained = explain_file(DiskTree(), config_path or shown.config_path, shown.environ)
        render = partial(config_settings.FORMATS[format], explained)
    write_file("-", rendered(render))
