"""Measures what a team waits for: forwarded calls, calls that change something, backup and restore."""

from __future__ import annotations

import random
import statistics
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.bench import budgets
from tests.bench.clients import call_tool, post, serving_at, talking
from tests.bench.figures import Figure, p99, seconds_of, show_figures
from tests.bench.knowledge import FILES, ingest, question, sentences_of
from tests.bench.measure import output_of
from tests.unit.knowledge.generated_tree import written_tree

CALLS = 200
TOKEN = "bench-0123456789abcdef"
_SERVE = ("mcp", "--http", "0", "--rate", "0", "--pack", "knowledge")
_VOTE = {"request_id": "bench", "chunk_id": "docs/0.md::0", "vote": 1}


def main(options: Namespace) -> int:
    return show_figures(lambda scratch: measured(options.duvet, scratch, FILES, sentences_of(options.shared / "rfc")))


def measured(duvet: str, scratch: Path, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    project, desk = scratch / "project", scratch / "desk"
    told = cycle(sentences)
    written_tree(project, files, 1, lambda made: next(told))
    (project / "duvet.config.yaml").write_text("ingest: { semantic: false }\n")
    desk.mkdir()
    ingest(duvet, project)
    knowledge = project / ".duvet/knowledge"
    with serving_at([duvet, *_SERVE], project, KM_ADMIN_TOKEN=TOKEN) as (_, where):
        connection = HTTPConnection(*where, timeout=60)

        def call(tool: str, **given: Any) -> object:
            return post(connection, tool, given, TOKEN)

        yield from _forwarded(duvet, desk, where, call, sentences)
        yield from _stored("feedback", lambda number: call("km-feedback-submit", **_VOTE))
        yield from _stored("a text", lambda number: call("km-storetext", content="A note.", title=f"Note {number}"))
        yield Figure("a backup, ms", seconds_of(lambda: call("km-backup-trigger")) * 1000, budgets.BACKED_UP)
        (archive,) = (knowledge / "backups").iterdir()
        restore = partial(output_of, [duvet, "--quiet", "restore", "--force", str(archive)], project)
        yield Figure("a restore, ms", seconds_of(restore) * 1000, budgets.RESTORED)
        share = archive.stat().st_size / (knowledge / "store.db").stat().st_size
        yield Figure("the archive, to the store", share, budgets.STORED)


def _forwarded(
    duvet: str, desk: Path, where: tuple[str, int], call: Callable[..., object], sentences: Sequence[str]
) -> Iterator[Figure]:
    made = random.Random(1)
    variables = {"KM_GATEWAY_URL": f"http://{where[0]}:{where[1]}", "KM_ADMIN_TOKEN": TOKEN}
    with talking([duvet, "mcp"], desk, **variables) as server:
        server.greet()
        server.begin()
        # The first call starts everything.
        call_tool(server, "km-search", {"query": "one that starts all of it"})
        ratios = []
        for _ in range(CALLS):
            asked = {"query": question(made, sentences)}
            here = seconds_of(partial(call, "km-search", **asked))
            ratios.append(seconds_of(partial(call_tool, server, "km-search", asked)) / here)
    yield Figure("km-search through a gateway, to the same without", statistics.median(ratios), budgets.FORWARDED)


def _stored(name: str, store: Callable[[int], object]) -> Iterator[Figure]:
    """Measure calls that are answered after their change is on the disk."""
    times = [seconds_of(partial(store, number)) * 1000 for number in range(CALLS)]
    yield Figure(f"{name} is kept, p50 in ms", statistics.median(times), budgets.KEPT)
    yield Figure(f"{name} is kept, p99 in ms", p99(times), budgets.KEPT_AT_WORST)
