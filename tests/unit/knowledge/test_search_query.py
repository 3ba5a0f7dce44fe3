from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import fields
from pytest_snapshot.plugin import Snapshot

from duvet.errors import QueryError
from duvet.knowledge import search_query
from duvet.knowledge.search import prepare_question
from duvet.knowledge.search_query import SearchFilters, SearchRequest, parse_search_request
from duvet.store.records import ChunkFilters, FileKind
from tests.unit.knowledge.stored_project import DAY, NOW

FILTERS: dict[str, Any] = {
    "subsystems": ["Kasmina"],
    "artifact_types": ["doc", "code"],
    "namespaces": ["docs"],
    "tags": ["Integration"],
    "symbols": ["Example.method"],
    "symbol_kinds": ["method"],
    "symbol_languages": ["python"],
    "updated_after": "2024-01-01T00:00:00Z",
    "max_age_days": 30,
}
DOCUMENTED = {"query": "a pipeline", "limit": 10, "include_graph": True, "filters": FILTERS, "sort_by_vector": False}


def test_every_field_of_a_request_is_read() -> None:
    asked = parse_search_request(DOCUMENTED)
    tuples: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in FILTERS.items()}
    assert asked == SearchRequest(query="a pipeline", filters=SearchFilters(**tuples))
    assert search_query.make_filters(asked.filters, NOW) == ChunkFilters(
        subsystems=("kasmina",),
        kinds=("doc", "code"),
        namespaces=("docs",),
        tags=("integration",),
        symbols=("example.method",),
        symbol_kinds=("method",),
        symbol_languages=("python",),
        since=NOW - 30 * DAY,
    )
    assert {*get_args(search_query.ArtifactType)} == {*FileKind}
    spelled = parse_search_request({"query": "a", "filters": {"artifact_types": [" DOC"]}})
    assert spelled.filters == SearchFilters(artifact_types=("doc",))


def test_null_and_empty_fields_have_their_default() -> None:
    default = SearchRequest(query="a", limit=10, include_graph=True)
    some: tuple[dict[str, Any], ...] = ({}, dict.fromkeys(FILTERS), {"tags": [], "symbols": ()})
    for filters in some:
        assert parse_search_request({"query": "a", "filters": filters}) == default
    assert parse_search_request(dict.fromkeys(DOCUMENTED) | {"query": "a"}) == default
    assert search_query.make_filters(default.filters, NOW) == ChunkFilters()
    requests = [default, *(SearchRequest(query="a", limit=limit) for limit in (1, 25, 26, 10**30))]
    assert [prepare_question(one, NOW).limit for one in requests] == [10, 1, 25, 25, 25]


WRONG: list[dict[str, Any]] = [
    *({"querry": "a"}, {"query": 3}, {"limit": "3"}, {"include_graph": 1}, {"sort_by_vector": "yes"}),
    *({"filters": ["docs"]}, {"limit": 0}, {"query": "a", "querry": "a"}, {"filters": {"subsystem": ["a"]}}),
    *({"filters": {"tags": "docs"}}, {"filters": {"symbols": ["a", 3]}}),
    *({"filters": {"artifact_types": ["docs"]}}, {"filters": {"symbol_kinds": ["class", "enum"]}}),
    {"filters": {"symbol_languages": ["cobol"]}},
    *({"filters": {"updated_after": value}} for value in (3, "yesterday")),
    *({"filters": {"max_age_days": value}} for value in (True, 0)),
]


def test_requests_and_entries_of_filters_that_are_refused(snapshot: Snapshot) -> None:
    lines = []
    for request in WRONG:
        with pytest.raises(QueryError) as raised:
            parse_search_request(request if "querry" in request else {"query": "a", **request})
        lines.append(f"{request}\n{raised.value.message}; {raised.value.hint or '-'}\n")
    snapshot.assert_match("\n".join(lines), "problems/search_requests.txt")
    troubles = (
        ("has a blank entry", [" "]),
        ("has a blank entry", ["code", ""]),
        ("has more than 1,000 entries", ["code"] * 1001),
        ("has an entry of more than 1,000 characters", ["a" * 1001]),
    )
    names = [field.name for field in fields(SearchFilters) if field.default == ()]
    for name, (trouble, entries) in product(names, troubles):
        with pytest.raises(QueryError) as raised:
            parse_search_request({"query": "a", "filters": {name: entries}})
        assert raised.value.message == f"filters.{name} {trouble}"


def test_the_later_of_two_dates_counts() -> None:
    for after, days, moment in (
        ("2024-01-01T00:00:00Z", None, 1_704_067_200),
        (" 2024-01-01 ", None, 1_704_067_200),
        ("2024-01-01T01:00:00+01:00", None, 1_704_067_200),
        ("0001-01-01", None, -62_135_596_800),
        ("2024-01-01", 1, NOW - DAY),
        ("2100-01-01", 1, 4_102_444_800),
        (None, 10**30, 0),
    ):
        assert search_query.make_filters(SearchFilters(updated_after=after, max_age_days=days), NOW).since == moment
