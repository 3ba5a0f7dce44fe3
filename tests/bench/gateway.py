"""What a team waits for: calls that are forwarded, what changes something, backups and what brings them back."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from subprocess import DEVNULL, run
from typing import Any

from tests.bench.budgets import (
    BACKED_UP,
    FORWARDED,
    KEPT,
    KEPT_AT_WORST,
    RESTORED,
    STORED,
)
from tests.bench.knowledge import FILES, ingest, question, sentences_of
from tests.bench.measure import FailedError, environment
from tests.bench.notes import post
from tests.bench.server import Figure, render
from tests.bench.talking import talking
from tests.bench.talking_http import serving_at
from tests.unit.knowledge.generated import written_tree

CALLS = 200
TOKEN = "bench-0123456789abcdef"
_SERVE = ("mcp", "--http", "0", "--rate", "0", "--pack", "knowledge")
_FEEDBACK = "km-feedback-submit"
_VOTE = {"request_id": "bench", "chunk_id": "docs/0.md::0", "vote": 1}


def main(options: Namespace) -> int:
    """Measure, tell, and answer with whether every gate holds."""
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            figures = list(measured(options.duvet, Path(scratch), FILES, sentences_of(options.shared / "rfc")))
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def measured(duvet: str, scratch: Path, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    """All of it, in a project with so many files and beside it."""
    project, desk = scratch / "project", scratch / "desk"
    told = cycle(sentences)
    written_tree(project, files, 1, lambda made: next(told))
    (project / "duvet.config.yaml").write_text("ingest: { semantic: false }\n")
    desk.mkdir()
    ingest(duvet, project)
    with serving_at([duvet, *_SERVE], project, KM_ADMIN_TOKEN=TOKEN) as (_, where):
        connection = HTTPConnection(*where, timeout=60)

        def change(tool: str, number: int) -> None:
            given: dict[str, Any] = _VOTE if tool == _FEEDBACK else {"content": "A note.", "title": f"Note {number}"}
            post(connection, tool, given, TOKEN)

        yield from _forwarded(duvet, desk, where, connection, sentences)
        yield from _kept("feedback", lambda number: change(_FEEDBACK, number))
        yield from _kept("a text", lambda number: change("km-storetext", number))
        yield Figure("a backup, ms", _timed(lambda: post(connection, "km-backup-trigger", {}, TOKEN)), BACKED_UP)
        (archive,) = (project / ".duvet/knowledge/backups").iterdir()
        yield Figure("a restore, ms", _timed(lambda: _restore(duvet, project, archive)), RESTORED)
        yield Figure("the archive, to the store", archive.stat().st_size / _store(project), STORED)


def _forwarded(
    duvet: str, desk: Path, where: tuple[str, int], connection: HTTPConnection, sentences: Sequence[str]
) -> Iterator[Figure]:
    """A search that is asked there, beside the same one that is asked of a server which forwards it."""
    made = random.Random(1)
    variables = {"KM_GATEWAY_URL": f"http://{where[0]}:{where[1]}", "KM_ADMIN_TOKEN": TOKEN}
    with talking([duvet, "mcp"], desk, **variables) as server:
        server.greet()
        server.begin()

        def forward(words: str) -> None:
            server.ask("tools/call", {"name": "km-search", "arguments": {"query": words}})

        forward("one that starts all of it")
        ratios = []
        for _ in range(CALLS):
            words = question(made, sentences)
            here = _timed(lambda: post(connection, "km-search", {"query": words}, TOKEN))  # noqa: B023 - it is asked now
            ratios.append(_timed(lambda: forward(words)) / here)  # noqa: B023
    yield Figure("km-search through a gateway, to the same without", statistics.median(ratios), FORWARDED)


def _kept(name: str, keep: Callable[[int], None]) -> Iterator[Figure]:
    """What is on the disk before it is answered."""
    times = sorted(_timed(lambda: keep(number)) for number in range(CALLS))  # noqa: B023
    yield Figure(f"{name} is kept, p50 in ms", statistics.median(times), KEPT)
    yield Figure(f"{name} is kept, p99 in ms", times[-1 - CALLS // 100], KEPT_AT_WORST)


def _timed(work: Callable[[], object]) -> float:
    """Milliseconds on the clock."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _restore(duvet: str, project: Path, archive: Path) -> None:
    command = [duvet, "--quiet", "restore", "--force", str(archive)]
    done = run(command, cwd=project, env=environment(), stdin=DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(done.stderr)


def _store(project: Path) -> int:
    return (project / ".duvet/knowledge/store.db").stat().st_size
