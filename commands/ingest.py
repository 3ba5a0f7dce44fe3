"""`duvet ingest`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_option


@click.command(cls=Subcommand)
@click.option(
    "--profile", type=TEXT, metavar="NAME", help="What to call this run [default: that of the configuration, or local]."
)
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
@click.option("--full", is_flag=True, help="Read every file again, be it changed or not, and replace a damaged store.")
@click.option(
    "--dummy-embeddings", is_flag=True, help="Make vectors without a model: they mean nothing, and show that it works."
)
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="With json, what has come of the run is written to standard output.",
)
@service_option
@trace_options
@click.pass_context
def ingest(
    ctx: click.Context,
    /,
    profile: str | None,
    dry_run: bool,
    full: bool,
    dummy_embeddings: bool,
    format: str,
    service_path: str | None,
    **where: Any,
) -> None:
    """Code, tests, documents, specifications, requirements and citations are kept in .duvet/knowledge, where the tools
    of the pack `knowledge` search them and tell how they hang together. Only files that have changed are read again.
    The store can be removed at any time; the feedback beside it is there once.

    Which files are taken in, and whether symbols and vectors are made of them, is said in `duvet.config.yaml` below
    `ingest`; what git ignores never is, and secrets such as .env and dependencies such as node_modules only where their
    very paths are named there. Subsystems are those of the folders of the sources, or of `subsystems.yaml`, where each
    may have `description`, `criticality`, `owner`, `domain`, `tags`, `paths` and `depends_on`, as duvet.config(5) says.

    \b
    Examples:
      duvet ingest
      duvet ingest --dry-run
      duvet ingest --profile nightly --full --format json
      duvet call km-search --query "retry after a timeout"
    """
    from duvet.terminal.ingesting import Asked, run_ingest

    run_ingest(where, service_path, Asked(profile or "", dry_run, full, dummy_embeddings, format == "json"))
