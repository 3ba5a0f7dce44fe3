"""`duvet restore`"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import click

from duvet.console import command, knowledge_store, options, streams
from duvet.errors import QueryError, UnreadableError
from duvet.knowledge.backup import STORE_MEMBER
from duvet.knowledge.restore import restore_backup
from duvet.reports.cells import escape_cell
from duvet.text import format_count


@click.command(cls=command.Subcommand)
@click.argument("file", type=command.PathType(), metavar="FILE")
@click.option("--force", is_flag=True, help="Don't back up the current index first. This needs less disk space.")
@options.add_service_option
def restore(file: str, force: bool, service_path: str | None) -> None:
    """duvet checks the whole archive first, and backs up the current index. Then it replaces the index in one step;
    running servers use the new one at once. Feedback from the backup is added to the current feedback. With - as FILE,
    duvet reads the archive from standard input.

    \b
    Examples:
      duvet restore .duvet/knowledge/backups/km-backup-20260531T120000.tgz
      duvet restore --force km.tgz
      ssh elsewhere 'cat km.tgz' | duvet restore -
    """
    paths, stream = knowledge_store.locate_store(service_path), None
    if file in streams.INPUT_NAMES:
        hint = "pipe an archive to standard input, or give the path of its file"
        if sys.stdin is None:
            raise UnreadableError("standard input is closed", path=streams.STANDARD_INPUT, hint=hint)
        if sys.stdin.isatty():
            raise QueryError("standard input is a terminal, not an archive", hint=hint)
        stream = sys.stdin.buffer
    with knowledge_store.audited(paths, "restore", file):
        restored = restore_backup(paths, file, datetime.now(UTC), keeps=not force, stream=stream)
    what = "the index" if STORE_MEMBER in restored.manifest.files else "only feedback"
    streams.print_remark(f"restored {what} from the backup of {escape_cell(restored.manifest.created_at)}")
    if restored.votes:
        streams.print_remark(f"restored {format_count(restored.votes, 'vote')}")
    if restored.kept:
        streams.print_remark(
            f"backed up the previous index to {escape_cell(command.show_path(os.path.relpath(restored.kept)))}"
        )
