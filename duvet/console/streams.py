"""Standard streams, output files, exit codes, and how tables look on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, TextIO

import click

from duvet.console.command import current_settings, wants_colour
from duvet.errors import OutputError, describe_os_error
from duvet.reports.cells import TableLook, encode_json, escape_cell

if TYPE_CHECKING:
    from duvet.reports.detail import Block
    from duvet.reports.tables import Listing
    from duvet.tree.outputs import FileWriter, OutputData

OK, FAILED, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130

STANDARD_INPUT = STANDARD_OUTPUT = "-"
INPUT_NAMES = (STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
OUTPUT_NAMES = (STANDARD_OUTPUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

_WIDTH = 100  # The width of tables in a file or a pipe.
_MIN_WIDTH = 20


def is_on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def detect_table_look(stream: TextIO | None = None) -> TableLook:
    settings, stream = current_settings(), stream or sys.stdout
    width, colour = _WIDTH, stream is not None and wants_colour(settings.colours, settings.environ, stream)
    if stream is not None and stream.isatty():
        columns = settings.environ.get("COLUMNS", "")
        with suppress(OSError):
            # A terminal of unknown size has 0 columns.
            width = int(columns) if columns.isdecimal() else os.get_terminal_size(stream.fileno()).columns
        width = max(width or _WIDTH, _MIN_WIDTH)
    return TableLook(width, colour)


def print_notice(text: str) -> None:
    try:
        sys.stderr.write(text)
    except OSError:
        silence_stream(sys.stderr)


def make_usage_error(message: str, hint: str) -> click.UsageError:
    return click.UsageError("\n  = help: ".join(escape_cell(text) for text in (message, hint) if text))


def print_remark(text: str) -> None:
    if text and not current_settings().quiet:
        print_notice(f"{text}\n")


def print_line(text: str) -> None:
    print_notice(f"{text}\n")
    if sys.stderr is not None:
        sys.stderr.flush()


def is_stderr_writable() -> bool:
    import select

    try:
        # A pipe with less than a page of free space counts as full, so a short text never blocks.
        return bool(select.select([], [sys.stderr], [], 0)[1])
    except (OSError, ValueError):
        # Some systems can't use select() on files.
        return True


@contextmanager
def open_stdout() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise OutputError("standard output is closed", path=STANDARD_OUTPUT)
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence_stream(sys.stdout)
    except OSError as error:
        silence_stream(sys.stdout)
        raise OutputError(
            f"can't write to standard output: {describe_os_error(error)}", path=STANDARD_OUTPUT
        ) from error


def write_stdout(data: bytes | bytearray) -> None:
    with open_stdout() as out:
        out.write(data)


def silence_stream(stream: TextIO) -> None:
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_output(path: str, data: bytes) -> None:
    with write_outputs() as write:
        write(path, data)


@contextmanager
def write_outputs() -> Iterator[FileWriter]:
    from duvet.tree.outputs import store_together

    printed: list[OutputData] = []
    with store_together() as write:
        ##= man/spec/trace.md#commands
        ##% `duvet report` MUST write nothing to standard output except GitHub workflow commands, and reports and
        ##% problems that the user directs there.
        yield lambda path, data: printed.append(data) if path == STANDARD_OUTPUT else write(path, data)
        for data in printed:
            write_stdout(data)


def render_bytes(render: Callable[[BinaryIO], None]) -> bytes:
    out = BytesIO()
    render(out)
    return out.getvalue()


def print_list(listing: Listing, format: str | None) -> None:
    from duvet.reports.tables import ListFormat, render_listing

    chosen = ListFormat(format) if format else ListFormat.TABLE if is_on_terminal() else ListFormat.PLAIN
    write_stdout(render_listing(listing, chosen, detect_table_look()))


def print_detail(detail: object, blocks: Iterable[Block], format: str) -> None:
    if format == "json":
        write_stdout(encode_json(detail))
        return
    from duvet.reports.detail import render_blocks_markdown, render_blocks_text

    if format == "markdown":
        write_stdout(render_blocks_markdown(blocks))
    else:
        write_stdout(render_blocks_text(blocks, detect_table_look()))
