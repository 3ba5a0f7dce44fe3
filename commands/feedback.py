"""`duvet feedback`"""

from __future__ import annotations

from operator import attrgetter

import click
from msgspec import json

from duvet.console.command import Subcommand
from duvet.console.knowledge_store import locate_store
from duvet.console.options import add_service_option
from duvet.console.output import detect_table_look, print_list
from duvet.console.streams import print_remark, write_stdout
from duvet.knowledge.feedback import Vote, read_votes
from duvet.reports.tables import Column, ListFormat, Listing, render_listing

_EXPORTS = ("jsonl", "csv", "json")


def _make_column(name: str, *, wraps: bool = False) -> Column:
    def format_value(vote: Vote) -> str:
        value = getattr(vote, name)
        if value is None or isinstance(value, str):
            return value or ""
        return f"{value:g}" if isinstance(value, float) else json.encode(value).decode()

    return Column(name, format_value, wraps=wraps)


_EXPORTED = tuple(map(_make_column, Vote.__struct_fields__))
_LISTED = (
    Column("time", attrgetter("timestamp")),
    _make_column("vote"),
    Column("chunk", attrgetter("chunk_id"), wraps=True),
    _make_column("note", wraps=True),
)


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "export"]), default="list")
@click.option(
    "--format",
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown"]),
    help="How to write it; `export` takes jsonl, csv and json [default: table on a terminal, plain elsewhere; "
    "jsonl for `export`].",
)
@add_service_option
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
    if action == "export" and format not in (None, *_EXPORTS):
        raise click.UsageError(f"`export` takes {', '.join(_EXPORTS)}, not {format}", ctx)
    votes = read_votes(locate_store(service_path).feedback)
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% `duvet feedback` MUST list feedback by time, and `duvet feedback export` MUST write all of it as JSON Lines, CSV
    ##% or JSON.
    if action == "export":
        write_stdout(render_listing(Listing(_EXPORTED, votes), ListFormat(format or "jsonl"), detect_table_look()))
        return
    print_list(Listing(_LISTED, votes[::-1]), format)
    if not votes:
        print_remark("nobody has said anything of a result yet")
