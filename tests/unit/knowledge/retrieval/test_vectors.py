"""Searches by vectors, and without any"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import SearchRequest
from duvet.queries.embeddings import DummyEmbedder, Embedder
from duvet.store.records import FileKind, Store
from tests.unit.knowledge.retrieval.made import ALONE, BOIL_PY, GUIDE, GUIDE_MD, MODEL, engine, filled, ids
from tests.unit.store.made import taken


def test_words_and_vectors(both: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST rank chunks by the sum of their reciprocal ranks by words and by vectors, or with
    ##% `sort_by_vector` by vectors alone.
    answer = both.search(SearchRequest(query="how to fill a kettle with tea water"))
    assert ids(answer)[0] == GUIDE_MD
    assert answer.metadata.scoring_mode == answer.results[0].scoring.mode == "hybrid"
    assert answer.metadata.hybrid_weights == {"vector": 0.5, "lexical": 0.5}
    assert answer.metadata.warnings == ()
    for result in answer.results:
        scoring = result.scoring
        sum_of_both = scoring.weighted_vector_score + scoring.weighted_lexical_score
        assert 0 <= scoring.adjusted_score - sum_of_both < 0.03
        assert 0 <= scoring.vector_score <= 1
    scores = [result.chunk.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_the_nearest_first(both: SearchEngine, words: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST rank chunks by the sum of their reciprocal ranks by words and by vectors, or with
    ##% `sort_by_vector` by vectors alone.
    answer = both.search(SearchRequest(query="switch on", sort_by_vector=True, limit=3))
    scores = [result.scoring.vector_score for result in answer.results]
    assert scores == sorted(scores, reverse=True) == [result.chunk.score for result in answer.results]
    assert words.search(SearchRequest(query="boil", sort_by_vector=True)).metadata.warnings[1:] == (
        "there are no vectors to sort by",
    )


REASONS = {
    "the extra `semantic` is not installed, or not wanted": (MODEL, None, MODEL),
    "no vectors were made of what was taken in": (None, MODEL, None),
    "the vectors were made by another model; they have to be made again": (MODEL, DummyEmbedder(), MODEL),
}


@pytest.mark.parametrize("reason", REASONS)
def test_by_words_alone(reason: str, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Without usable vectors, `km-search` MUST search by words alone and say why.
    made_with, asked_with, _ = REASONS[reason]
    store = filled(tmp_path, made_with)
    answer = engine(store, asked_with).search(SearchRequest(query="boil water"))
    store.close()
    assert answer.metadata.warnings == (ALONE + reason,)
    assert answer.metadata.scoring_mode == "lexical"
    assert ids(answer)[0] in (GUIDE_MD, BOIL_PY)


@pytest.mark.parametrize("model", [MODEL, DummyEmbedder(), None])
def test_stand_ins(model: Embedder | None, tmp_path: Path) -> None:
    store = filled(tmp_path, DummyEmbedder())
    answer = engine(store, model).search(SearchRequest(query=GUIDE))
    store.close()
    assert answer.metadata.warnings == ("the vectors are stand-ins that tell nothing of meaning",)
    assert answer.metadata.scoring_mode == "hybrid"
    assert (ids(answer)[0], answer.results[0].scoring.vector_score) == (GUIDE_MD, 1.0)


def test_pieces_without_vectors_are_found_by_their_words(stored: Store) -> None:
    with stored.writing() as writing:
        writing.put(taken("docs/cups.md", "# Cups\nCups are made of porcelain.\n", kind=FileKind.DOC))
    answer = engine(stored, MODEL).search(SearchRequest(query="cups"))
    assert answer.metadata.warnings == ("some pieces have no vectors",)
    assert "docs/cups.md::0" in ids(answer)
