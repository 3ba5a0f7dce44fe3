"""`duvet cache`"""

from __future__ import annotations

import click

from duvet.terminal.command import Subcommand


@click.command(cls=Subcommand)
@click.option("--clear", is_flag=True, help="Remove the cache.")
def cache(clear: bool) -> None:
    """`duvet report` keeps in .duvet/cache what it has read, so that the next run reads only what has changed. The
    cache is a hint: every answer is the same without it, and `duvet --no-cache` leaves it alone.

    \b
    Examples:
      duvet cache
      duvet cache --clear
      duvet --no-cache report
    """
    from duvet.terminal.caching import run_cache

    run_cache(clear=clear)
