"""What a request may say"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec.structs import fields

from duvet.errors import QueryError
from duvet.knowledge.search_query import (
    ArtifactType,
    SearchFilters,
    SearchRequest,
    compute_result_limit,
    make_filters,
    parse_search_request,
)
from duvet.store.records import ChunkFilters, FileKind

NOW = 1_800_000_000.0
DOCUMENTED = {
    "query": "ingestion pipeline",
    "limit": 10,
    "include_graph": True,
    "filters": {
        "subsystems": ["Kasmina"],
        "artifact_types": ["doc", "code"],
        "namespaces": ["docs"],
        "tags": ["Integration"],
        "symbols": ["Example.method"],
        "symbol_kinds": ["method"],
        "symbol_languages": ["python"],
        "updated_after": "2024-01-01T00:00:00Z",
        "max_age_days": 30,
    },
    "sort_by_vector": False,
}
"""Each field that there is."""


def test_every_field() -> None:
    asked = parse_search_request(DOCUMENTED)
    assert asked == SearchRequest(
        query="ingestion pipeline",
        filters=SearchFilters(
            subsystems=("Kasmina",),
            artifact_types=("doc", "code"),
            namespaces=("docs",),
            tags=("Integration",),
            symbols=("Example.method",),
            symbol_kinds=("method",),
            symbol_languages=("python",),
            updated_after="2024-01-01T00:00:00Z",
            max_age_days=30,
        ),
    )
    assert make_filters(asked.filters, NOW) == ChunkFilters(
        subsystems=("kasmina",),
        kinds=("doc", "code"),
        namespaces=("docs",),
        tags=("integration",),
        symbols=("example.method",),
        symbol_kinds=("method",),
        symbol_languages=("python",),
        since=NOW - 30 * 86_400,
    )


def test_what_is_null_is_not_said() -> None:
    nothing = dict.fromkeys(DOCUMENTED) | {"query": "a"}
    assert (
        parse_search_request(nothing)
        == parse_search_request({"query": "a"})
        == SearchRequest(query="a", limit=10, include_graph=True)
    )
    assert (
        parse_search_request({"query": "a", "filters": dict.fromkeys(SearchFilters.__struct_fields__)}).filters
        == SearchFilters()
    )
    nothing = {"query": "a", "filters": {"tags": [], "symbol_kinds": ()}}
    assert (
        make_filters(SearchFilters(), NOW) == make_filters(parse_search_request(nothing).filters, NOW) == ChunkFilters()
    )


WRONG: dict[str, dict[str, Any]] = {
    "Field 'query' is required": {"querry": "a"},
    "Field 'query' must be a string": {"query": 3},
    "Field 'limit' must be an integer": {"query": "a", "limit": "3"},
    "Field 'include_graph' must be a boolean": {"query": "a", "include_graph": 1},
    "Field 'sort_by_vector' must be a boolean": {"query": "a", "sort_by_vector": "yes"},
    "Field 'filters' must be an object": {"query": "a", "filters": ["docs"]},
    "Field 'limit' must be 1 or more": {"query": "a", "limit": 0},
    "Unknown field 'querry'": {"query": "a", "querry": "a"},
    "Unknown filter 'subsystem'": {"query": "a", "filters": {"subsystem": ["a"]}},
    "filters.tags must be an array of strings": {"query": "a", "filters": {"tags": "docs"}},
    "filters.symbols must be an array of strings": {"query": "a", "filters": {"symbols": ["a", 3]}},
    "filters.updated_after must be an ISO-8601 string": {"query": "a", "filters": {"updated_after": 3}},
    "filters.max_age_days must be a positive integer": {"query": "a", "filters": {"max_age_days": True}},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_refused(message: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST refuse a missing query, an unknown or mistyped field, and a blank or too long filter, by its
    ##% name.
    with pytest.raises(QueryError) as raised:
        parse_search_request(WRONG[message])
    assert raised.value.message == message


def test_a_misspelt_name_is_mended() -> None:
    with pytest.raises(QueryError) as raised:
        parse_search_request({"query": "a", "filters": {"subsystem": ["a"]}})
    assert raised.value.hint == "did you mean subsystems?"
    with pytest.raises(QueryError) as raised:
        parse_search_request({"querry": "a"})
    assert raised.value.hint == "Unknown field 'querry': did you mean query?"


@pytest.mark.parametrize("name", [field.name for field in fields(SearchFilters) if field.default == ()])
def test_entries_of_filters(name: str) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST refuse a missing query, an unknown or mistyped field, and a blank or too long filter, by its
    ##% name.
    wrong: dict[str, list[str]] = {
        f"filters.{name} has a blank entry": [" "],
        f"filters.{name} has more than 1,000 entries": ["code"] * 1001,
        f"filters.{name} has an entry of more than 1,000 characters": ["a" * 1001],
    }
    for message, entries in wrong.items():
        with pytest.raises(QueryError) as raised:
            parse_search_request({"query": "a", "filters": {name: entries}})
        assert raised.value.message == message
    with pytest.raises(QueryError, match="blank"):
        parse_search_request({"query": "a", "filters": {name: ["docs", ""]}})


def test_there_is_a_word_for_each_kind_of_file() -> None:
    assert {*get_args(ArtifactType)} == {*FileKind}
    assert parse_search_request({"query": "a", "filters": {"artifact_types": [" DOC"]}}).filters == SearchFilters(
        artifact_types=("doc",)
    )


@pytest.mark.parametrize("given", [1, 25, 26, 10**30])
def test_limits(given: int) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST return 10 results by default and at most 25, each with the requirements that its file cites,
    ##% under a unique `request_id`.
    assert compute_result_limit(parse_search_request({"query": "a", "limit": given})) == min(given, 25)
    assert compute_result_limit(parse_search_request({"query": "a"})) == 10


UNSUPPORTED: dict[str, dict[str, Any]] = {
    "Unsupported artifact type 'docs'": {"artifact_types": ["docs"]},
    "Unsupported symbol kind 'enum'": {"symbol_kinds": ["class", "enum"]},
    "Unsupported symbol language 'cobol'": {"symbol_languages": ["cobol"]},
    "filters.updated_after must be an ISO-8601 string": {"updated_after": "yesterday"},
    "filters.max_age_days must be a positive integer": {"max_age_days": 0},
}


@pytest.mark.parametrize("message", UNSUPPORTED)
def test_values_that_there_are_not(message: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse_search_request({"query": "a", "filters": UNSUPPORTED[message]})
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-01T00:00:00Z", 1_704_067_200),
        (" 2024-01-01 ", 1_704_067_200),
        ("2024-01-01T01:00:00+01:00", 1_704_067_200),
        ("0001-01-01", -62_135_596_800),
    ],
)
def test_moments(text: str, moment: float) -> None:
    assert make_filters(SearchFilters(updated_after=text), NOW).since == moment


def test_the_later_moment_counts() -> None:
    assert make_filters(SearchFilters(updated_after="2024-01-01", max_age_days=1), NOW).since == NOW - 86_400
    assert make_filters(SearchFilters(updated_after="2100-01-01", max_age_days=1), NOW).since == 4_102_444_800
    assert make_filters(SearchFilters(max_age_days=10**30), NOW).since == 0
