"""One run of `duvet backup`, and one of `duvet restore`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from tempfile import gettempdir
from typing import BinaryIO

from duvet.errors import DuvetError, OutputError, QueryError, UnreadableError, describe
from duvet.knowledge.upkeep.audit import Deed, account
from duvet.knowledge.upkeep.backup import back_up, write_archive
from duvet.knowledge.upkeep.manifest import STORE
from duvet.knowledge.upkeep.places import Places
from duvet.knowledge.upkeep.restoring import restore
from duvet.outputs import is_stream, poured
from duvet.reports.cells import visible
from duvet.terminal.above import naming_above, taken_for_another
from duvet.terminal.failures import report
from duvet.terminal.settings import settings
from duvet.terminal.streams import STANDARD_INPUT, STANDARD_OUTPUT, is_standard_input, is_standard_output, say, silence
from duvet.terminal.votes import places
from duvet.text import plural
from duvet.tools.faces import SHELL

_SEND = "send an archive there, or name its file"


def run_backup(output: str | None, service_path: str | None) -> None:
    """Make an archive, and say where."""
    kept, now = places(service_path), datetime.now(UTC)
    with _accounted(kept, "backup", output or ""), naming_above("backup"):
        if output is not None and (is_standard_output(output) or is_stream(output)):
            _pour_archive(kept, now, output)
            return
        made = back_up(kept, _place(kept, output), now)
    if not settings().quiet:
        say(f"{visible(os.path.relpath(made.path))}: {made.size:,} bytes\n")


def _place(kept: Places, output: str | None) -> str:
    if output is None:
        return kept.backups
    # With / at its end, it is a folder whatever its name is.
    return os.path.abspath(output) + ("/" if output.endswith("/") else "")


def _pour_archive(kept: Places, now: datetime, output: str) -> None:
    if not is_standard_output(output):
        with poured(output) as file:
            write_archive(kept, file, now, gettempdir())
        return
    ##= man/spec/gateway.md#maintenance
    ##% Where standard output takes no archive, `duvet backup -o -` MUST say so, and be quiet where nobody reads it any more.
    if sys.stdout is None:
        raise OutputError("standard output is closed", path=STANDARD_OUTPUT)
    if sys.stdout.isatty():
        raise QueryError("an archive is nothing for a terminal", hint="send it to a file or a program")
    try:
        write_archive(kept, sys.stdout.buffer, now, gettempdir())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise OutputError(f"can't write to standard output: {describe(error)}", path=STANDARD_OUTPUT) from error


def run_restore(file: str, service_path: str | None, *, keeps: bool) -> None:
    """Put what is in an archive in the place of what is known, and say so."""
    kept = places(service_path)
    stream = _standard_input() if is_standard_input(file) else None
    report(taken_for_another(os.getcwd(), "restore", file, *([] if keeps else ["--force"])))
    with _accounted(kept, "restore", file):
        found = restore(kept, file, datetime.now(UTC), keeps=keeps, stream=stream)
    if settings().quiet:
        return
    what = "what was known" if STORE in found.manifest.files else "nothing but feedback, of what was kept"
    say(f"restored {what} at {visible(found.manifest.created_at)}\n")
    if found.votes:
        say(f"brought back {plural(found.votes, 'vote')}\n")
    if found.kept:
        say(f"what was there is in {visible(os.path.relpath(found.kept))}\n")


def _standard_input() -> BinaryIO:
    ##= man/spec/gateway.md#maintenance
    ##% `duvet restore -` MUST read the archive from standard input, as `duvet restore /dev/stdin` does, and say so where that
    ##% is closed.
    if sys.stdin is None:
        raise UnreadableError("standard input is closed", path=STANDARD_INPUT, hint=_SEND)
    if sys.stdin.isatty():
        raise QueryError("an archive is nothing that is typed", hint=_SEND)
    return sys.stdin.buffer


@contextmanager
def _accounted(kept: Places, command: str, file: str) -> Iterator[None]:
    """Keep the account of it, where there is a place for one."""
    begun, outcome = time.monotonic(), "failure"
    try:
        yield
        outcome = "success"
    finally:
        deed = Deed(
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            tool=f"duvet {command}",
            outcome=outcome,
            face=SHELL,
            who="local",
            scopes=(),
            request="",
            duration_seconds=round(time.monotonic() - begun, 3),
            arguments="",
            parameters={"file": file},
        )
        if os.path.isdir(kept.folder):
            with suppress(DuvetError):
                account(kept, deed)
