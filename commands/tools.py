"""`duvet tools`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import tools as tool_names
from duvet.terminal.listings import list_format
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_options


@click.command(cls=Subcommand)
@click.argument("name", required=False, type=TEXT, metavar="[NAME]", shell_complete=tool_names)
@list_format
@service_options
@trace_options
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
    from duvet.terminal.tool_help import list_tools, show_tool

    if name is None:
        list_tools(format, where)
        return
    if format:
        raise click.UsageError("a tool is no list: --format goes without NAME", ctx)
    show_tool(name, where)
