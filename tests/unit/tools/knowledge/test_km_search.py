"""`km-search`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from duvet.config.service_tables import ProfileName, SearchSection, WeightsSection
from duvet.config.settings import IngestRule, SearchRule, StoreSection
from duvet.knowledge.relevance import PROFILES
from duvet.knowledge.search_query import ArtifactType
from duvet.knowledge.settings import KnowledgeSettings
from duvet.store.records import SymbolKind
from duvet.tools.knowledge.search import search_everything
from duvet.tools.schemas import input_schema
from tests.unit.knowledge.stored import BOIL, MUST_BOIL, OLD, plain
from tests.unit.tools.knowledge.made import Asking, asking, ids

TOOL = "km-search"
EVERYTHING: dict[str, object] = {
    "query": "boil",
    "limit": 10,
    "include_graph": True,
    "filters": {
        "subsystems": ["KETTLE"],
        "artifact_types": ["doc", "code"],
        "namespaces": [],
        "tags": [],
        "symbols": ["Boil"],
        "symbol_kinds": ["function"],
        "symbol_languages": ["python"],
        "updated_after": "2024-01-01T00:00:00Z",
        "max_age_days": 30_000,
    },
    "sort_by_vector": False,
}
FILTERS: Any = EVERYTHING["filters"]
SYMBOL = {
    "id": "src/kettle/boil.py::boil",
    "name": "boil",
    "qualified_name": "boil",
    "kind": "function",
    "language": "python",
    "line_start": 1,
    "line_end": 2,
}


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Asking]:
    rule = IngestRule(semantic=False, editor_uri="vscode://file/{abs_path}:{line_start}")
    with asking(tmp_path, rule) as found:
        yield found


def test_the_response(known: Asking, tmp_path: Path) -> None:
    found = known.value(TOOL, **EVERYTHING)
    metadata = found.pop("metadata")
    first, *others = found.pop("results")
    assert found == {"status": "ok", "query": "boil"}
    assert first["chunk"]["chunk_id"] == "src/kettle/boil.py::0" and others == []
    chunk = first["chunk"]
    assert chunk == {
        "chunk_id": "src/kettle/boil.py::0",
        "artifact_path": "src/kettle/boil.py",
        "artifact_type": "code",
        "subsystem": "Kettle",
        "namespace": "",
        "tags": [],
        "text": "def boil() -> None:\n",
        "coverage_missing": False,
        "score": chunk["score"],
        "subsystem_criticality": "high",
        "coverage_ratio": 1.0,
        "git_timestamp": OLD,
        "symbols": [{**SYMBOL, "editor_uri": f"vscode://file/{tmp_path}/src/kettle/boil.py:1"}],
    }
    context = first["graph_context"]
    assert context["primary_node"]["id"] == "SourceFile:src/kettle/boil.py"
    assert [one["id"] for one in context["related_artifacts"]] == [
        "DesignDoc:docs/kettle.md",
        "TestCase:tests/test_kettle.py",
    ]
    (cited,) = context["requirements"]
    assert cited == {
        "id": BOIL.rpartition("/")[2],
        "target": "docs/spec.md#heating",
        "level": "MUST",
        "status": "done",
        "kinds": ["implementation"],
        "text": MUST_BOIL.properties["text"],
    }
    assert {"vector_score", "lexical_score", "adjusted_score", "mode", "signals"} <= first["scoring"].keys()
    assert (metadata["result_count"], metadata["graph_context_included"]) == (1, True)
    assert metadata["request_id"] and metadata["scoring_mode"] == "lexical"
    assert metadata["filters_applied"]["symbols"] == ["Boil"]


def test_without_the_graph(known: Asking) -> None:
    found = known.value(TOOL, query="boil", include_graph=False, limit=2)
    assert len(found["results"]) == 2
    assert [one["graph_context"] for one in found["results"]] == [None, None]
    assert found["metadata"]["graph_context_included"] is False


def test_limits(known: Asking) -> None:
    assert len(ids(known.value(TOOL, query="boil heat", limit=1))) == 1
    assert len(ids(known.value(TOOL, query="boil heat", limit=1_000_000))) <= 25
    assert known.refusal(TOOL, query="boil", limit=0)[:2] == ("invalid_request", "Field 'limit' must be 1 or more")


def test_by_words_alone_is_said(known: Asking) -> None:
    answer = known.answer(TOOL, {"query": "boil"})
    assert "found by words alone" in answer.warning
    nothing = known.answer(TOOL, {"query": "zymurgy"})
    assert nothing.next_step == "km-graph-search finds files by a part of their paths."


REFUSED: list[tuple[dict[str, object], str]] = [
    ({}, "Field 'query' is required"),
    ({"query": " "}, "Field 'query' is required"),
    ({"query": 5}, "Field 'query' must be a string"),
    ({"query": "a", "limit": "5"}, "Field 'limit' must be an integer"),
    ({"query": "a", "filters": []}, "Field 'filters' must be an object"),
    ({"query": "a", "include_graph": "no"}, "Field 'include_graph' must be a boolean"),
    ({"query": "a", "filters": {"subsystems": [" "]}}, "filters.subsystems has a blank entry"),
    ({"query": "a", "filters": {"tags": ["a"] * 1001}}, "filters.tags has more than 1,000 entries"),
    ({"query": "a", "filters": {"symbols": "a"}}, "filters.symbols must be an array of strings"),
    ({"query": "a", "filters": {"tags": [5]}}, "filters.tags must be an array of strings"),
    ({"query": "a", "filters": {"artifact_types": ["poem"]}}, "Unsupported artifact type 'poem'"),
    ({"query": "a", "filters": {"updated_after": "yesterday"}}, "filters.updated_after must be an ISO-8601 string"),
    ({"query": "a", "filters": {"updated_after": 5}}, "filters.updated_after must be an ISO-8601 string"),
    ({"query": "a", "filters": {"max_age_days": 0}}, "filters.max_age_days must be a positive integer"),
    ({"query": "a", "filters": {"max_age_days": "x"}}, "filters.max_age_days must be a positive integer"),
    ({"query": "a", "filters": {"colour": []}}, "Unknown filter 'colour'"),
    ({"query": "a", "filters": {"tags": ["x" * 1_000_000]}}, "filters.tags has an entry of more than 1,000 characters"),
    ({"query": "a", "filters": {"tags": ["\ud800"]}}, "filters has half a character in it"),
    ({"query": "\ud800"}, "query has half a character in it"),
    ({"query": "a", "words": 1}, "Unknown field 'words'"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(known: Asking, given: dict[str, object], message: str) -> None:
    assert known.refusal(TOOL, **given)[:2] == ("invalid_request", message)


@pytest.mark.parametrize(
    "query", ['"', "a OR", "NEAR(", "title:x", "*", "the of and", "-boil", "boil\0", "^", "{}", "😀"]
)
def test_syntax_of_the_index_is_nothing_but_text(known: Asking, query: str) -> None:
    assert known.value(TOOL, query=query)["status"] == "ok"


def test_long_queries(known: Asking) -> None:
    answer = known.answer(TOOL, {"query": "boil " * 200_000}, face="rest")
    assert answer.warning.startswith("only the first 2,000 characters and 64 words of the query count")
    assert {*ids(plain(answer.value))} == {*ids(known.value(TOOL, query="boil"))}
    assert len(plain(answer.value)["query"]) == 2000


def test_what_the_schema_tells() -> None:
    schema = input_schema(search_everything)["properties"]
    description = "Results"
    assert schema["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 25,
        "default": 10,
        "description": description,
    }
    assert schema["include_graph"]["default"] is True
    filters = schema["filters"]
    assert filters["type"] == "object" and [*filters["properties"]] == [*FILTERS]
    for name, choices in (("artifact_types", ArtifactType), ("symbol_kinds", SymbolKind)):
        assert filters["properties"][name] == {"type": "array", "items": {"enum": sorted(get_args(choices))}}


def test_weights_are_those_of_the_configuration(known: Asking) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST use weights only to order equally good results, and apply edited weights to the next search.
    assert known.value(TOOL, query="boil")["metadata"]["weight_profile"] == "default"
    given = SearchSection(profile=ProfileName.OPERATIONS, weights=WeightsSection(support=0.5)).rule()
    assert given == SearchRule(profile="operations", weights={"support": 0.5})
    rule = KnowledgeSettings(str(known.folder), IngestRule(semantic=False), StoreSection(), given)
    known.knowledge.use_settings(lambda: rule)
    told = known.value(TOOL, query="boil")["metadata"]
    assert (told["weight_profile"], told["weights"]) == (
        "operations+overrides",
        {
            "subsystem": 0.22,
            "relationship": 0.08,
            "support": 0.5,
            "criticality": 0.1,
        },
    )


def test_the_configuration_knows_all_profiles() -> None:
    assert [*ProfileName] == [*PROFILES]
