"""Measures how well questions find their answers by words, by vectors, and by both."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from fnmatch import fnmatch

from tests.bench.budgets import FOUND_BY_WORDS, RANKED_BY_WORDS
from tests.bench.table import align
from tests.unit.queries.search_quality import Scores, read, scores, systems

_COLUMNS = ("", "hit@1", "hit@5", "recall@5", "recall@20", "MRR@10")


def main(options: Namespace) -> int:
    """Measure, print the results, and return 0 if words find enough and both find more."""
    if options.shared is None or not fnmatch("retrieval", options.only):
        return 0
    folder = options.shared / "retrieval"
    questions = read(folder / "queries.jsonl")
    found = {name: scores(rank, questions) for name, rank in systems(read(folder / "corpus.jsonl")).items()}
    print(render(found))
    return 0 if passes(found) else 1


def render(found: Mapping[str, Scores]) -> str:
    return align([_COLUMNS, *((name, *(f"{score:.3f}" for score in row)) for name, row in found.items())])


def passes(found: Mapping[str, Scores]) -> bool:
    words, both = found["words"], found["both"]
    enough = words.recall_5 >= FOUND_BY_WORDS and words.reciprocal >= RANKED_BY_WORDS
    return enough and both.recall_5 > words.recall_5 and both.reciprocal > words.reciprocal
