"""What a large store costs: `python -m tests.unit.store.figures 20000 200000`.

Its files are parts of Python's own sources and help, so that words are as frequent as they are elsewhere.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from duvet.store.location import open_store
from duvet.store.records import (
    Artifact,
    ChunkFilters,
    FileKind,
    GraphEdge,
    GraphNode,
    IngestedFile,
    NodeLabel,
    Relation,
    Store,
    Symbol,
    TextPiece,
)
from duvet.words import STOP_WORDS, extract_words
from tests.unit.store.engines import store_path

SIZE, STEP = 1000, 800
"""Characters of a piece, and from one to the next."""
ROW = 260
FILE = 6400
ASKED = 400
SUBSYSTEMS = 40
_NAME = re.compile(r"^ *(?:def|class) (\w+)", re.MULTILINE)


def sources() -> tuple[str, str]:
    """Prose and code, much of each."""
    from pydoc_data.topics import topics

    library = Path(sysconfig.get_path("stdlib"))
    code = [path.read_text(errors="replace") for path in sorted(library.glob("*.py"))]
    return "\n\n".join(topics.values()), "\n\n".join(code)


def files(count: int) -> Iterator[IngestedFile]:
    """Files that have so many pieces together, half of them code."""
    made = random.Random(1)
    kinds = sources()
    left, number = count, 0
    while left > 0:
        source = kinds[number % 2]
        start = source.index("\n\n", made.randrange(len(source) - 3 * FILE)) + 2
        one = _taken(number, source[start : source.index("\n", start + FILE)], left)
        left -= len(one.pieces)
        number += 1
        yield one


def _taken(number: int, text: str, most: int) -> IngestedFile:
    pieces = []
    for start in range(0, len(text) - SIZE + STEP, STEP):
        end, line = min(start + SIZE, len(text)), text.count("\n", 0, start) + 1
        title = f"Part {number % 50} of everything" if number % 2 == 0 else ""
        last = line + text.count("\n", start, end)
        pieces.append(TextPiece(start=start, end=end, line_start=line, line_end=last, title=title))
    symbols = [
        Symbol(
            name=found[1],
            qualified_name=found[1],
            kind="function",
            language="python",
            line_start=(line := text.count("\n", 0, found.start()) + 1),
            line_end=line + 10,
        )
        for found in _NAME.finditer(text)
    ]
    is_code = number % 2 == 1
    artifact = Artifact(
        path=f"{'src' if is_code else 'docs'}/part{number % SUBSYSTEMS}/file{number}.{'py' if is_code else 'md'}",
        kind=FileKind.CODE if is_code else FileKind.DOC,
        subsystem=f"Part{number % SUBSYSTEMS}",
        namespace=f"part{number % SUBSYSTEMS}",
        digest=f"{number:064x}",
        git_commit=f"{number:040x}",
        git_timestamp=1.7e9 + number,
    )
    return IngestedFile(artifact=artifact, text=text, pieces=tuple(pieces[:most]), symbols=tuple(symbols))


def fill(store: Store, count: int) -> tuple[int, int, float]:
    """Pieces, characters of all of them, and seconds that the store has taken."""
    spent, length = 0.0, 0
    paths = []
    with store.writing() as writing:
        for one in files(count):
            began = time.perf_counter()
            writing.put(one)
            spent += time.perf_counter() - began
            length += sum(piece.end - piece.start for piece in one.pieces)
            paths.append((one.artifact, len(one.pieces)))
        began = time.perf_counter()
        subsystems = [GraphNode(label=NodeLabel.SUBSYSTEM, key=f"Part{n}") for n in range(SUBSYSTEMS)]
        nodes = [GraphNode(label=artifact.label, key=artifact.path) for artifact, _ in paths]
        belong = [
            GraphEdge(source=node.id, relation=Relation.BELONGS_TO, target=f"Subsystem:{artifact.subsystem}")
            for node, (artifact, _) in zip(nodes, paths, strict=True)
        ]
        writing.replace_graph([*subsystems, *nodes], belong)
    spent += time.perf_counter() - began
    made = random.Random(2)
    with store.writing() as writing:
        for artifact, pieces in paths:
            writing.replace_vectors(artifact.path, made.randbytes(ROW * pieces))
    return store.chunk_total(), length, spent


def queries(store: Store, total: int) -> Iterator[list[str]]:
    """Three to six words that stand in one piece, and tell something."""
    made = random.Random(3)
    while True:
        (chunk,) = store.chunks([made.randint(1, total)])
        words = sorted(set(extract_words(chunk.text)) - STOP_WORDS)
        if len(words) > 6:
            yield made.sample(words, made.randint(3, 6))


def ask(path: str) -> None:
    """Times of searches in a process of its own, and what it needs of memory beside a matrix."""
    store = open_store(path)
    matrix = b"".join(segment.rows for segment in store.segments())
    asked = list(islice(queries(store, store.chunk_total()), ASKED))
    some = ChunkFilters(kinds=("code",)), ChunkFilters(subsystems=("part7",)), ChunkFilters(symbol_kinds=("function",))
    for name, filters, every in (
        ("all words", ChunkFilters(), True),
        ("any word", ChunkFilters(), False),
        *((str(one), one, False) for one in some),
    ):
        spent = []
        for words in asked:
            began = time.perf_counter()
            store.lexical(words, filters, 50, every=every)
            spent.append(time.perf_counter() - began)
        cuts = quantiles(spent, n=100)
        print(f"  {name[:60]}: p50 {cuts[49] * 1000:.1f} ms, p99 {cuts[98] * 1000:.1f} ms, first {spent[0] * 1000:.1f}")
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    print(f"  memory: {int(peak[1]) // 1024 if peak else 0} MB at most, {len(matrix) >> 20} MB of it the matrix")


def main(counts: Sequence[int]) -> None:
    for count in counts:
        with TemporaryDirectory() as folder:
            path = store_path(folder)
            store = open_store(path, create=True)
            total, length, spent = fill(store, count)
            store.close()
            size = Path(path).stat().st_size
            half = 300 * total + length / 2
            print(f"{total:,} pieces of {length // total} characters: {total / spent:,.0f} pieces/s")
            print(f"  {size / total:.0f} bytes a piece; 300 and half of its text are {half / total:.0f}")
            subprocess.run([sys.executable, "-m", "tests.unit.store.figures", path], check=True)


if __name__ == "__main__":
    if sys.argv[1:] and not sys.argv[1].isdigit():
        ask(sys.argv[1])
    else:
        main([int(one) for one in sys.argv[1:]] or [20_000])
