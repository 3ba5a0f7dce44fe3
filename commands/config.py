"""`duvet config`: what is in force, and where it comes from."""

from __future__ import annotations

import os

import click

from duvet.config.explain import explain_file
from duvet.config.json_schema import json_schema
from duvet.reports import config_json, config_table
from duvet.sources.tree import DiskTree

_FORMATS = {"table": config_table.render, "json": config_json.render}


@click.command("config")
@click.option("--config-path", metavar="PATH", default="", help="Explain this file instead of `.duvet/config.toml`.")
@click.option(
    "--schema",
    type=click.Choice(["upstream", "extended"]),
    is_flag=False,
    flag_value="upstream",
    help="Print the JSON Schema of the file instead, for editors: upstream's (by default) or our own.",
)
@click.option(
    "--format", type=click.Choice(list(_FORMATS)), default="table", show_default=True, help="How settings are shown."
)
def config(config_path: str, schema: str | None, format: str) -> None:
    """Show every setting that is in force, its value, and where that comes from.

    A value comes from a line of the file, from an environment variable that the line names, from the
    command line, or it is the default. All problems of a file are listed when it can't be read.

    \b
    Examples:
      duvet config
      duvet config --format json | jq '.[] | select(.origin == "file")'
      duvet config --schema extended > config.schema.json
    """
    out = click.get_text_stream("stdout")
    if schema:
        config_json.render_schema(json_schema(extended=schema == "extended"), out)
    else:
        _FORMATS[format](explain_file(DiskTree(), config_path, os.environ), out)
