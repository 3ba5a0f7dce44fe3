"""`duvet show`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import references
from duvet.terminal.options import TEXT, trace_options


@click.command(cls=Subcommand)
@click.argument("reference", type=TEXT, metavar="REF", shell_complete=references)
@trace_options
@click.option(
    "--context",
    type=click.IntRange(0, 1000),
    default=2,
    metavar="N",
    help="Show N lines of code before and after each citation. [default: 2]",
)
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="How to write it. [default: text]",
)
def show(reference: str, context: int, format: str, **where: Any) -> None:
    """REF is the beginning of an id of a requirement, SPEC#SECTION, a specification, FILE:LINE, a file, or the path of
    a resource, as other commands print them. A line of code means the citations right above it, a line of a
    specification the requirement that begins there.

    A requirement is shown with the reason of its status, its citations with the code around them, and what stands
    beside it; a section with its text; a specification with its numbers; a file with all of its citations.

    \b
    Examples:
      duvet show 3b42c44e
      duvet show rfc9114#section-4.1
      duvet show src/lib.rs:42 --context 5
      duvet show rfc9114 --format markdown
    """
    from duvet.terminal.showing import run_show

    run_show(reference, context, format, where)
