"""Measures the cost of ten thousand pages for the server, and of the answers after the first."""

from __future__ import annotations

import random
import statistics
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from tests.bench.budgets import NOTES_FIRST, NOTES_LATER, NOTES_MEMORY
from tests.bench.calibration import Clock
from tests.bench.clients import post, post_unread, spent, talking_http
from tests.bench.figures import Figure, seconds_of, show_figures

PAGES, LINKS = 10_000, 5
_WORDS, _VOCABULARY = 120, 20_000
CALLS = 200
_CONFIG = "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'spec.md'\n"
_ASKED: Mapping[str, Mapping[str, str]] = {
    "get_page": {"slug": "page-{number}"},
    "get_connections": {"slug": "page-{number}"},
    "search": {"query": "word{number}"},
    "list_pages": {},
}


def main(options: Namespace) -> int:

    def measure(folder: Path) -> Iterator[Figure]:
        make_pages(folder, PAGES)
        unit = Clock(options.runs, options.shared).unit()
        return measured([options.duvet, "mcp", "--http", "0", "--rate", "0"], folder, unit)

    return show_figures(measure)


def make_pages(folder: Path, count: int) -> None:
    """Make a project with this many pages, each with a few links to others."""
    chance = random.Random(1)
    (folder / "docs").mkdir()
    (folder / ".duvet").mkdir()
    (folder / ".duvet/config.toml").write_text(_CONFIG)
    (folder / "spec.md").write_text("# Tea\n\nIt MUST be hot.\n")
    for number in range(count):
        links = " ".join(f"[[page-{chance.randrange(count)}]]" for _ in range(LINKS))
        words = " ".join(f"word{chance.randrange(_VOCABULARY)}" for _ in range(_WORDS))
        (folder / f"docs/page-{number}.md").write_text(f"# Page {number}\n\n{links}\n\n{words}\n")


def measured(command: Sequence[str], folder: Path, unit: float) -> Iterator[Figure]:
    """Measure the first answer, later ones, one after an edit, and the final memory."""
    with talking_http(command, folder) as server:
        connection = HTTPConnection(*server.where, timeout=60)
        call = partial(post, connection)
        count = len(call("list_pages", {}))
        assert count == len(list((folder / "docs").iterdir()))
        yield Figure("pages: start to the first answer, cu", spent(server.process) / unit, NOTES_FIRST)
        call("search", {"query": "word1"})
        yield Figure("pages: start to the first search, cu", spent(server.process) / unit, NOTES_FIRST)
        for tool, given in _ASKED.items():
            asked = (
                {name: value.format(number=number % count) for name, value in given.items()} for number in range(CALLS)
            )
            usual = statistics.median(seconds_of(partial(post_unread, connection, tool, one)) for one in asked)
            yield Figure(f"pages: {tool}, p50 in ms", usual * 1000, NOTES_LATER)
        before = spent(server.process)
        (folder / "docs/page-7.md").write_text("# Edited\n")
        assert call("get_page", {"slug": "page-7"})["title"] == "Edited"
        yield Figure("pages: an answer after an edit, cu", (spent(server.process) - before) / unit, NOTES_FIRST)
        yield Figure("pages: memory, MB", server.memory, NOTES_MEMORY)
