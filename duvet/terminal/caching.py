"""One run of `duvet cache`."""

from __future__ import annotations

from duvet.cache import contents
from duvet.cache.blobs import Blobs
from duvet.cache.contents import Item
from duvet.reports.cells import visible
from duvet.terminal.streams import pour
from duvet.text import plural
from duvet.tree.disk import CACHE_FOLDER


def run_cache(*, clear: bool) -> None:
    """List the files of the cache, or remove them."""
    ##= man/spec/cache.md#keeping
    ##% `duvet cache` MUST show what the cache holds, and with `--clear` remove it and nothing else.
    lines = _cleared() if clear else _shown()
    pour("".join(f"{line}\n" for line in lines).encode())


def _cleared() -> list[str]:
    return [f"{CACHE_FOLDER}: removed {_amount(contents.clear(Blobs(CACHE_FOLDER)))}"]


def _shown() -> list[str]:
    found = contents.contents(Blobs(CACHE_FOLDER))
    width = max((len(visible(item.name)) for item in found), default=0)
    rows = [f"  {visible(item.name):{width}}  {item.size:>12,}  {item.state}" for item in found]
    return [f"{CACHE_FOLDER}: {_amount(found)}", *rows]


def _amount(found: tuple[Item, ...]) -> str:
    return f"{plural(len(found), 'file')}, {sum(item.size for item in found):,} bytes"
