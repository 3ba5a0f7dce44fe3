"""Standard streams, output files and exit codes."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, TextIO

from duvet.errors import OutputError, describe_os_error
from duvet.tree.outputs import FileWriter, OutputData, leads_to_open_file, store_together

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


STANDARD_INPUT = STANDARD_OUTPUT = "-"
_NAMES_OF_INPUT = (STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_NAMES_OF_OUTPUT = (STANDARD_OUTPUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def open_missing_stderr() -> None:
    """Give a process that was started without standard error one that nobody reads."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open to the end


def print_notice(text: str) -> None:
    """Tell people something on standard error; that nobody listens is no reason to stop."""
    try:
        sys.stderr.write(text)
    except OSError:
        silence_stream(sys.stderr)


def print_line(text: str) -> None:
    """Say a line at once."""
    print_notice(f"{text}\n")
    if sys.stderr is not None:
        sys.stderr.flush()


def is_stderr_writable() -> bool:
    """Whether whoever is told things on standard error takes a line at once."""
    try:
        # A pipe that is nearly full counts as full: what is shorter than a page never has to wait.
        return bool(select.select([], [sys.stderr], [], 0)[1])
    except (OSError, ValueError):
        # Where that can't be asked, as of files on some systems.
        return True


def write_stdout(data: bytes | bytearray) -> None:
    """Write a result to standard output; a reader may have read enough."""
    if sys.stdout is None:
        raise OutputError("standard output is closed", path="-")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence_stream(sys.stdout)
    except OSError as error:
        silence_stream(sys.stdout)
        raise OutputError(f"can't write to standard output: {describe_os_error(error)}", path="-") from error


def is_standard_output(path: str) -> bool:
    """Whether a result goes to standard output, under whatever name."""
    return path in _NAMES_OF_OUTPUT


def is_standard_input(path: str) -> bool:
    """Whether this is read from standard input, under whatever name."""
    return path in _NAMES_OF_INPUT


def silence_stream(stream: TextIO) -> None:
    """Lead a stream to where nothing fails: what is left in it would be written, and complained about, at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_stream_output(path: str) -> bool:
    """Whether a result goes to someone who listens, and not into a file that is named so."""
    return path == STANDARD_OUTPUT or leads_to_open_file(path)


def write_output(path: str, data: bytes) -> None:
    """Write a result, whole or not at all."""
    with write_outputs() as write:
        write(path, data)


@contextmanager
def write_outputs() -> Iterator[FileWriter]:
    """Write several results: all of them, or none."""
    poured: list[OutputData] = []
    with store_together() as write:
        ##= man/spec/trace.md#reports
        ##% `duvet report` MUST write nothing to standard output, except for a report or problems that are sent there.
        yield lambda path, data: poured.append(data) if path == STANDARD_OUTPUT else write(path, data)
        for data in poured:
            write_stdout(data)


def render_bytes(render: Callable[[BinaryIO], None]) -> bytes:
    """What a reporter writes."""
    out = _Parts()
    render(out)
    return b"".join(out.parts)


class _Parts(BytesIO):
    """Keeps what is written as it is: a report in one piece is not copied."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def write(self, data: ReadableBuffer) -> int:
        self.parts.append(part := bytes(data))
        return len(part)

    def writelines(self, lines: Iterable[ReadableBuffer]) -> None:
        self.parts.extend(map(bytes, lines))


##= man/spec/trace.md#diagnostics
##% duvet MUST exit with 0 for yes, 1 for no, 2 for wrong usage, 3 for a defect of duvet, and 130 when interrupted.
OK, FAILED, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
