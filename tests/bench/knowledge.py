"""Measures indexing a project and searching it, with 20,000 and with 200,000 chunks."""

from __future__ import annotations

import json
import random
import re
import statistics
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from tests.bench import budgets
from tests.bench.budgets import Budget
from tests.bench.calibration import Clock
from tests.bench.clients import post, post_unread, talking_http
from tests.bench.figures import Figure, p99, seconds_of, show_figures
from tests.bench.measure import FailedError, least, output_of, settle
from tests.bench.workloads import make_tree
from tests.unit.knowledge.generated_tree import written_tree

FILES = 20_000
CALLS = 200
CLIENTS = 8
_OVERLAP = 140  # Characters that a chunk of these files shares with the previous one.
_SENTENCE = re.compile(r"[A-Z][a-z]+ [^.;:|+]{40,200}\.(?=\s)")
_WORD = re.compile(r"[a-z]{5,}")


class Size(NamedTuple):
    name: str
    pieces: int
    usual: Budget
    worst: Budget


FEW = Size("20,000 pieces", 1, budgets.FOUND, budgets.FOUND_AT_WORST)
MANY = Size("200,000 pieces", 10, budgets.FOUND_AMONG_MANY, budgets.FOUND_AMONG_MANY_AT_WORST)


def main(options: Namespace) -> int:

    def measure(scratch: Path) -> Iterator[Figure]:
        sentences = sentences_of(options.shared / "rfc")
        yield from measure_semantic_search(options, scratch / "requirements")
        yield from measured(options.duvet, scratch / "few", FEW, FILES, sentences)
        yield from measured(options.duvet, scratch / "many", MANY, FILES, sentences)

    return show_figures(measure)


def sentences_of(folder: Path) -> Sequence[str]:
    """Return sentences of RFCs, for realistic word frequencies."""
    texts = (path.read_text(encoding="latin-1") for path in sorted(folder.glob("*.txt")))
    found = dict.fromkeys(" ".join(one.split()) for text in texts for one in _SENTENCE.findall(text))
    return [*found]


def measure_semantic_search(options: Namespace, folder: Path) -> Iterator[Figure]:
    make_tree(budgets.ASKED, options.shared, folder)
    command = [options.duvet, "search", "--semantic", "resume a session with a ticket"]
    settle(command, folder)
    unit = Clock(options.runs, options.shared).unit()
    yield Figure("search --semantic, cu", least(command, folder, options.runs).cpu / unit, budgets.MEANT)


def measured(duvet: str, folder: Path, size: Size, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    told = cycle(sentences)
    written_tree(folder, files, size.pieces, lambda made: next(told))
    config = folder / "duvet.config.yaml"
    if size is FEW:
        config.write_text("ingest: { semantic: false }\n")
        yield _indexed(duvet, folder, size, budgets.TAKEN_IN, "taken in by words")
    # The time for symbols depends on the length of functions.
    config.write_text(f"ingest: {{ symbols: {str(size is FEW).lower()} }}\n")
    yield _indexed(duvet, folder, size, budgets.TAKEN_IN_MEANT, "taken in with vectors")
    began = time.perf_counter()
    pieces = ingest(duvet, folder)
    seconds = time.perf_counter() - began
    yield Figure(f"{size.name}: taken in again, ms", seconds * 1000, budgets.TAKEN_IN_AGAIN)
    if size is MANY:
        text = _bytes_in(folder, "src", "tests", "docs") + _OVERLAP * (pieces - files)
        room = _bytes_in(folder, ".duvet/knowledge") / (300 * pieces + text / 2)
        yield Figure(f"{size.name}: room on disk, to what it may be", room, budgets.ROOM)
    yield from _searched(duvet, folder, size, sentences)


def _indexed(duvet: str, folder: Path, size: Size, budget: Budget, name: str) -> Figure:
    began = time.perf_counter()
    pieces = ingest(duvet, folder, "--full")
    seconds = time.perf_counter() - began
    return Figure(f"{size.name}: {name}, ms for each thousand", seconds * 1_000_000 / pieces, budget)


def ingest(duvet: str, folder: Path, *options: str) -> int:
    done = output_of([duvet, "--quiet", "ingest", "--format", "json", *options], folder)
    return int(json.loads(done)["chunk_count"])


def _bytes_in(folder: Path, *names: str) -> int:
    return sum(path.stat().st_size for name in names for path in (folder / name).rglob("*") if path.is_file())


def _searched(duvet: str, folder: Path, size: Size, sentences: Sequence[str]) -> Iterator[Figure]:
    made = random.Random(1)
    with talking_http([duvet, "mcp", "--http", "0", "--rate", "0", "--pack", "knowledge"], folder) as server:
        connection = HTTPConnection(*server.where, timeout=60)

        def search(asked: str) -> None:
            found = post(connection, "km-search", {"query": asked})
            if not found["results"] or found["metadata"]["scoring_mode"] != "hybrid":
                raise FailedError(f"{asked} finds {found}")

        times = [seconds_of(partial(search, question(made, sentences))) * 1000 for _ in range(CALLS)]
        yield Figure(f"{size.name}: km-search, p50 in ms", statistics.median(times), size.usual)
        yield Figure(f"{size.name}: km-search, p99 in ms", p99(times), size.worst)
        if size is MANY:
            questions = [question(made, sentences) for _ in range(2 * CALLS)]
            seconds = seconds_of(partial(_ask_at_once, server.where, questions)) / len(questions)
            yield Figure(f"{size.name}: {CLIENTS} clients, ms for each answer", seconds * 1000, budgets.FOUND_AT_ONCE)
        yield Figure(f"{size.name}: memory of the server, MB", server.memory, budgets.KNOWING)


def _ask_at_once(where: tuple[str, int], questions: Sequence[str]) -> None:
    def ask(first: int) -> None:
        connection = HTTPConnection(*where, timeout=60)
        for asked in questions[first::CLIENTS]:
            post_unread(connection, "km-search", {"query": asked})

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(ask, range(CLIENTS)))


def question(made: random.Random, sentences: Sequence[str]) -> str:
    while True:
        words = _WORD.findall(made.choice(sentences))
        if len(words) > 5:
            return " ".join(made.sample(words, made.randint(3, 6)))
