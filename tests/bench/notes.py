"""Measures the cost of pages with front matter for the server: of the first answer, of later ones, and after an edit."""

import json
import random
import statistics
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.clients import post, talking_http
from tests.bench.measure import Clock, milliseconds_of
from tests.bench.table import Figure

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
_ASKED: Mapping[str, tuple[str, Mapping[str, str], tuple[int, int]]] = {
    "get_page": ("get_page", {"slug": "page-{number}"}, (1, 2)),
    "get_connections": ("get_connections", {"slug": "page-{number}"}, (5, 5)),
    "search of one word": ("search", {"query": "word{a}"}, (7, 10)),
    "search of six words": ("search", {"query": _SIX_WORDS}, (7, 10)),
    "list_pages": ("list_pages", {}, (5, 5)),
}


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    make_pages(scratch, PAGES)
    unit = Clock(options.runs, options.shared).unit()
    return measure_pages([options.duvet, "mcp", "--http", "0", "--rate", "0"], scratch, unit)


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


def measure_pages(command: Sequence[str], folder: Path, unit: float) -> Iterator[Figure]:
    with talking_http(command, folder) as client:
        ask, chance = partial(post, client.connection), random.Random(2)

        def call(tool: str, given: Mapping[str, object]) -> Any:
            return json.loads(ask(tool, given))["result"]

        def find_page(word: str) -> None:
            assert [hit["slug"] for hit in call("search", {"query": word})] == ["page-7"]

        count = len(call("list_pages", {}))
        assert count == len(list((folder / "docs").iterdir()))
        first = client.cpu
        yield Figure("pages: start to the first answer, ms of CPU", first * 1000, 1_000, 1_200)
        yield Figure("pages: start to the first answer, cu", first / unit, 10)
        call("search", {"query": "word1"})
        yield Figure("pages: start to the first search, cu", client.cpu / unit, 10)
        for name, (tool, given, (goal, gate)) in _ASKED.items():
            asked = []
            for number in range(CALLS):
                words = {letter: chance.randrange(_VOCABULARY) for letter in "abcdef"}
                asked.append({key: value.format(number=number % count, **words) for key, value in given.items()})
            before = client.cpu
            usual = statistics.median(milliseconds_of(partial(ask, tool, one)) for one in asked)
            yield Figure(f"pages: {name}, p50 in ms", usual, goal, gate)
            yield Figure(f"pages: {name}, ms of CPU", (client.cpu - before) * 1000 / CALLS, goal, gate)
        page, costs, times = folder / "docs/page-7.md", [], []
        for number in range(EDITS):
            page.write_text(f"{page.read_text()}edit{number}\n")
            before = client.cpu
            times.append(milliseconds_of(partial(find_page, f"edit{number}")))
            costs.append((client.cpu - before) * 1000)
        yield Figure("pages: search after an edit, p50 in ms", statistics.median(times), 100, 120)
        yield Figure("pages: search after an edit, ms of CPU", statistics.median(costs), 100, 120)
        yield Figure("pages: memory, MB", client.memory, 250)
