"""`duvet mcp`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import trace_options
from duvet.terminal.service_options import service_options


@click.command(cls=Subcommand)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(["claude", "vscode", "cursor", "codex"]),
    help="Print what that client has to read to start the server for this project.",
)
@click.option("--check", is_flag=True, help="Check the configuration, show what would be served, and serve nothing.")
@click.option("--describe", is_flag=True, help="Print tools, resources and prompts as JSON, and serve nothing.")
@service_options
@trace_options
@click.option("--stdio", is_flag=True, help="Serve over standard input and output, whatever the configuration says.")
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
@click.pass_context
def mcp(
    ctx: click.Context,
    /,
    client: str | None,
    check: bool,
    describe: bool,
    stdio: bool,
    http: str | None,
    hosts: tuple[str, ...],
    rate: float | None,
    **where: Any,
) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    On standard output stand only messages, one a line; whatever else there is to tell is on standard error. The server
    ends with its input, and at SIGINT or SIGTERM.

    With --http it serves many at once, at /mcp, and at /api/mcp for programs that don't speak the protocol; only this
    machine, unless DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN say what clients have to show.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
      duvet mcp --print-config claude > .mcp.json
      duvet mcp --check --config duvet.config.yaml
      duvet mcp --pack introspect --describe | jq .tools
      duvet mcp --http 8931
      DUVET_READER_TOKEN=… duvet mcp --http 0.0.0.0:8931 --allow-host duvet.example.org
    """
    if stdio and http is not None:
        raise click.UsageError("--stdio and --http are two ways to serve: choose one", ctx)
    if client is not None:
        from duvet.terminal.clients import print_config

        print_config(client, where)
        return
    from duvet.terminal.service import assembly_of

    assembly = assembly_of(where, mode="http" if http is not None else "" if not stdio else "stdio")
    if check or describe:
        from duvet.terminal.describing import check_service, describe_service

        (check_service if check else describe_service)(assembly)
    elif assembly.mode == "http":
        from duvet.terminal.serving_http import serve_http

        serve_http(assembly, http, hosts, rate)
    else:
        from duvet.terminal.serving import serve_stdio

        serve_stdio(assembly)
