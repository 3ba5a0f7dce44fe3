"""`duvet feedback`"""

from __future__ import annotations

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.service_options import service_option

_EXPORTS = ("jsonl", "csv", "json")


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "export"]), default="list")
@click.option(
    "--format",
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown"]),
    help="How to write it; `export` takes jsonl, csv and json [default: table on a terminal, plain elsewhere; "
    "jsonl for `export`].",
)
@service_option
@click.pass_context
def feedback(ctx: click.Context, /, action: str, format: str | None, service_path: str | None) -> None:
    """What agents and people have said of results of `km-search`, by the tool `km-feedback-submit`. `list` shows it for
    people, the last first; `export` writes all of it, the first first, with everything that was said.

    With `search.feedback: true` in `duvet.config.yaml`, votes count a little in later searches.

    \b
    Examples:
      duvet feedback
      duvet feedback export > feedback.jsonl
      duvet feedback export --format csv
    """
    from duvet.terminal import votes

    if action == "list":
        votes.list_votes(format, service_path)
    elif format in (None, *_EXPORTS):
        votes.export_votes(format or "jsonl", service_path)
    else:
        raise click.UsageError(f"`export` takes {', '.join(_EXPORTS)}, not {format}", ctx)
