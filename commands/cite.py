"""`duvet cite`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.filters import KIND
from duvet.terminal.known_names import files, references
from duvet.terminal.options import TEXT, trace_options


@click.command(cls=Subcommand)
@click.argument("reference", type=TEXT, metavar="REF", shell_complete=references)
@click.option(
    "--at", "place", required=True, metavar="FILE:LINE", shell_complete=files, help="Insert it above this line."
)
@click.option("--type", "kind", type=KIND, help="What it is [default: what the source gives].")
@click.option("--reason", type=TEXT, metavar="TEXT", help="Why; an exception needs one.")
@click.option("--feature", type=TEXT, metavar="TEXT", help="What a todo belongs to.")
@click.option("--tracking-issue", type=TEXT, metavar="ID|URL", help="Where a todo is tracked.")
@click.option("--part", type=TEXT, metavar="WORDS", help="Quote only these words of the requirement.")
@click.option(
    "--width",
    type=click.IntRange(20, 1000),
    default=100,
    metavar="COLUMNS",
    help="How wide its lines may be. [default: 100]",
)
@click.option("--dry-run", is_flag=True, help="Show the difference, and write nothing.")
@trace_options
def cite(
    reference: str,
    place: str,
    kind: str | None,
    reason: str | None,
    feature: str | None,
    tracking_issue: str | None,
    part: str | None,
    width: int,
    dry_run: bool,
    **where: Any,
) -> None:
    """REF is the beginning of an id of a requirement, its path, SPEC#SECTION for the title of a section, or FILE:LINE
    for what is cited there. The citation is written above the line that --at names, as comments of that file are,
    indented like the line, and wrapped.

    It is checked as `duvet validate` would, before anything is written: what would not be valid is refused.

    \b
    Examples:
      duvet cite 3b42c44e --at src/lib.rs:42
      duvet cite src/lib.rs:42 --at tests/requests.rs:7 --type test
      duvet cite 3b42c44e --at src/lib.rs:90 --type exception --reason 'We are no client.'
      duvet cite rfc9114#section-4.1 --at src/lib.rs:12 --dry-run
    """
    from duvet.terminal.citing import run_cite

    fields = {"reason": reason, "feature": feature, "tracking-issue": tracking_issue}
    given = {name: value for name, value in fields.items() if value}
    run_cite(reference, place, kind, given, part, width, where, dry_run=dry_run)
