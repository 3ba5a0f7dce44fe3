"""`duvet tools`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_tools as tool_names
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import add_list_format
from duvet.console.service_options import add_service_options


@click.command(cls=Subcommand)
@click.argument("name", required=False, type=TEXT_TYPE, metavar="[NAME]", shell_complete=tool_names)
@add_list_format
@add_service_options
@add_trace_options
@click.pass_context
def tools(ctx: click.Context, /, name: str | None, format: str | None, **where: Any) -> None:
    """With NAME it shows what that tool takes and answers, what to think of before it is called, and how it is called
    from the shell.

    \b
    Examples:
      duvet tools
      duvet tools validate_citation
      duvet tools --pack introspect --format json
    """
    from duvet.console.tool_call import list_tools, show_tool

    if name is None:
        list_tools(format, where)
        return
    if format:
        raise click.UsageError("a tool is no list: --format goes without NAME", ctx)
    show_tool(name, where)
