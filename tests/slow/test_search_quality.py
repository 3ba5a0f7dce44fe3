"""How well questions of developers find the sentences that answer them"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.queries.search_quality import Scores, read, scores, systems


@pytest.fixture(scope="module")
def measured(shared: Path) -> dict[str, Scores]:
    lines = read(shared / "retrieval" / "corpus.jsonl")
    questions = read(shared / "retrieval" / "queries.jsonl")
    return {name: scores(rank, questions) for name, rank in systems(lines).items()}


def test_words(measured: dict[str, Scores]) -> None:
    """Half the sentences that answer stand among the first five; a difference of less than 0.06 is noise."""
    words = measured["words"]
    assert words.recall_5 >= 0.46
    assert words.reciprocal >= 0.47


def test_words_and_vectors_find_more_than_either(measured: dict[str, Scores]) -> None:
    both = measured["both"]
    for alone in (measured["words"], measured["vectors"]):
        assert both.recall_5 > alone.recall_5
        assert both.recall_20 > alone.recall_20
        assert both.reciprocal > alone.reciprocal
