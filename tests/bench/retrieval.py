"""Measures how well questions find their answers by words, by vectors, and by both."""

from __future__ import annotations

import json
import sqlite3
from argparse import Namespace
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from duvet import MemoryTree, Options, Project
from duvet.config.settings import SearchModel
from duvet.words import extract_words
from tests.bench import budgets, docstrings
from tests.bench.table import align
from tests.unit.queries.search_quality import Rank, Scores, read, scores, systems

_COLUMNS = ("", "hit@1", "hit@5", "recall@5", "recall@20", "MRR@10")


def main(options: Namespace) -> int:
    if options.shared is None or not fnmatch("retrieval", options.only):
        return 0
    folder = options.shared / "retrieval"
    lines, questions = read(folder / "corpus.jsonl"), read(folder / "queries.jsonl")
    found = {name: scores(rank, questions) for name, rank in (baselines(lines) | systems(lines)).items()}
    print(render(found))
    sentences, paraphrases = read_paraphrases(options.shared)
    others = {f"paraphrases, {name}": scores(rank, paraphrases) for name, rank in systems(sentences).items()}
    others |= docstrings.measure([SearchModel.NONE, SearchModel.STATIC, SearchModel.TRANSFORMER])
    print(render(others))
    finds = others["paraphrases, both"].among_five >= budgets.FOUND_PARAPHRASES
    finds &= others["docstrings, transformer"].among_five >= budgets.FOUND_DOCSTRINGS
    return 0 if passes(found) and finds else 1


def baselines(lines: Sequence[Mapping[str, str]]) -> dict[str, Rank]:
    database = sqlite3.connect(":memory:")
    for name, tokens in (("plain", "unicode61"), ("stems", "porter unicode61")):
        database.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, title, tokenize='{tokens}')")
        database.executemany(
            f"INSERT INTO {name} VALUES (?, ?)",
            [(line["text"], line["title"] if name == "stems" else "") for line in lines],
        )

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


def render(found: Mapping[str, Scores]) -> str:
    return align([_COLUMNS, *((name, *(f"{score:.3f}" for score in row)) for name, row in found.items())])


def passes(found: Mapping[str, Scores]) -> bool:
    words, both = found["words"], found["both"]
    enough = words.recall_5 >= budgets.FOUND_BY_WORDS and words.reciprocal >= budgets.RANKED_BY_WORDS
    enough &= both.recall_5 >= budgets.FOUND_BY_BOTH and both.reciprocal >= budgets.RANKED_BY_BOTH
    return enough and both.recall_5 > words.recall_5 and both.reciprocal > words.reciprocal
