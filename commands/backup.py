"""`duvet backup`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files
from duvet.console.service_options import add_service_option


@click.command(cls=Subcommand)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="The archive, a file that is not there yet and ends in .tgz or .tar.gz, or the folder for it; - writes it to standard "
    "output [default: .duvet/knowledge/backups].",
)
@add_service_option
def backup(output: str | None, service_path: str | None) -> None:
    """Everything that `duvet ingest` has taken in, and the feedback on it, becomes one archive, as it is at one moment:
    servers and runs go on meanwhile. `duvet restore` brings it back.

    \b
    Examples:
      duvet backup
      duvet backup --output /mnt/backups
      duvet backup --output - | ssh elsewhere 'cat > km.tgz'
    """
    from duvet.console.backup import run_backup

    run_backup(output, service_path)
