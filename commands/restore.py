"""`duvet restore`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files
from duvet.console.service_options import add_service_option


@click.command(cls=Subcommand)
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option("--force", is_flag=True, help="Keep no backup of what is there, which takes less room.")
@add_service_option
def restore(file: str, force: bool, service_path: str | None) -> None:
    """The archive is checked as a whole first. Then what is in it takes the place of what is known, at once, also for
    servers that run; what was there becomes another backup. Feedback that was given since stays. With - as FILE, the
    archive is read from standard input.

    \b
    Examples:
      duvet restore .duvet/knowledge/backups/km-backup-20260531T120000.tgz
      duvet restore --force km.tgz
      ssh elsewhere 'cat km.tgz' | duvet restore -
    """
    from duvet.console.backup import run_restore

    run_restore(file, service_path, keeps=not force)
