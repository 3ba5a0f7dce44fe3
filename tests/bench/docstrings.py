"""How well the first sentences of docstrings find their functions, whose docstrings are left out of the index."""

from __future__ import annotations

import ast
import os
import random
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from duvet import Project
from duvet.config.settings import IngestRule, SearchModel
from duvet.knowledge.ingest.run import ingest_project
from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import FoundChunk, SearchRequest
from duvet.queries.embeddings import find_chunk_embedder
from duvet.store.location import IngestOptions, open_store
from tests.unit.queries.search_quality import Scores, scores

QUESTIONS = 400
_LEFT_OUT = ("test", "tests", "site-packages", "idlelib", "lib2to3", "turtledemo", "__pycache__")
_FEWEST_WORDS = 5


class AskedFunction(NamedTuple):
    path: str
    first: int
    """The line of the function, and the lines of its docstring."""
    docstring: tuple[int, int]
    last: int
    question: str


def find_functions(folder: Path) -> Iterator[AskedFunction]:
    """Yield the functions whose docstring has a sentence and no code before it."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not set(name.split("/")).isdisjoint(_LEFT_OUT):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                sentence = " ".join(text.split("\n\n")[0].split())
                place, end = node.body[0], node.end_lineno or node.lineno
                if len(sentence.split()) >= _FEWEST_WORDS and len(node.body) > 1:
                    docstring = (place.lineno, place.end_lineno or place.lineno)
                    yield AskedFunction(name, node.lineno, docstring, end, sentence)


def copy_without_docstrings(folder: Path, target: Path, asked: Sequence[AskedFunction]) -> None:
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if set(name.split("/")).isdisjoint(_LEFT_OUT):
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            for one in asked:
                if one.path == name:
                    first, last = one.docstring
                    lines[first - 1 : last] = [""] * (last - first + 1)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text("\n".join(lines), encoding="utf-8")


def measure(models: Sequence[SearchModel], count: int = QUESTIONS) -> Mapping[str, Scores]:
    """Ask about functions of Python's own library, by words alone and with each model."""
    library = Path(sysconfig.get_path("stdlib"))
    functions = list(find_functions(library))
    asked = random.Random(1).sample(functions, min(count, len(functions)))
    questions = [{"query": one.question, "relevant": [f"{one.path}:{one.first}"]} for one in asked]
    found: dict[str, Scores] = {}
    with TemporaryDirectory() as folder:
        copy_without_docstrings(library, Path(folder), asked)
        for model in models:
            found[f"docstrings, {model.value}"] = scores(_make_rank(folder, model, asked), questions)
    return found


def _make_rank(folder: str, model: SearchModel, asked: Sequence[AskedFunction]) -> Ranking:
    rule = IngestRule(semantic=None, model=model)
    path = os.path.join(folder, ".duvet", "store.db")
    with closing(open_store(path, create=True)) as store:
        ingest_project(Project(folder), store, rule, IngestOptions())
    return Ranking(path, folder, rule, asked)


class Ranking:
    """What a question finds: the asked functions whose lines a chunk shows, or the chunk itself."""

    def __init__(self, path: str, folder: str, rule: IngestRule, asked: Sequence[AskedFunction]) -> None:
        self._store = open_store(path)
        self._engine = SearchEngine(self._store, find_chunk_embedder(rule, self._store.chunk_total()), None, folder)
        self._asked = asked

    def __call__(self, question: str) -> list[str]:
        (wanted,) = [one for one in self._asked if one.question == question][:1]
        results = self._engine.search(SearchRequest(query=question, limit=20)).results
        return [self._name(result.chunk, wanted) for result in results]

    def _name(self, chunk: FoundChunk, wanted: AskedFunction) -> str:
        if chunk.artifact_path == wanted.path:
            (number,) = self._store.chunk_numbers(chunk.artifact_path)[int(chunk.chunk_id.rpartition("::")[2]) :][:1]
            (found,) = self._store.chunks([number])
            if found.piece.line_start <= wanted.last and found.piece.line_end >= wanted.first:
                return f"{wanted.path}:{wanted.first}"
        return chunk.chunk_id
