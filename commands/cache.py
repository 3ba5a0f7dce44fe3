"""`duvet cache`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand
from duvet.console.streams import write_stdout
from duvet.reports.cells import escape_cell
from duvet.text import format_count
from duvet.tree import cache_files
from duvet.tree.cache_files import BlobStore, CacheFile
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
    run_cache(clear=clear)


def run_cache(*, clear: bool) -> None:
    """List the files of the cache, or remove them."""
    ##= man/spec/cache.md#storage
    ##% `duvet cache` MUST show what the cache contains, and `duvet cache --clear` MUST remove that and nothing else.
    lines = _cleared() if clear else _shown()
    write_stdout("".join(f"{line}\n" for line in lines).encode())


def _cleared() -> list[str]:
    return [f"{CACHE_FOLDER}: removed {_amount(cache_files.clear_cache(BlobStore(CACHE_FOLDER)))}"]


def _shown() -> list[str]:
    found = cache_files.list_cache_files(BlobStore(CACHE_FOLDER))
    width = max((len(escape_cell(item.name)) for item in found), default=0)
    rows = [f"  {escape_cell(item.name):{width}}  {item.size:>12,}  {item.state}" for item in found]
    return [f"{CACHE_FOLDER}: {_amount(found)}", *rows]


def _amount(found: tuple[CacheFile, ...]) -> str:
    return f"{format_count(len(found), 'file')}, {sum(item.size for item in found):,} bytes"
