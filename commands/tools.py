"""`duvet tools`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.application import make_application, make_tool_application, print_tool_help, require_tool
from duvet.console.command import Subcommand, complete_values
from duvet.console.options import TEXT_TYPE, add_list_format, add_service_options, add_trace_options
from duvet.console.streams import print_list
from duvet.reports.tables import Column, Listing

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("pack", lambda row: row["pack"]),
    Column("scope", lambda row: row["scope"]),
    Column("description", lambda row: row["description"], wraps=True),
)


@click.command(cls=Subcommand)
@click.argument("name", required=False, type=TEXT_TYPE, metavar="[NAME]", shell_complete=complete_values("tools"))
@add_list_format
@add_service_options
@add_trace_options
def tools(name: str | None, format: str | None, **options: Any) -> None:
    """Without NAME, duvet lists the enabled tools with their packs and scopes. With NAME, it shows the arguments, the
    result, the risks and an example call of that tool.

    \b
    Examples:
      duvet tools
      duvet tools validate_citation
      duvet tools --pack introspect --format json
    """
    if name is None:
        application = make_application(options)
        application.log_unloaded_tools()
        rows = [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "pack": application.tools.registry.pack_of(tool).name,
                "scope": tool.scope.value,
                "labels": list(tool.labels),
            }
            for tool in application.tools.shown_tools
            if tool.scope in application.scopes
        ]
        print_list(Listing(_COLUMNS, rows), format)
        return
    if format:
        raise click.UsageError("--format only applies to the list of tools; leave out NAME")
    application = make_tool_application(name, options)
    print_tool_help(require_tool(application, name), application.tools.registry)
