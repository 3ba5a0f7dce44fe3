"""Prints lists and details in the requested format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from duvet.console import command, streams
from duvet.reports.cells import encode_json
from duvet.reports.tables import ListFormat, Listing, render_listing

if TYPE_CHECKING:
    from duvet.reports.detail import Block


def add_limit_option(default: int | None = None) -> Callable[[click.decorators.FC], click.decorators.FC]:
    note = "" if default is None else f" [default: {default}]"
    return click.option(
        "--limit",
        type=command.IntegerRange(min=0),
        default=default,
        metavar="N",
        help=f"List at most N entries; 0 means all.{note}",
    )


def print_list(listing: Listing, format: str | None) -> None:
    chosen = ListFormat(format) if format else ListFormat.TABLE if streams.is_on_terminal() else ListFormat.PLAIN
    streams.write_stdout(render_listing(listing, chosen, streams.detect_table_look()))


def print_detail(detail: object, blocks: Iterable[Block], format: str) -> None:
    if format == "json":
        streams.write_stdout(encode_json(detail))
        return
    from duvet.reports.detail import render_blocks_markdown, render_blocks_text

    if format == "markdown":
        streams.write_stdout(render_blocks_markdown(blocks))
    else:
        streams.write_stdout(render_blocks_text(blocks, streams.detect_table_look()))
