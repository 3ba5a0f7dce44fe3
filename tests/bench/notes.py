"""Measures the cost of pages with front matter for the server: of the first answer, of later ones, and after an edit."""

from __future__ import annotations

import random
import statistics
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench import budgets
from tests.bench.calibration import Clock
from tests.bench.clients import post, post_unread, spent, talking_http
from tests.bench.figures import Figure, seconds_of, show_figures

PAGES, LINKS = 5_000, 5
_WORDS, _VOCABULARY = 230, 400
CALLS, EDITS = 200, 10
_CONFIG = "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'spec.md'\n"
_FRONT_MATTER = """\
---
title: Page {number}
created: 2026-05-{day:02}
tags: [tea, topic/{day}]
aliases:
  - Note {number}
---
"""
_SIX_WORDS = " ".join(f"word{{{letter}}}" for letter in "abcdef")
_ASKED: Mapping[str, tuple[str, Mapping[str, str], budgets.Budget]] = {
    "get_page": ("get_page", {"slug": "page-{number}"}, budgets.NOTES_GOT),
    "get_connections": ("get_connections", {"slug": "page-{number}"}, budgets.NOTES_LATER),
    "search of one word": ("search", {"query": "word{a}"}, budgets.NOTES_SEARCHED),
    "search of six words": ("search", {"query": _SIX_WORDS}, budgets.NOTES_SEARCHED),
    "list_pages": ("list_pages", {}, budgets.NOTES_LATER),
}


def main(options: Namespace) -> int:

    def measure(folder: Path) -> Iterator[Figure]:
        make_pages(folder, PAGES)
        unit = Clock(options.runs, options.shared).unit()
        return measured([options.duvet, "mcp", "--http", "0", "--rate", "0"], folder, unit)

    return show_figures(measure)


def make_pages(folder: Path, count: int) -> None:
    chance = random.Random(1)
    (folder / "docs").mkdir()
    (folder / ".duvet").mkdir()
    (folder / ".duvet/config.toml").write_text(_CONFIG)
    (folder / "spec.md").write_text("# Tea\n\nIt MUST be hot.\n")
    for number in range(count):
        links = " ".join(f"[[page-{chance.randrange(count)}]]" for _ in range(LINKS))
        words = " ".join(f"word{chance.randrange(_VOCABULARY)}" for _ in range(_WORDS))
        front = _FRONT_MATTER.format(number=number, day=1 + number % 28)
        (folder / f"docs/page-{number}.md").write_text(f"{front}# Page {number}\n\n{links}\n\n{words}\n")


def measured(command: Sequence[str], folder: Path, unit: float) -> Iterator[Figure]:
    with talking_http(command, folder) as server:
        connection = HTTPConnection(*server.where, timeout=60)
        call, chance = partial(post, connection), random.Random(2)
        count = len(call("list_pages", {}))
        assert count == len(list((folder / "docs").iterdir()))
        first = spent(server.process)
        yield Figure("pages: start to the first answer, ms of CPU", first * 1000, budgets.NOTES_FIRST_ANSWER)
        yield Figure("pages: start to the first answer, cu", first / unit, budgets.NOTES_FIRST)
        call("search", {"query": "word1"})
        yield Figure("pages: start to the first search, cu", spent(server.process) / unit, budgets.NOTES_FIRST)
        for name, (tool, given, budget) in _ASKED.items():
            asked = [_fill_in(given, number % count, chance) for number in range(CALLS)]
            before = spent(server.process)
            usual = statistics.median(seconds_of(partial(post_unread, connection, tool, one)) for one in asked)
            cost = (spent(server.process) - before) / CALLS
            yield Figure(f"pages: {name}, p50 in ms", usual * 1000, budget)
            yield Figure(f"pages: {name}, ms of CPU", cost * 1000, budget)
        page = folder / "docs/page-7.md"
        costs, times = [], []
        for number in range(EDITS):
            page.write_text(f"{page.read_text()}edit{number}\n")
            before = spent(server.process)
            times.append(seconds_of(partial(_check_found, call, f"edit{number}")))
            costs.append(spent(server.process) - before)
        yield Figure("pages: search after an edit, p50 in ms", statistics.median(times) * 1000, budgets.NOTES_EDITED)
        yield Figure("pages: search after an edit, ms of CPU", statistics.median(costs) * 1000, budgets.NOTES_EDITED)
        yield Figure("pages: memory, MB", server.memory, budgets.NOTES_MEMORY)


def _fill_in(given: Mapping[str, str], number: int, chance: random.Random) -> dict[str, str]:
    words = {letter: chance.randrange(_VOCABULARY) for letter in "abcdef"}
    return {name: value.format(number=number, **words) for name, value in given.items()}


def _check_found(call: Callable[[str, Mapping[str, str]], Any], word: str) -> None:
    assert [hit["slug"] for hit in call("search", {"query": word})] == ["page-7"]
