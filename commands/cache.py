"""`duvet cache`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand
from duvet.console.streams import write_stdout
from duvet.reports.cells import escape_cell
from duvet.text import format_count
from duvet.tree.cache import BlobStore, clear_cache, list_cache_files
from duvet.tree.files import CACHE_FOLDER


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
    ##= man/spec/cache.md#storage
    ##% `duvet cache` MUST show what the cache contains, and `duvet cache --clear` MUST remove that and nothing else.
    files = (clear_cache if clear else list_cache_files)(BlobStore(CACHE_FOLDER))
    total = f"{format_count(len(files), 'file')}, {sum(file.size for file in files):,} bytes"
    lines = [f"{CACHE_FOLDER}: removed {total}" if clear else f"{CACHE_FOLDER}: {total}"]
    if not clear:
        width = max((len(escape_cell(file.name)) for file in files), default=0)
        lines += [f"  {escape_cell(file.name):{width}}  {file.size:>12,}  {file.state}" for file in files]
    write_stdout("".join(f"{line}\n" for line in lines).encode())
