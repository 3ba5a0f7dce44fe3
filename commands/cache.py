"""`duvet cache`"""

from __future__ import annotations

import click

from duvet.console.command import OldOption, SubcommandGroup
from duvet.console.streams import write_stdout
from duvet.reports.cells import escape_cell
from duvet.text import format_count
from duvet.tree.cache import BlobStore, clear_cache, list_cache_files
from duvet.tree.files import CACHE_FOLDER


@click.group(cls=SubcommandGroup, default="show")
def cache() -> None:
    """In .duvet/cache, duvet stores what it has read, so that the next run reads only what has changed. The cache is
    optional: without it every answer is the same, only slower. `duvet --no-cache` neither reads nor writes it.

    Without a COMMAND, `duvet cache` shows the cache.

    \b
    Examples:
      duvet cache
      duvet cache clear
      duvet --no-cache report
    """


@cache.command("show")
@click.option("--clear", "clears", cls=OldOption, instead="duvet cache clear", is_flag=True, help="Clear the cache.")
@click.pass_context
def show_cache(ctx: click.Context, /, clears: bool) -> None:
    """List the files in the cache, with their sizes.

    \b
    Examples:
      duvet cache show
    """
    if clears:
        ctx.invoke(clear)
        return
    files = list_cache_files(BlobStore(CACHE_FOLDER))
    width = max((len(escape_cell(file.name)) for file in files), default=0)
    lines = [f"{CACHE_FOLDER}: {format_count(len(files), 'file')}, {sum(file.size for file in files):,} bytes"]
    lines += [f"  {escape_cell(file.name):{width}}  {file.size:>12,}  {file.state}" for file in files]
    write_stdout("".join(f"{line}\n" for line in lines).encode())


@cache.command("clear")
def clear() -> None:
    """Remove the files that duvet has stored in the cache.

    \b
    Examples:
      duvet cache clear
    """
    removed = clear_cache(BlobStore(CACHE_FOLDER))
    total = f"{format_count(len(removed), 'file')}, {sum(file.size for file in removed):,} bytes"
    write_stdout(f"{CACHE_FOLDER}: removed {total}\n".encode())
