"""Lists and details in the format that the user asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from duvet.console.command import current_settings, wants_colour
from duvet.console.streams import write_stdout
from duvet.reports.tables import ListFormat, Listing, TableLook, encode_json, render_listing

if TYPE_CHECKING:
    from duvet.reports.detail import Block

_WIDTH = 100  # The width of tables in a file or a pipe.
_MIN_WIDTH = 20

add_list_format = click.option(
    "--format",
    type=click.Choice([one.value for one in ListFormat]),
    help="The format of the list [default: table on a terminal, else plain].",
)


def add_limit_option(default: int | None = None) -> Callable[[click.decorators.FC], click.decorators.FC]:
    note = "" if default is None else f" [default: {default}]"
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        default=default,
        metavar="N",
        help=f"List at most N entries; 0 means all.{note}",
    )


def print_list(listing: Listing, format: str | None) -> None:
    """Write a list to standard output, by default as a table on a terminal and as plain lines elsewhere."""
    chosen = ListFormat(format) if format else ListFormat.TABLE if is_on_terminal() else ListFormat.PLAIN
    write_stdout(render_listing(listing, chosen, detect_table_look()))


def print_detail(detail: object, blocks: Iterable[Block], format: str) -> None:
    """Write a record as JSON, or its blocks as Markdown or text, to standard output."""
    if format == "json":
        write_stdout(encode_json(detail))
        return
    from duvet.reports.detail import render_blocks_markdown, render_blocks_text

    if format == "markdown":
        write_stdout(render_blocks_markdown(blocks))
    else:
        write_stdout(render_blocks_text(blocks, detect_table_look()))


def is_on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def detect_table_look(stream: TextIO | None = None) -> TableLook:
    """Return the width and the colours for a stream, by default standard output."""
    settings, stream = current_settings(), stream or sys.stdout
    colour = stream is not None and wants_colour(settings.colours, settings.environ, stream)
    if stream is None or not stream.isatty():
        return TableLook(_WIDTH, colour)
    columns = settings.environ.get("COLUMNS", "")
    with suppress(OSError):
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(stream.fileno()).columns
        # A terminal of unknown size has 0 columns.
        return TableLook(max(width or _WIDTH, _MIN_WIDTH), colour)
    return TableLook(_WIDTH, colour)
