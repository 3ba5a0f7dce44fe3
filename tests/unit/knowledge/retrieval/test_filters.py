"""Searches in a part of everything"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import SearchRequest, parse_search_request
from tests.unit.knowledge.retrieval.made import BOIL_PY, FILES, GUIDE_MD, TEST_PY, engine, filled, found, ids, plain

FILTERED = {
    "artifact_types": (["DOC"], [GUIDE_MD]),
    "subsystems": (["tea"], []),
    "namespaces": (["kettle", "tests"], [BOIL_PY, TEST_PY]),
    "tags": (["attic"], []),
    "symbols": (["Boil"], [BOIL_PY]),
    "symbol_kinds": (["function"], [BOIL_PY]),
    "symbol_languages": (["go"], []),
}


@pytest.mark.parametrize("name", FILTERED)
def test_filters(name: str, words: SearchEngine, both: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST apply filters before it ranks, and compare names without regard to case.
    values, expected = FILTERED[name]
    assert {*found(words, "boil water", filters={name: values})} == {*expected}
    answer = both.search(parse_search_request({"query": "boil water", "filters": {name: values}}))
    assert {*expected} <= {*ids(answer)}
    told = [one.lower() for one in values] if name == "artifact_types" else values
    assert plain(answer.metadata)["filters_applied"] == {name: told}
    every = {"Kettle": 4, "tea": 1}
    assert (
        len(ids(both.search(parse_search_request({"query": "boil", "filters": {"subsystems": ["TEA"]}}))))
        <= every["tea"]
    )


@pytest.mark.parametrize(
    ("name", "value"), [("symbols", "boil"), ("symbol_kinds", "class"), ("symbol_languages", "go")]
)
def test_no_symbols_at_all(name: str, value: str, words: SearchEngine, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% duvet MUST name the extra `symbols` or `semantic` when it is needed but not installed.
    asked = parse_search_request({"query": "boil", "filters": {name: [value]}})
    assert len(words.search(asked).metadata.warnings) == 1
    store = filled(tmp_path / "without", files=tuple(replace(one, symbols=()) for one in FILES))
    answer = engine(store).search(asked)
    assert answer.results == ()
    assert "extra `symbols`" in answer.metadata.warnings[1] and "`ingest.symbols`" in answer.metadata.warnings[1]
    assert len(engine(store).search(SearchRequest(query="boil")).metadata.warnings) == 1
    store.close()


def test_recent_files(words: SearchEngine) -> None:
    answer = words.search(parse_search_request({"query": "boil water porcelain", "filters": {"max_age_days": 3}}))
    assert {*ids(answer)} == {BOIL_PY, TEST_PY}
    assert answer.metadata.warnings[1:] == ("recency filter skipped results lacking timestamps",)
    assert len(found(words, "boil water porcelain", filters={"updated_after": "2020-01-01"})) == 3
