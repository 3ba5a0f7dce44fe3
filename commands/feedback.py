"""`duvet feedback`"""

from __future__ import annotations

from operator import attrgetter

import click
from msgspec import json

from duvet.console import command, knowledge_store, options, streams
from duvet.knowledge.feedback import Vote, read_votes
from duvet.reports.tables import Column, ListFormat, Listing, render_listing


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


@click.group(cls=command.SubcommandGroup, default="list")
def feedback() -> None:
    """Agents and people rate results of `km-search` with the tool `km-feedback-submit`. With `search.feedback: true` in
    the service configuration, these votes move results up or down a little in later searches.

    Without a COMMAND, `duvet feedback` lists the votes.

    \b
    Examples:
      duvet feedback
      duvet feedback export > feedback.jsonl
      duvet feedback export --format csv
    """


@feedback.command("list")
@options.add_list_format
@options.add_service_option
def list_feedback(format: str | None, service_path: str | None) -> None:
    """List the votes, newest first.

    \b
    Examples:
      duvet feedback list
      duvet feedback list --format json
    """
    votes = read_votes(knowledge_store.locate_store(service_path).feedback)
    streams.print_list(Listing(_LISTED, votes[::-1]), format)
    if not votes:
        streams.print_remark("no feedback yet")


@feedback.command("export")
@click.option(
    "--format", type=click.Choice(["jsonl", "csv", "json"]), default="jsonl", help="Output format [default: jsonl]."
)
@options.add_service_option
def export_feedback(format: str, service_path: str | None) -> None:
    """Write every vote with all its fields, oldest first.

    \b
    Examples:
      duvet feedback export > feedback.jsonl
      duvet feedback export --format csv
    """
    votes = read_votes(knowledge_store.locate_store(service_path).feedback)
    streams.write_stdout(render_listing(Listing(_EXPORTED, votes), ListFormat(format), streams.detect_table_look()))
