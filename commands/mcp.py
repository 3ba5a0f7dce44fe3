"""`duvet mcp`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import trace_options
from duvet.terminal.service_options import http_options, service_options


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
@http_options
@click.pass_context
def mcp(ctx: click.Context, /, client: str | None, check: bool, describe: bool, **given: Any) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    On standard output stand only messages, one a line; whatever else there is to tell is on standard error. The server
    ends with its input, and at SIGINT or SIGTERM.

    With --http it serves many at once, at /mcp, and at /api/mcp for programs that don't speak the protocol; only this
    machine, unless DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN say what clients have to show: the first one to read, the second
    one to do what maintainers do, too.

    With KM_GATEWAY_URL, calls of the tools about what is known (km-search and others) are forwarded to the server of a team,
    which is shown KM_READER_TOKEN or KM_ADMIN_TOKEN. They switch on what can be called there: without the second one,
    nothing that maintainers alone may do. --check tells where they go.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
      duvet mcp --print-config claude > .mcp.json
      duvet mcp --check --config duvet.config.yaml
      duvet mcp --pack introspect --describe | jq .tools
      duvet mcp --http 8931
      DUVET_READER_TOKEN=… duvet mcp --http 0.0.0.0:8931 --allow-host duvet.example.org
      KM_GATEWAY_URL=https://duvet.example.org KM_READER_TOKEN=… duvet mcp
    """
    from duvet.terminal.service_options import parted

    listening, where = parted(given)
    if listening.stdio and listening.http is not None:
        raise click.UsageError("--stdio and --http are two ways to serve: choose one", ctx)
    if client is not None:
        from duvet.terminal.clients import print_config

        print_config(client, where)
        return
    if check or describe:
        from duvet.terminal.describing import check_service, describe_service

        (check_service if check else describe_service)(listening, where)
        return
    from duvet.terminal.serving import serve_service

    serve_service(listening, where)
