"""Requirements by their meaning"""

from __future__ import annotations

import pytest

from duvet.errors import QueryError
from duvet.model import Level
from duvet.queries.gaps import RequirementFilter
from duvet.queries.search import SearchAnswer, SearchQuery, search_requirements
from duvet.tree.cache import Cache
from tests.unit.search.made import FILES, catalogue
from tests.unit.search.vectors.made import embedder

CATALOGUE = catalogue(FILES)
EMBEDDER = embedder()
DISCARD = "Clients MUST discard a packet with an empty token."
KETTLE = "The kettle MUST NOT be left without water."


def asked(query: str, wanted: RequirementFilter = RequirementFilter(), limit: int = 0) -> SearchAnswer:  # noqa: B008 - frozen
    return search_requirements(CATALOGUE, SearchQuery(query, wanted, limit=limit), Cache(), embedder=EMBEDDER)


def texts(answer: SearchAnswer) -> list[str]:
    return [row.text for row in answer.rows]


def test_other_words_of_the_same_meaning() -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% With `--semantic`, `duvet search` MUST rank requirements by their words and their vectors, and find references
    ##% as without it.
    assert search_requirements(CATALOGUE, SearchQuery("throw away messages"), Cache()).rows == ()
    assert texts(asked("throw away messages"))[0] == DISCARD
    found = asked("the pot without any water")
    assert texts(found)[0] == KETTLE
    assert "The server MUST warm the pot before the leaves are added." in texts(found)


def test_scores_and_marks() -> None:
    found = asked("water")
    assert not found.is_loose
    first, *others = found.rows
    assert first.text[slice(*first.marks[0])] == "water"
    scores = [row.score or 0 for row in found.rows]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    # What is near without the word has nothing to mark.
    assert () in [row.marks for row in others]


def test_filters_hold_for_both() -> None:
    found = asked("water in the kettle", RequirementFilter(levels=(Level.SHOULD,)))
    assert "A server SHOULD NOT boil the water twice." in texts(found)
    assert {row.level for row in found.rows} == {"SHOULD"}
    assert len(asked("water", limit=2).rows) == 2


@pytest.mark.parametrize("query", ["tea.md#brewing", "src/server.rs:2", CATALOGUE.ids[4]])
def test_references_find_what_they_name(query: str) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% With `--semantic`, `duvet search` MUST rank requirements by their words and their vectors, and find references
    ##% as without it.
    assert asked(query) == search_requirements(CATALOGUE, SearchQuery(query), Cache())


def test_what_is_named_comes_first() -> None:
    found = asked("Serving")
    assert texts(found)[:2] == ["Cups MAY be warmed.", "The server MUST pour within five minutes."]
    assert len(found.rows) > 2


def test_common_words_alone_find_nothing() -> None:
    assert asked("of the").dropped == ("of", "the")
    assert asked("of the").rows == ()
    with pytest.raises(QueryError):
        asked("***")
