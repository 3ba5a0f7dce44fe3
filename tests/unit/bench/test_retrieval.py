"""The table of how well questions find what answers them"""

from __future__ import annotations

import pytest

from tests.bench.retrieval import passes, render
from tests.unit.queries.search_quality import Scores, scores

GOOD = Scores(0.5, 0.75, 0.5, 0.6, 0.55)
BETTER = GOOD._replace(recall_5=0.51, reciprocal=0.56)


def test_table() -> None:
    assert [line.split() for line in render({"words": GOOD, "both": BETTER}).splitlines()] == [
        ["hit@1", "hit@5", "recall@5", "recall@20", "MRR@10"],
        ["words", "0.500", "0.750", "0.500", "0.600", "0.550"],
        ["both", "0.500", "0.750", "0.510", "0.600", "0.560"],
    ]


@pytest.mark.parametrize(
    ("words", "both", "expected"),
    [
        (GOOD, BETTER, True),
        (GOOD, GOOD, False),
        (GOOD, BETTER._replace(reciprocal=0.55), False),
        (GOOD._replace(recall_5=0.45), BETTER, False),
        (GOOD._replace(reciprocal=0.46), BETTER, False),
    ],
)
def test_gate(words: Scores, both: Scores, expected: bool) -> None:
    assert passes({"words": words, "both": both}) is expected


def test_scores() -> None:
    questions = [{"query": "one", "relevant": ["a", "b"]}, {"query": "two", "relevant": ["z"]}]
    found = {"one": ["x", "a", *"uvwq", "b"], "two": []}
    assert scores(found.__getitem__, questions) == Scores(0.0, 0.5, 0.25, 0.5, 0.25)
