"""One run of `duvet search`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from duvet.cache.memory import NoMemory
from duvet.errors import QueryError
from duvet.queries.places import Files
from duvet.reports.cells import visible
from duvet.reports.columns import ID, LEVEL, SECTION, STATUS, TEXT
from duvet.reports.listing import Listing
from duvet.search.named import near
from duvet.search.search import Answer, Search, notes_on, search
from duvet.terminal.catalogues import read_requirements, tell_errors
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.listings import pour_list
from duvet.terminal.options import open_cache
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.tree.disk import DiskTree

if TYPE_CHECKING:
    from duvet.search.vectors.protocol import Embedder

_COLUMNS = (ID, LEVEL, STATUS, SECTION, replace(TEXT, marks=lambda row: row.marks))


def run_search(asked: Search, format: str | None, where: Mapping[str, Any], is_semantic: bool = False) -> int:
    """List what is found, by its meaning, too, where that is wanted; the exit code."""
    embedder = _embedder() if is_semantic else None
    ##= man/spec/search.md#results
    ##% `duvet search` MUST NOT write anything but the cache.
    catalogue = read_requirements(where)
    files = Files(DiskTree(), os.getcwd().replace(os.sep, "/"))
    try:
        answer = search(catalogue, asked, open_cache(settings()) or NoMemory(), files, embedder)
    except QueryError as error:
        raise click.UsageError(f"{visible(error.message)}\n{error.hint}") from error
    pour_list(Listing(_COLUMNS, answer.rows), format)
    tell_errors(catalogue)
    if not settings().quiet:
        say("".join(f"{line}\n" for line in _words_on(answer)))
        if not answer.rows:
            hint = visible(near(catalogue, asked.query, files))
            say(f"nothing found; {hint}\n" if hint else "nothing found\n")
    ##= man/spec/search.md#results
    ##% The exit code MUST be 0 with results and 1 without.
    return OK if answer.rows else FAILED


def _embedder() -> Embedder | None:
    from duvet.search.vectors.find import find_embedder

    return find_embedder(True)


def _words_on(answer: Answer) -> Iterator[str]:
    yield from notes_on(answer)
    if len(answer.rows) < answer.total:
        ##= man/spec/search.md#results
        ##% Where there are more results than are shown, duvet MUST say how many there are.
        yield f"{len(answer.rows)} of {answer.total} shown"
