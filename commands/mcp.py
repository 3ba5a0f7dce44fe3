"""`duvet mcp`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(["claude", "vscode", "cursor", "codex"]),
    help="Print what that client has to read to start the server for this project.",
)
@trace_options
def mcp(client: str | None, **where: Any) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
      duvet mcp --print-config claude > .mcp.json
    """
    if client is not None:
        from duvet.terminal.clients import print_config

        print_config(client, where)
        return
    from duvet.terminal.serving import serve_stdio

    serve_stdio(where)
