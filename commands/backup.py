"""`duvet backup`"""

from __future__ import annotations

import os
from datetime import UTC, datetime

import click

from duvet.console import command, knowledge_store, options, streams
from duvet.errors import QueryError
from duvet.knowledge.backup import create_backup, write_archive
from duvet.reports.cells import escape_cell
from duvet.tree.outputs import is_stream, open_stream


@click.command(cls=command.Subcommand)
@command.path_option(
    "-o",
    "--output",
    metavar="PATH",
    help="A new .tgz or .tar.gz file, a folder, or - for standard output [default: `store.backups`, else `backups` next to "
    "the index].",
)
@options.add_service_option
def backup(output: str | None, service_path: str | None) -> None:
    """The backup is one archive with a consistent copy of the index and the feedback. Servers and ingest runs can keep
    running. Restore the backup with `duvet restore`.

    \b
    Examples:
      duvet backup
      duvet backup --output /mnt/backups
      duvet backup --output - | ssh elsewhere 'cat > km.tgz'
    """
    paths = knowledge_store.locate_store(service_path)
    with knowledge_store.audited(paths, "backup", output or ""):
        if output is not None and (output in streams.OUTPUT_NAMES or is_stream(output)):
            to_stdout = output in streams.OUTPUT_NAMES
            if to_stdout and streams.is_on_terminal():
                raise QueryError(
                    "won't write an archive to a terminal", hint="redirect standard output to a file or a pipe"
                )
            with streams.open_stdout() if to_stdout else open_stream(output) as file:
                write_archive(paths, file, datetime.now(UTC))
            return
        # A path that ends with / is a folder, whatever its name is.
        target = (
            os.path.abspath(output) + ("/" if output.endswith("/") else "") if output is not None else paths.backups
        )
        made = create_backup(paths, target, datetime.now(UTC))
    streams.print_remark(f"{escape_cell(command.show_path(os.path.relpath(made.path)))}: {made.size:,} bytes")
