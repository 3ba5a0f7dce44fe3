"""Measures how well questions find their answers by words, by vectors, and by both."""

import ast
import json
import os
import random
import sqlite3
import sysconfig
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from duvet import MemoryTree, Options, Project
from duvet.config.service_tables import IngestRule, SearchModel
from duvet.knowledge.ingest.run import ingest_project
from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import FoundChunk, SearchRequest
from duvet.queries.embeddings import find_chunk_embedder
from duvet.store.location import IngestOptions, open_store
from duvet.words import extract_words
from tests.bench.table import Figure, align
from tests.unit.queries.search_quality import Rank, Scores, read, scores, systems

QUESTIONS = 400
_LEFT_OUT = {"test", "tests", "site-packages", "idlelib", "lib2to3", "turtledemo", "__pycache__"}
_FEWEST_WORDS = 5


def measure(options: Namespace, scratch: Path) -> Iterator[Figure]:
    folder = options.shared / "retrieval"
    lines, questions = read(folder / "corpus.jsonl"), read(folder / "queries.jsonl")
    found = {name: scores(rank, questions) for name, rank in (rank_by_fts5(lines) | systems(lines)).items()}
    sentences, paraphrases = read_paraphrases(options.shared)
    others = {f"paraphrases, {name}": scores(rank, paraphrases) for name, rank in systems(sentences).items()}
    others |= measure_docstrings([SearchModel.NONE, SearchModel.STATIC, SearchModel.TRANSFORMER])
    print(render(found | others))
    yield from make_figures(found["words"], found["both"])
    yield Figure("paraphrases, both: hit@5", others["paraphrases, both"].among_five, 0.45, is_floor=True)
    yield Figure("docstrings, transformer: hit@5", others["docstrings, transformer"].among_five, 0.58, is_floor=True)


def render(found: Mapping[str, Scores]) -> str:
    columns = ("", "hit@1", "hit@5", "recall@5", "recall@20", "MRR@10")
    return align([columns, *((name, *(f"{score:.3f}" for score in row)) for name, row in found.items())])


def make_figures(words: Scores, both: Scores) -> Iterator[Figure]:
    least = 1e-6  # Both together have to be better than words alone.
    yield Figure("words: recall@5", words.recall_5, 0.46, is_floor=True)
    yield Figure("words: MRR@10", words.reciprocal, 0.47, is_floor=True)
    yield Figure("both: recall@5", both.recall_5, max(0.50, words.recall_5 + least), is_floor=True)
    yield Figure("both: MRR@10", both.reciprocal, max(0.52, words.reciprocal + least), is_floor=True)


def rank_by_fts5(lines: Sequence[Mapping[str, str]]) -> dict[str, Rank]:
    database = sqlite3.connect(":memory:")
    for name, tokens in (("plain", "unicode61"), ("stems", "porter unicode61")):
        database.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, title, tokenize='{tokens}')")
        rows = [(line["text"], line["title"] if name == "stems" else "") for line in lines]
        database.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)

    def rank(name: str, question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in extract_words(question))
        query = f"SELECT rowid FROM {name} WHERE {name} MATCH ? ORDER BY bm25({name}, 1.0, 2.0) LIMIT 20"
        return [lines[row - 1]["id"] for (row,) in database.execute(query, [words])]

    return {"FTS5": lambda text: rank("plain", text), "FTS5, stems and titles": lambda text: rank("stems", text)}


def read_paraphrases(shared: Path) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return the requirements of RFC 9114, and questions that share no word with their answers."""
    path = "golden/h3-c6b92cb-integration/project/specs/www.rfc-editor.org/rfc/rfc9114.txt"
    config = b"'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'rfc9114.txt'\n"
    files = {".duvet/config.toml": config, "rfc9114.txt": (shared / path).read_bytes()}
    catalogue = Project(options=Options(), tree=MemoryTree(files)).catalogue
    titles = catalogue.specifications[0].titles
    lines = [
        {"id": f"{one.section}/{one.id[:12]}", "spec": "rfc9114", "section": one.section, "text": one.text}
        | {"title": titles[one.section]}
        for one in catalogue.requirements
    ]
    rows = json.loads(Path(__file__).with_name("paraphrases.json").read_text(encoding="utf-8"))
    return lines, [{"query": row["question"], "relevant": [f"{row['section']}/{row['requirement']}"]} for row in rows]


class AskedFunction(NamedTuple):
    path: str
    first: int  # The line of the function, and the lines of its docstring.
    docstring: tuple[int, int]
    last: int
    question: str


def measure_docstrings(models: Sequence[SearchModel], count: int = QUESTIONS) -> Mapping[str, Scores]:
    """Ask for functions of Python's own library, without their docstrings, by the first sentences of these."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = [path for path in sorted(library.rglob("*.py")) if not _LEFT_OUT & {*path.relative_to(library).parts}]
    functions = [one for path in paths for one in find_functions(path, path.relative_to(library).as_posix())]
    asked = random.Random(1).sample(functions, min(count, len(functions)))
    questions = [{"query": one.question, "relevant": [f"{one.path}:{one.first}"]} for one in asked]
    found: dict[str, Scores] = {}
    with TemporaryDirectory() as folder:
        for path in paths:
            name = path.relative_to(library).as_posix()
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            for first, last in (one.docstring for one in asked if one.path == name):
                lines[first - 1 : last] = [""] * (last - first + 1)
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text("\n".join(lines), encoding="utf-8")
        for model in models:
            rule, store_path = IngestRule(semantic=None, model=model), os.path.join(folder, ".duvet", "store.db")
            with closing(open_store(store_path, create=True)) as store:
                ingest_project(Project(folder), store, rule, IngestOptions())
            found[f"docstrings, {model.value}"] = scores(Ranking(store_path, folder, rule, asked), questions)
    return found


def find_functions(path: Path, name: str) -> Iterator[AskedFunction]:
    """Yield the functions of a file whose docstring has a sentence and no code before it."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            sentence, place = " ".join(text.split("\n\n")[0].split()), node.body[0]
            if len(sentence.split()) >= _FEWEST_WORDS and len(node.body) > 1:
                docstring = (place.lineno, place.end_lineno or place.lineno)
                yield AskedFunction(name, node.lineno, docstring, node.end_lineno or node.lineno, sentence)


class Ranking:
    """What a question finds: the asked functions whose lines a chunk shows, or the chunk itself."""

    def __init__(self, path: str, folder: str, rule: IngestRule, asked: Sequence[AskedFunction]) -> None:
        self._store = open_store(path)
        self._engine = SearchEngine(self._store, find_chunk_embedder(rule, self._store.chunk_total()), None, folder)
        self._asked = {one.question: one for one in reversed(asked)}

    def __call__(self, question: str) -> list[str]:
        results = self._engine.search(SearchRequest(query=question, limit=20)).results
        return [self._name(result.chunk, self._asked[question]) for result in results]

    def _name(self, chunk: FoundChunk, wanted: AskedFunction) -> str:
        if chunk.artifact_path == wanted.path:
            (number,) = self._store.chunk_numbers(chunk.artifact_path)[int(chunk.chunk_id.rpartition("::")[2]) :][:1]
            (found,) = self._store.chunks([number])
            if found.piece.line_start <= wanted.last and found.piece.line_end >= wanted.first:
                return f"{wanted.path}:{wanted.first}"
        return chunk.chunk_id
