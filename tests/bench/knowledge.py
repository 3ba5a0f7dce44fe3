"""Measures indexing and searching 20,000 and 200,000 chunks, and what a team waits for: a gateway, writes, backups."""

import json
import random
import re
import statistics
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.clients import post, serving_at, talking, talking_http
from tests.bench.measure import Clock, FailedError, least, milliseconds_of, output_of, p99, settle
from tests.bench.rows import ASKED, make_tree
from tests.bench.table import Figure
from tests.unit.knowledge.generated_tree import written_tree

FILES = 20_000
CALLS = 200
CLIENTS = 8
TOKEN = "bench-0123456789abcdef"
_SERVE = ("mcp", "--http", "0", "--rate", "0", "--pack", "knowledge")
_VOTE = {"request_id": "bench", "chunk_id": "docs/0.md::0", "vote": 1}
_OVERLAP = 140  # Characters that a chunk of these files shares with the previous one.
_SENTENCE = re.compile(r"[A-Z][a-z]+ [^.;:|+]{40,200}\.(?=\s)")
_WORD = re.compile(r"[a-z]{5,}")


class Size(NamedTuple):
    name: str
    chunks: int  # in each file
    usual: float  # Milliseconds of a search, at the median and at the 99th percentile.
    worst: float


FEW, MANY = Size("20,000 chunks", 1, 15, 60), Size("200,000 chunks", 10, 60, 250)


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    sentences = sentences_of(options.shared / "rfc")
    make_tree(ASKED, options.shared, scratch / "requirements")
    command = [options.duvet, "search", "--semantic", "resume a session with a ticket"]
    settle(command, scratch / "requirements")
    unit = Clock(options.runs, options.shared).unit()
    yield Figure("search --semantic, cu", least(command, scratch / "requirements", options.runs).cpu / unit, 0.7)
    yield from measure_index(options.duvet, scratch / "few", FEW, FILES, sentences)
    yield from measure_index(options.duvet, scratch / "many", MANY, FILES, sentences)


def sentences_of(folder: Path) -> Sequence[str]:
    """Return sentences of RFCs, for realistic word frequencies."""
    texts = (path.read_text(encoding="latin-1") for path in sorted(folder.glob("*.txt")))
    found = dict.fromkeys(" ".join(one.split()) for text in texts for one in _SENTENCE.findall(text))
    return [*found]


def measure_index(duvet: str, folder: Path, size: Size, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    counts, left = list[int](), cycle(sentences)
    written_tree(folder, files, size.chunks, lambda _: next(left))

    def ingest(*options: str) -> None:
        done = output_of([duvet, "--quiet", "ingest", "--format", "json", *options], folder)
        counts.append(int(json.loads(done)["chunk_count"]))

    # The time for symbols depends on the length of functions.
    settings = {f"symbols: {str(size is FEW).lower()}": ("with vectors", 667)}
    if size is FEW:
        settings = {"semantic: false": ("by words", 500), **settings}
    for setting, (name, goal) in settings.items():
        (folder / "duvet.config.yaml").write_text(f"ingest: {{ {setting} }}\n")
        spent = milliseconds_of(partial(ingest, "--full")) * 1000 / counts[-1]
        yield Figure(f"{size.name}: indexed {name}, ms for each thousand", spent, goal)
    yield Figure(f"{size.name}: indexed again, ms", milliseconds_of(ingest), 5_000)
    if size is MANY:
        # 300 bytes for each chunk, and half the text.
        text = _bytes_in(folder, "src", "tests", "docs") + _OVERLAP * (counts[-1] - files)
        room = _bytes_in(folder, ".duvet/knowledge") / (300 * counts[-1] + text / 2)
        yield Figure(f"{size.name}: room on disk, to what it may be", room, 1.0)
    made = random.Random(1)
    with talking_http([duvet, *_SERVE], folder) as client:

        def search(asked: str) -> None:
            found = json.loads(post(client.connection, "km-search", {"query": asked}))["result"]
            if not found["results"] or found["metadata"]["scoring_mode"] != "hybrid":
                raise FailedError(f"{asked} finds {found}")

        times = [milliseconds_of(partial(search, question(made, sentences))) for _ in range(CALLS)]
        yield Figure(f"{size.name}: km-search, p50 in ms", statistics.median(times), size.usual)
        yield Figure(f"{size.name}: km-search, p99 in ms", p99(times), size.worst)
        if size is MANY:
            questions = [question(made, sentences) for _ in range(2 * CALLS)]

            def ask(first: int) -> None:
                connection = HTTPConnection(*client.where, timeout=60)
                for asked in questions[first::CLIENTS]:
                    post(connection, "km-search", {"query": asked})

            with ThreadPoolExecutor(CLIENTS) as clients:
                spent = milliseconds_of(lambda: list(clients.map(ask, range(CLIENTS)))) / len(questions)
            yield Figure(f"{size.name}: {CLIENTS} clients, ms for each answer", spent, 1000 / 60)
        yield Figure(f"{size.name}: memory of the server, MB", client.memory, 350)


def _bytes_in(folder: Path, *names: str) -> int:
    return sum(path.stat().st_size for name in names for path in (folder / name).rglob("*") if path.is_file())


def question(made: random.Random, sentences: Sequence[str]) -> str:
    while True:
        words = _WORD.findall(made.choice(sentences))
        if len(words) > 5:
            return " ".join(made.sample(words, made.randint(3, 6)))


def measure_team(options: Namespace, scratch: Path) -> Iterator[Figure]:
    return measure_gateway(options.duvet, scratch, FILES, sentences_of(options.shared / "rfc"))


def measure_gateway(duvet: str, scratch: Path, files: int, sentences: Sequence[str]) -> Iterator[Figure]:
    project, desk, made, left = scratch / "project", scratch / "desk", random.Random(1), cycle(sentences)
    written_tree(project, files, 1, lambda _: next(left))
    (project / "duvet.config.yaml").write_text("ingest: { semantic: false }\n")
    desk.mkdir()
    output_of([duvet, "--quiet", "ingest"], project)
    with serving_at([duvet, *_SERVE], project, KM_ADMIN_TOKEN=TOKEN) as (_, where):
        connection = HTTPConnection(*where, timeout=60)

        def call(tool: str, **given: Any) -> object:
            return json.loads(post(connection, tool, given, TOKEN))["result"]

        variables = {"KM_GATEWAY_URL": f"http://{where[0]}:{where[1]}", "KM_ADMIN_TOKEN": TOKEN}
        with talking([duvet, "mcp"], desk, **variables) as client:
            client.greet()
            client.begin()
            # The first call starts everything.
            client.call("km-search", {"query": "one that starts all of it"})
            ratios = []
            for _ in range(CALLS):
                asked = {"query": question(made, sentences)}
                here = milliseconds_of(partial(call, "km-search", **asked))
                ratios.append(milliseconds_of(partial(client.call, "km-search", asked)) / here)
        yield Figure("km-search through a gateway, to the same without", statistics.median(ratios), 1.3, 2.0)
        # Both are answered after their change is on the disk.
        writes: dict[str, Callable[[int], object]] = {
            "feedback": lambda _: call("km-feedback-submit", **_VOTE),
            "a text": lambda number: call("km-storetext", content="A note.", title=f"Note {number}"),
        }
        for name, write in writes.items():
            times = [milliseconds_of(partial(write, number)) for number in range(CALLS)]
            yield Figure(f"{name} is kept, p50 in ms", statistics.median(times), 10, 30)
            yield Figure(f"{name} is kept, p99 in ms", p99(times), 50, 150)
        yield Figure("a backup, ms", milliseconds_of(lambda: call("km-backup-trigger")), 1_500, 3_000)
        knowledge = project / ".duvet/knowledge"
        (archive,) = (knowledge / "backups").iterdir()
        restore = partial(output_of, [duvet, "--quiet", "restore", "--force", str(archive)], project)
        yield Figure("a restore, ms", milliseconds_of(restore), 1_000, 2_000)
        share = archive.stat().st_size / (knowledge / "store.db").stat().st_size
        yield Figure("the archive, to the store", share, 0.7, 0.8)
