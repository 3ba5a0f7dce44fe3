"""What pages cost the server: ten thousand of them, and what comes after the first answer."""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench.budgets import NOTES_FIRST, NOTES_LATER, NOTES_MEMORY
from tests.bench.calibration import Clock
from tests.bench.measure import FailedError
from tests.bench.server import Figure, render
from tests.bench.talking import spent
from tests.bench.talking_http import Http, talking_http

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
    """Measure, tell, and answer with whether every gate holds."""
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            folder = Path(scratch)
            make_pages(folder, PAGES)
            unit = Clock(options.runs, options.shared).unit()
            figures = list(measured([options.duvet, "mcp", "--http", "0", "--rate", "0"], folder, unit))
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def make_pages(folder: Path, count: int) -> None:
    """A project with so many pages, each with a few links to others."""
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
    """The first answer, later ones, one after an edit, and the memory in the end."""
    with talking_http(command, folder) as server:
        connection = HTTPConnection(*server.where, timeout=60)
        count = len(post(connection, "list_pages", {}))
        assert count == len(list((folder / "docs").iterdir()))
        yield Figure("pages: start to the first answer, cu", spent(server.process) / unit, NOTES_FIRST)
        post(connection, "search", {"query": "word1"})
        yield Figure("pages: start to the first search, cu", spent(server.process) / unit, NOTES_FIRST)
        for tool, given in _ASKED.items():
            yield Figure(f"pages: {tool}, p50 in ms", _middle(connection, tool, given, count) * 1000, NOTES_LATER)
        yield from _edited(connection, server, folder, unit)
        yield Figure("pages: memory, MB", server.memory, NOTES_MEMORY)


def _edited(connection: HTTPConnection, server: Http, folder: Path, unit: float) -> Iterator[Figure]:
    before = spent(server.process)
    (folder / "docs/page-7.md").write_text("# Edited\n")
    found = post(connection, "get_page", {"slug": "page-7"})
    assert found["title"] == "Edited"
    yield Figure("pages: an answer after an edit, cu", (spent(server.process) - before) / unit, NOTES_FIRST)


def _middle(connection: HTTPConnection, tool: str, given: Mapping[str, str], count: int) -> float:
    times = []
    for number in range(CALLS):
        asked = {name: value.format(number=number % count) for name, value in given.items()}
        began = time.perf_counter()
        _answer(connection, tool, asked)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def post(connection: HTTPConnection, tool: str, given: Mapping[str, object], token: str = "") -> Any:
    """What a tool answers by plain HTTP to who shows this token."""
    return json.loads(_answer(connection, tool, given, token))["result"]


def _answer(connection: HTTPConnection, tool: str, given: Mapping[str, object], token: str = "") -> bytes:
    shown = {"authorization": f"Bearer {token}"} if token else {}
    connection.request("POST", "/api/mcp", json.dumps({"tool": tool, "input": given}), shown)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise FailedError(f"{answer.status} {body!r}")
    return body
