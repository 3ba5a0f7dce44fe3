"""Lists in the format that the user asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from duvet.console.settings import current_settings, wants_colour
from duvet.console.streams import write_stdout
from duvet.reports.tables import ListFormat, Listing, TableLook, render_listing

_WIDTH = 100
"""Of tables that go elsewhere."""
_NARROWEST = 20


def add_list_format(function: click.decorators.FC) -> click.decorators.FC:
    """The option that chooses how a list is written."""
    return click.option(
        "--format",
        "format",
        type=click.Choice([one.value for one in ListFormat]),
        help="How to write the list [default: table on a terminal, plain elsewhere].",
    )(function)


def add_limit_option(default: int | None = None) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """The option that cuts a list."""
    shown = "" if default is None else f" [default: {default}]"
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        default=default,
        metavar="N",
        help=f"List no more than N; 0 is all.{shown}",
    )


def print_list(listing: Listing, format: str | None) -> None:
    """Write a list to standard output."""
    chosen = ListFormat(format) if format else ListFormat.TABLE if is_on_terminal() else ListFormat.PLAIN
    write_stdout(render_listing(listing, chosen, detect_table_look()))


def is_on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def detect_table_look() -> TableLook:
    """What fits standard output, and may be seen there."""
    shown = current_settings()
    colour = sys.stdout is not None and wants_colour(shown.colours, shown.environ, sys.stdout)
    if not is_on_terminal():
        return TableLook(_WIDTH, colour)
    import shutil

    return TableLook(max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST), colour)
