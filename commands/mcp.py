"""`duvet mcp`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import trace_options


@click.command(cls=Subcommand)
@trace_options
def mcp(**where: Any) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
    """
    from duvet.terminal.serving import serve_stdio

    serve_stdio(where)
