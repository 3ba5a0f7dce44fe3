"""What it costs to take a project in, and to search in it: twenty thousand pieces, and two hundred thousand."""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from subprocess import DEVNULL, run

from tests.bench.budgets import (
    ASKED,
    FOUND,
    FOUND_AMONG_MANY,
    FOUND_AMONG_MANY_AT_WORST,
    FOUND_AT_WORST,
    KNOWING,
    MEANT,
    ROOM,
    TAKEN_IN,
    TAKEN_IN_AGAIN,
    TAKEN_IN_MEANT,
    Budget,
)
from tests.bench.calibration import Clock
from tests.bench.measure import FailedError, environment, least, settle
from tests.bench.notes import post
from tests.bench.server import Figure, render
from tests.bench.talking_http import talking_http
from tests.bench.workloads import make_tree
from tests.unit.knowledge.generated import written_tree

FILES = 20_000
CALLS = 200
_OVERLAP = 140
"""Characters of a piece that stand in the one before, too, as these files are cut."""
_SENTENCE = re.compile(r"[A-Z][a-z]+ [^.;:|+]{40,200}\.(?=\s)")
_WORD = re.compile(r"[a-z]{5,}")


class Size:
    """How much is taken in, and what searching in it may cost."""

    def __init__(self, name: str, pieces: int, usual: Budget, worst: Budget) -> None:
        self.name, self.pieces, self.usual, self.worst = name, pieces, usual, worst


FEW = Size("20,000 pieces", 1, FOUND, FOUND_AT_WORST)
MANY = Size("200,000 pieces", 10, FOUND_AMONG_MANY, FOUND_AMONG_MANY_AT_WORST)


def main(options: Namespace) -> int:
    """Measure, tell, and answer with whether every gate holds."""
    try:
        with tempfile.TemporaryDirectory(prefix="duvet-bench-") as scratch:
            sentences = sentences_of(options.shared / "rfc")
            figures = [
                *meant(options, Path(scratch) / "requirements"),
                *measured(options.duvet, Path(scratch) / "few", FEW, FILES, sentences),
                *measured(options.duvet, Path(scratch) / "many", MANY, FILES, sentences),
            ]
    except FailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(render(figures))
    return 0 if all(figure.passes for figure in figures) else 1


def sentences_of(folder: Path) -> Sequence[str]:
    """Sentences of RFCs, each on a line: their words are as common as words are."""
    texts = (path.read_text(encoding="latin-1") for path in sorted(folder.glob("*.txt")))
    found = dict.fromkeys(" ".join(one.split()) for text in texts for one in _SENTENCE.findall(text))
    return [*found]


def meant(options: Namespace, folder: Path) -> Iterator[Figure]:
    """A search by meaning for requirements, once they are known."""
    make_tree(ASKED, options.shared, folder)
    command = [options.duvet, "search", "--semantic", "resume a session with a ticket"]
    settle(command, folder)
    unit = Clock(options.runs, options.shared).unit()
    yield Figure("search --semantic, cu", least(command, folder, options.runs).cpu / unit, MEANT)


def measured(duvet: str, folder: Path, size: Size, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    """Taking in, once more, the room on disk, searches, and the memory in the end."""
    told = cycle(sentences)
    written_tree(folder, files, size.pieces, lambda made: next(told))
    config = folder / "duvet.config.yaml"
    if size is FEW:
        config.write_text("ingest: { semantic: false }\n")
        yield from _taken_in(duvet, folder, size, TAKEN_IN, "taken in by words")
    # What symbols take depends on how long functions are.
    config.write_text(f"ingest: {{ symbols: {str(size is FEW).lower()} }}\n")
    yield from _taken_in(duvet, folder, size, TAKEN_IN_MEANT, "taken in with vectors")
    began = time.perf_counter()
    pieces = ingest(duvet, folder)
    yield Figure(f"{size.name}: taken in again, ms", (time.perf_counter() - began) * 1000, TAKEN_IN_AGAIN)
    if size is MANY:
        text = _bytes_in(folder, "src", "tests", "docs") + _OVERLAP * (pieces - files)
        meant = 300 * pieces + text / 2
        yield Figure(
            f"{size.name}: room on disk, to what it may be", _bytes_in(folder, ".duvet/knowledge") / meant, ROOM
        )
    yield from _searched(duvet, folder, size, sentences)


def _taken_in(duvet: str, folder: Path, size: Size, budget: Budget, name: str) -> Iterator[Figure]:
    began = time.perf_counter()
    pieces = ingest(duvet, folder, "--full")
    seconds = time.perf_counter() - began
    yield Figure(f"{size.name}: {name}, ms for each thousand", seconds * 1_000_000 / pieces, budget)


def ingest(duvet: str, folder: Path, *options: str) -> int:
    """Take the project in; how many pieces there are."""
    command = [duvet, "--quiet", "ingest", "--format", "json", *options]
    done = run(command, cwd=folder, env=environment(), stdin=DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(done.stderr)
    return int(json.loads(done.stdout)["chunk_count"])


def _bytes_in(folder: Path, *names: str) -> int:
    return sum(path.stat().st_size for name in names for path in (folder / name).rglob("*") if path.is_file())


def _searched(duvet: str, folder: Path, size: Size, sentences: Sequence[str]) -> Iterator[Figure]:
    made = random.Random(1)
    with talking_http([duvet, "mcp", "--http", "0", "--rate", "0", "--pack", "knowledge"], folder) as server:
        connection = HTTPConnection(*server.where, timeout=60)
        seconds = []
        for _ in range(CALLS):
            asked = question(made, sentences)
            began = time.perf_counter()
            found = post(connection, "km-search", {"query": asked})
            seconds.append(time.perf_counter() - began)
            if not found["results"] or found["metadata"]["scoring_mode"] != "hybrid":
                raise FailedError(f"{asked} finds {found}")
        seconds.sort()
        yield Figure(f"{size.name}: km-search, p50 in ms", statistics.median(seconds) * 1000, size.usual)
        yield Figure(f"{size.name}: km-search, p99 in ms", seconds[-1 - CALLS // 100] * 1000, size.worst)
        yield Figure(f"{size.name}: memory of the server, MB", server.memory, KNOWING)


def question(made: random.Random, sentences: Sequence[str]) -> str:
    """A few words that stand together somewhere."""
    while True:
        words = _WORD.findall(made.choice(sentences))
        if len(words) > 5:
            return " ".join(made.sample(words, made.randint(3, 6)))
