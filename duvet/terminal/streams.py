"""The standard streams, which may be closed, full, or read by nobody any more."""

from __future__ import annotations

import os
import select
import sys
from typing import TextIO

from duvet.errors import OutputError, describe

STANDARD_INPUT = STANDARD_OUTPUT = "-"
_NAMES_OF_INPUT = (STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_NAMES_OF_OUTPUT = (STANDARD_OUTPUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def open_missing() -> None:
    """Give a process that was started without standard error one that nobody reads."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open to the end


def say(text: str) -> None:
    """Tell people something on standard error; that nobody listens is no reason to stop."""
    try:
        sys.stderr.write(text)
    except OSError:
        silence(sys.stderr)


def tell_line(text: str) -> None:
    """Say a line at once."""
    say(f"{text}\n")
    if sys.stderr is not None:
        sys.stderr.flush()


def is_heard() -> bool:
    """Whether whoever is told things on standard error takes a line at once."""
    try:
        # A pipe that is nearly full counts as full: what is shorter than a page never has to wait.
        return bool(select.select([], [sys.stderr], [], 0)[1])
    except (OSError, ValueError):
        # Where that can't be asked, as of files on some systems.
        return True


def pour(data: bytes | bytearray) -> None:
    """Write a result to standard output; a reader may have read enough."""
    if sys.stdout is None:
        raise OutputError("standard output is closed", path="-")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise OutputError(f"can't write to standard output: {describe(error)}", path="-") from error


def is_standard_output(path: str) -> bool:
    """Whether a result goes to standard output, under whatever name."""
    return path in _NAMES_OF_OUTPUT


def is_standard_input(path: str) -> bool:
    """Whether this is read from standard input, under whatever name."""
    return path in _NAMES_OF_INPUT


def silence(stream: TextIO) -> None:
    """Lead a stream to where nothing fails: what is left in it would be written, and complained about, at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
