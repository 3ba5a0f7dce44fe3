"""Runs `duvet backup` and `duvet restore`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from tempfile import gettempdir
from typing import BinaryIO

from duvet.commands.feedback import locate_store
from duvet.console.options import name_parent_project, warn_of_parent_project
from duvet.console.problems import print_problems
from duvet.console.settings import current_settings
from duvet.console.streams import (
    STANDARD_INPUT,
    STANDARD_OUTPUT,
    is_standard_input,
    is_standard_output,
    print_notice,
    silence_stream,
)
from duvet.errors import DuvetError, OutputError, QueryError, UnreadableError, describe_os_error
from duvet.knowledge.backup import STORE_MEMBER, create_backup, write_archive
from duvet.knowledge.feedback import AuditEntry, append_audit_entry
from duvet.knowledge.restore import restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.reports.cells import escape_cell
from duvet.text import format_count
from duvet.tools.tool import SHELL_SOURCE
from duvet.tree.outputs import is_stream, open_stream

_SEND = "send an archive there, or name its file"


def run_backup(output: str | None, service_path: str | None) -> None:
    """Make an archive, and say where."""
    kept, now = locate_store(service_path), datetime.now(UTC)
    with _accounted(kept, "backup", output or ""), name_parent_project("backup"):
        if output is not None and (is_standard_output(output) or is_stream(output)):
            _pour_archive(kept, now, output)
            return
        made = create_backup(kept, _place(kept, output), now)
    if not current_settings().quiet:
        print_notice(f"{escape_cell(os.path.relpath(made.path))}: {made.size:,} bytes\n")


def _place(kept: StorePaths, output: str | None) -> str:
    if output is None:
        return kept.backups
    # With / at its end, it is a folder whatever its name is.
    return os.path.abspath(output) + ("/" if output.endswith("/") else "")


def _pour_archive(kept: StorePaths, now: datetime, output: str) -> None:
    if not is_standard_output(output):
        with open_stream(output) as file:
            write_archive(kept, file, now, gettempdir())
        return
    ##= man/spec/gateway.md#backups
    ##% `duvet backup -o -` MUST write the archive to standard output, and `duvet restore -` MUST read it from standard
    ##% input.
    if sys.stdout is None:
        raise OutputError("standard output is closed", path=STANDARD_OUTPUT)
    if sys.stdout.isatty():
        raise QueryError("an archive is nothing for a terminal", hint="send it to a file or a program")
    try:
        write_archive(kept, sys.stdout.buffer, now, gettempdir())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence_stream(sys.stdout)
    except OSError as error:
        silence_stream(sys.stdout)
        raise OutputError(
            f"can't write to standard output: {describe_os_error(error)}", path=STANDARD_OUTPUT
        ) from error


def run_restore(file: str, service_path: str | None, *, keeps: bool) -> None:
    """Put what is in an archive in the place of what is known, and say so."""
    kept = locate_store(service_path)
    stream = _standard_input() if is_standard_input(file) else None
    print_problems(warn_of_parent_project(os.getcwd(), "restore", file, *([] if keeps else ["--force"])))
    with _accounted(kept, "restore", file):
        found = restore_backup(kept, file, datetime.now(UTC), keeps=keeps, stream=stream)
    if current_settings().quiet:
        return
    what = "what was known" if STORE_MEMBER in found.manifest.files else "nothing but feedback, of what was kept"
    print_notice(f"restored {what} at {escape_cell(found.manifest.created_at)}\n")
    if found.votes:
        print_notice(f"brought back {format_count(found.votes, 'vote')}\n")
    if found.kept:
        print_notice(f"what was there is in {escape_cell(os.path.relpath(found.kept))}\n")


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise UnreadableError("standard input is closed", path=STANDARD_INPUT, hint=_SEND)
    if sys.stdin.isatty():
        raise QueryError("an archive is nothing that is typed", hint=_SEND)
    return sys.stdin.buffer


@contextmanager
def _accounted(kept: StorePaths, command: str, file: str) -> Iterator[None]:
    """Keep the account of it, where there is a place for one."""
    begun, outcome = time.monotonic(), "failure"
    try:
        yield
        outcome = "success"
    finally:
        deed = AuditEntry(
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            tool=f"duvet {command}",
            outcome=outcome,
            face=SHELL_SOURCE,
            who="local",
            scopes=(),
            request="",
            duration_seconds=round(time.monotonic() - begun, 3),
            arguments="",
            parameters={"file": file},
        )
        if os.path.isdir(kept.folder):
            with suppress(DuvetError):
                append_audit_entry(kept, deed)
