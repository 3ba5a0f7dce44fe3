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
@click.option("--http", metavar="[HOST:]PORT", help="Serve over HTTP there, not over standard input and output.")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="With --http, a name that the server goes by, such as that of a proxy in front of it.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0),
    metavar="NUMBER",
    help="With --http, requests a second that a client may make; 0 is any number [default: 1000].",
)
def mcp(client: str | None, http: str | None, hosts: tuple[str, ...], rate: float | None, **where: Any) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    On standard output stand only messages, one a line; whatever else there is to tell is on standard error. The server
    ends with its input, and at SIGINT or SIGTERM.

    With --http it serves many at once, at /mcp; only this machine, unless DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN say
    what clients have to show.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
      duvet mcp --print-config claude > .mcp.json
      duvet mcp --http 8931
      DUVET_READER_TOKEN=… duvet mcp --http 0.0.0.0:8931 --allow-host duvet.example.org
    """
    if client is not None:
        from duvet.terminal.clients import print_config

        print_config(client, where)
        return
    if http is not None:
        from duvet.terminal.serving_http import serve_http

        serve_http(http, hosts, rate, where)
        return
    from duvet.terminal.serving import serve_stdio

    serve_stdio(where)
