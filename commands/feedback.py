"""`duvet feedback`"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import click
from msgspec import json

from duvet.config.settings import IngestRule
from duvet.console.command import Subcommand
from duvet.console.lists import detect_table_look, print_list
from duvet.console.service_options import add_service_option
from duvet.console.settings import current_settings
from duvet.console.streams import print_notice, write_stdout
from duvet.knowledge.feedback import Vote, read_votes
from duvet.knowledge.settings import KnowledgeSettings, StorePaths, find_store_paths
from duvet.reports.tables import Column, ListFormat, Listing, render_listing
from duvet.tree.files import DiskTree

_EXPORTS = ("jsonl", "csv", "json")


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
    if action == "list":
        list_votes(format, service_path)
    elif format in (None, *_EXPORTS):
        export_votes(format or "jsonl", service_path)
    else:
        raise click.UsageError(f"`export` takes {', '.join(_EXPORTS)}, not {format}", ctx)


def locate_store(service_path: str | None) -> StorePaths:
    """Where everything is kept of the project in the working directory, by this configuration of the service."""
    import os

    from duvet.config.service import load_service_ingest

    shown = current_settings()
    store = load_service_ingest(DiskTree(), shown.environ, shown.config_path, service_path)[1]
    return find_store_paths(KnowledgeSettings(os.getcwd(), IngestRule(), store))


def list_votes(format: str | None, service_path: str | None) -> None:
    """List what was said, the last first."""
    found = read_votes(locate_store(service_path).feedback)[::-1]
    print_list(Listing(_SHOWN, found), format)
    if not found and not current_settings().quiet:
        print_notice("nobody has said anything of a result yet\n")


def export_votes(format: str, service_path: str | None) -> None:
    """Write all that was said, the first first."""
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% `duvet feedback` MUST list feedback by time, and `duvet feedback export` MUST write all of it as JSON Lines, CSV
    ##% or JSON.
    write_stdout(
        render_listing(
            Listing(_ALL, read_votes(locate_store(service_path).feedback)), ListFormat(format), detect_table_look()
        )
    )


def _text(name: str) -> Callable[[Vote], str]:
    def text(vote: Vote) -> str:
        value: Any = getattr(vote, name)
        if value is None or isinstance(value, str):
            return value or ""
        return f"{value:g}" if isinstance(value, float) else json.encode(value).decode()

    return text


_ALL = tuple(Column(name, _text(name)) for name in Vote.__struct_fields__)
_SHOWN = (
    Column("time", attrgetter("timestamp")),
    Column("vote", _text("vote")),
    Column("chunk", attrgetter("chunk_id"), wraps=True),
    Column("note", _text("note"), wraps=True),
)
