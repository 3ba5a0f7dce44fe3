from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import json
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import IngestRule, ProfileName, SearchSection, WeightsSection
from duvet.knowledge.search_query import ArtifactType
from duvet.store.location import open_store
from duvet.store.records import GraphNode, Relation, SymbolKind
from duvet.tools.arguments import input_schema
from duvet.tools.knowledge.search import search_everything
from tests.unit.knowledge import stored_project
from tests.unit.knowledge.stored_project import BOIL, KETTLE, MUST_BOIL, STORE, fill, plain
from tests.unit.store.store_files import edge, make_ingested_file, symbol
from tests.unit.tools.knowledge.knowledge_calls import Asking, asking, ids
from tests.unit.tools.tool_calls import describe_calls

PATH = "src/kettle/boil.py"
SEARCH, NODE, AROUND, TERM = "km-search", "km-graph-node", "km-graph-subsystem", "km-graph-search"
LISTS: dict[str, Any] = {"subsystems": ["KETTLE"], "artifact_types": ["doc", "code"], "namespaces": [], "tags": []}
SYMBOLS = {"symbols": ["Boil"], "symbol_kinds": ["function"], "symbol_languages": ["python"]}
FILTERS = {**LISTS, **SYMBOLS, "updated_after": "2024-01-01T00:00:00Z", "max_age_days": 30_000}


@pytest.fixture
def searched(tmp_path: Path) -> Iterator[Asking]:
    """Index a project whose symbols have editor links."""
    with asking(tmp_path, IngestRule(semantic=False, editor_uri="vscode://file/{abs_path}:{line_start}")) as found:
        yield found


def test_a_search_with_all_arguments_has_the_whole_response(searched: Asking, tmp_path: Path) -> None:
    found = searched.value(SEARCH, query="boil", limit=10, include_graph=True, filters=FILTERS, sort_by_vector=False)
    metadata = found.pop("metadata")
    first, *others = found.pop("results")
    uri = f"vscode://file/{tmp_path}/{PATH}:1"
    assert (found, others) == ({"status": "ok", "query": "boil"}, [])
    (declared,) = first["chunk"]["symbols"]
    assert (first["chunk"]["chunk_id"], declared["editor_uri"]) == (f"{PATH}::0", uri)
    context = first["graph_context"]
    assert context["primary_node"]["id"] == "SourceFile:src/kettle/boil.py"
    related = ["DesignDoc:docs/kettle.md", "TestCase:tests/test_kettle.py"]
    assert [one["id"] for one in context["related_artifacts"]] == related
    cited = {name: MUST_BOIL.properties[name] for name in ("target", "level", "status", "text")}
    assert context["requirements"] == [{"id": BOIL.rpartition("/")[2], "kinds": ["implementation"], **cited}]
    assert (metadata["result_count"], metadata["graph_context_included"]) == (1, True)
    assert metadata["filters_applied"]["symbols"] == ["Boil"]
    assert "searched by words only" in searched.answer(SEARCH, {"query": "boil"}).warning
    nothing = searched.answer(SEARCH, {"query": "zymurgy"})
    assert nothing.next_step == "km-graph-search finds files by part of their path."


def test_the_schema_of_a_search_has_bounds_defaults_and_choices() -> None:
    schema = input_schema(search_everything)["properties"]
    bounds = {"minimum": 1, "maximum": 25, "default": 10}
    assert schema["limit"] == {"type": "integer", **bounds, "description": "Maximum number of results"}
    assert schema["include_graph"]["default"] is True
    filters = schema["filters"]
    assert filters["type"] == "object" and [*filters["properties"]] == [*FILTERS]
    for name, choices in (("artifact_types", ArtifactType), ("symbol_kinds", SymbolKind)):
        assert filters["properties"][name] == {"type": "array", "items": {"enum": sorted(get_args(choices))}}


def test_edited_weights_are_those_of_the_next_search(searched: Asking) -> None:
    assert searched.value(SEARCH, query="boil")["metadata"]["weight_profile"] == "default"
    given = SearchSection(profile=ProfileName.OPERATIONS, weights=WeightsSection(support=0.5))
    searched.turn_to(search=given)
    told = searched.value(SEARCH, query="boil")["metadata"]
    weights = {"subsystem": 0.22, "relationship": 0.08, "support": 0.5, "criticality": 0.1}
    assert (told["weight_profile"], told["weights"]) == ("operations+overrides", weights)


ID = stored_project.ID
NODES = [
    *("Code:src/kettle/boil.py", "Subsystem:Kettle", "Subsystem:Tea", f"SourceFile:{PATH}", f"Chunk:{PATH}::0"),
    # Other names.
    *("Chunk:src%2Fodd%3A%3Aname:1.py::0", "SourceFile:src/odd::name:1.py", "Code:src%2Ftea%2Fleaf%20100%25.py"),
    *("Code:src/tea/leaf 100%.py", "Test:tests/test_kettle.py", " Doc:docs/tea.md ", "Specification:spec", "Spec:spec"),
    *("SourceFile%3Asrc%2Fkettle%2Fboil.py", "Section:spec#heating", f"Requirement:{BOIL}", "Requirement:3b42c44"),
    *(f"Requirement:{MUST_BOIL.properties['full_path']}", f"Requirement:spec#heating/{ID}"),
    *("Specification:/specifications/spec", "Section:/specifications/spec/sections/heating"),
    f"Requirement:/specifications/spec/sections/heating/requirements/{ID[:12]}",
    "Requirement:specifications/spec/sections/pouring/requirements/3b42c4990000" + "0" * 52,
    *("Requirement:3B42C44E1122", f"Requirement:3b42c499{'0' * 4}{'f' * 52}"),
    # No nodes.
    *("Requirement:3b42c4", "Requirement:ffff", "Requirement:3b4", "Code:tests/test_kettle.py", "Config:a.toml"),
    *("Subsystem:Kettle: the second", f"Chunk:{PATH}::2", f"Chunk:{PATH}::-1", f"Chunk:{PATH}::{'9' * 500}"),
    *("SourceFile:../../etc/passwd", "SourceFile:%", f"SourceFile:{PATH}\0", "docs/README.md", "DesignDoc:"),
    *("DesignDoc: ", "Code:" + "x" * 19_000, "Nothing:a", "designdoc:a.md", ":x", "docs/README.md:x"),
    "'; DROP TABLE node; --:x",
]
EDGES: list[tuple[str, str]] = [
    *(("DesignDoc:docs/kettle.md", "all"), ("Subsystem:kettle", "all"), ("Subsystem:Kettle", "incoming")),
    *(("Subsystem:Tea", "none"), (f"SourceFile:{PATH}", "incoming"), ("Section:spec#pouring", "incoming")),
    *(("Subsystem:Kettle", "none"), ("Chunk:src/kettle/boil.py::1", "all")),
]
TERMS = ["KETTLE", "steam must", "pouring", "100%", "%", "leaf_100", "_", "odd::name:1", '" OR 1=1 --', "nothing"]
TERMS += ["x" * 20_000, "a\0b", "\\"]
GRAPH: list[tuple[str, dict[str, Any]]] = [
    *((NODE, {"node_id": name}) for name in NODES),
    *((NODE, {"node_id": name, "relationships": which}) for name, which in EDGES),
    *((NODE, {"node_id": KETTLE.id, "relationships": "incoming", "limit": limit}) for limit in (4, 5, 100_000)),
    (AROUND, {"name": "kettle", "depth": 1, "limit": 25, "cursor": None, "include_artifacts": True}),
    (AROUND, {"name": "Kettle", "include_artifacts": False}),
    *((AROUND, {"name": "Tea", "depth": depth, "include_artifacts": False}) for depth in (0, 2, 3)),
    *((AROUND, {"name": name}) for name in ("Kettel", "%")),
    *((TERM, {"term": term}) for term in TERMS),
    (TERM, {"term": " kettle ", "limit": 1}),
    (TERM, {"term": "e", "limit": 1_000_000}),
]


WHOLE: list[tuple[str, dict[str, Any]]] = [
    *((NODE, {"node_id": one.id, "relationships": "none"}) for one in (KETTLE, *stored_project.NODES[2:4])),
    *((NODE, {"node_id": id, "relationships": "none"}) for id in (f"Chunk:{PATH}::0", "TestCase:tests/test_kettle.py")),
    (NODE, {"node_id": f"SourceFile:{PATH}", "limit": 2}),
    (AROUND, {"name": "Tea", "depth": 2, "limit": 2}),
    (TERM, {"term": "pouring"}),
]


def list_ids(value: object) -> str:
    """Return the ids and counts of an answer."""
    found = plain(value)
    lines = [found[name]["id"] for name in ("node", "subsystem") if name in found]
    lines += [f"  {one['direction']} {one['type']} {one['target']['id']}" for one in found.get("relationships", [])]
    if "related" in found:
        for one in found["related"]["nodes"]:
            path = [f"{step['source']} {step['type']} {step['target']}" for step in one["path"]]
            lines.append(f"  {one['target']['id']}: {', '.join(path)}")
        lines.append(f"  {found['related']['total']} nodes, cursor {found['related']['cursor']}")
        lines += [f"  artifact {one['id']}" for one in found["artifacts"]]
    lines += [f"  {one['id']} {one['score']} {one['snippet']:.40}" for one in found.get("results", [])]
    return "\n".join(lines)


def test_the_graph(indexed: Asking, answers: Snapshot) -> None:
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, where KEY can also be the first four or more digits of a
    ##% requirement's id, or the full path of a specification, section or requirement.
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-subsystem` MUST list every node within `depth` steps of the subsystem, without duplicates
    ##% and with a shortest path to the subsystem.
    ##= man/spec/knowledge.md#graph
    ##% `km-graph-search` MUST search the names of nodes and the texts of requirements, ignoring case.
    answers.assert_match(describe_calls(indexed.answer, GRAPH, list_ids), "graph.txt")
    answers.assert_match(describe_calls(indexed.answer, WHOLE), "graph_answers.txt")
    for depth in (5, 1000):
        assert (MUST_BOIL.id, 3) in reached(indexed.value(AROUND, name="Tea", depth=depth))


def reached(found: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["target"]["id"], one["hops"]) for one in found["related"]["nodes"]]


def test_the_nodes_around_a_subsystem_come_page_by_page(indexed: Asking) -> None:
    whole = reached(indexed.value(AROUND, name="Kettle", depth=5))
    parts: list[tuple[str, int]] = []
    cursor = None
    while cursor is not None or not parts:
        answer = indexed.answer(AROUND, {"name": "Kettle", "depth": 5, "limit": 2, "cursor": cursor})
        found = plain(answer.value)
        parts += reached(found)
        cursor = found["related"]["cursor"]
        more = f"2 of {len(whole)} related nodes shown; for more, set cursor={cursor}."
        assert (found["related"]["total"], answer.next_step) == (len(whole), more if cursor else "")
    assert parts == whole and len(whole) == len(set(whole))


NO_NUMBERS = (urlsafe_b64encode(data).decode() for data in (b"-5", b"1_0", b"+1", b" 1"))
BROKEN = ["", "garbage", "\u00fc", "x" * 19_000, "!!!!", "MTA", "\0", *NO_NUMBERS]


def test_a_cursor_that_cannot_be_read_begins_anew_and_one_past_the_end_shows_nothing(indexed: Asking) -> None:
    first = indexed.value(AROUND, name="Kettle", limit=2)
    for cursor in BROKEN:
        assert indexed.value(AROUND, name="Kettle", limit=2, cursor=cursor) == first
    found = indexed.value(AROUND, name="Kettle", cursor=urlsafe_b64encode(b"9" * 40).decode())
    assert found["related"] == {"nodes": [], "cursor": None, "total": 5}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """Index a project in which one word finds many chunks, each with everything that an answer can contain."""
    folder = tmp_path_factory.mktemp("large")
    requirements = [
        stored_project.requirement(f"spec#heating/{number:012x}", f"{number} MUST boil. " * 9, "done")
        for number in range(12)
    ]
    line = "boil the water, " + "and then some more of it, " * 3 + "\n"
    store = open_store(str(fill(folder) / STORE), create=True)
    with store.writing() as writing:
        more: dict[str, Any] = {"symbols": (symbol("boil", "function", 1, 2),), "subsystem": "Kettle"}
        files = [make_ingested_file(f"src/kettle/f{number}.py", line * 2, **more) for number in range(60)]
        for one in files:
            pieces = (replace(one.pieces[0], end=len(line * 9), line_end=9),)
            writing.put(replace(one, text=line * 9, pieces=pieces))
        nodes = [GraphNode(label=one.artifact.label, key=one.artifact.path) for one in files]
        cites = [edge(node.id, Relation.CITES, one.id, lines=[1]) for node in nodes for one in requirements]
        belong = [edge(node.id, Relation.BELONGS_TO, "Subsystem:Kettle") for node in nodes]
        writing.replace_graph([*stored_project.NODES, *requirements, *nodes], [*stored_project.EDGES, *cites, *belong])
    store.close()
    found = Asking(folder, IngestRule(semantic=False))
    yield found
    found.knowledge.close()


@pytest.mark.parametrize(("limit", "most"), [(None, 14_000), (3, 13_000), (10, 14_000), (25, 34_000), (99, 34_000)])
def test_agents_get_short_search_results(limit: int | None, most: int, large: Asking) -> None:
    asked: dict[str, object] = {"query": "boil water", **({"limit": limit} if limit else {})}
    whole, short = (large.answer(SEARCH, asked, face=face) for face in ("rest", "mcp"))
    all_of_it, shown = plain(whole.value), plain(short.value)
    count = min(limit or 10, 25)
    assert len(json.encode(shown)) <= most < len(json.encode(all_of_it)) * 1.2
    assert ids(shown) == ids(all_of_it) and len(ids(shown)) == count
    assert [*map(_connections, shown["results"])] == [*map(_connections, all_of_it["results"])]
    assert {len(one["graph_context"]["requirements"]) for one in shown["results"]} == {10}
    (*_, last), (*_, entire) = shown["results"], all_of_it["results"]
    cut = sum(one != other for one, other in zip(shown["results"], all_of_it["results"], strict=True))
    if limit != 3:
        text, beginning = entire["chunk"]["text"], last["chunk"]["text"].removesuffix(" …")
        assert text.startswith(beginning) and 150 < len(beginning) <= 200
        omitted = {"text": len(text) - len(beginning), "related_artifacts": 2, "signals": 13}
        assert last["omitted"] == omitted and "related_artifacts" not in last["graph_context"]
        assert f"shortened {cut} of {count} results" in shown["metadata"]["warnings"][-1]
        assert "km-graph-node" in short.warning and "lower limit" in short.warning
    assert all("signals" in one["scoring"] and len(one["chunk"]["text"]) > 800 for one in all_of_it["results"])


def _connections(result: dict[str, Any]) -> list[object]:
    context = result["graph_context"]
    return [
        [(one["id"], one["status"]) for one in context["requirements"]],
        [(one["qualified_name"], one["kind"], one["line_start"]) for one in result["chunk"]["symbols"]],
        [(one["type"], one["direction"], one["target"]["id"]) for one in context["relationships"]],
        context["neighbor_subsystems"],
    ]


def test_agents_get_the_nodes_around_a_subsystem_page_by_page(large: Asking) -> None:
    asked: dict[str, object] = {"name": "Kettle", "depth": 3, "limit": 100}
    whole: Any = plain(large.answer(AROUND, asked, face="rest").value)
    assert len(whole["related"]["nodes"]) > 70
    parts: list[str] = []
    cursor = None
    while cursor or not parts:
        answer = large.answer(AROUND, {**asked, "limit": 25, "cursor": cursor}, face="mcp")
        page: Any = plain(answer.value)
        assert len(json.encode(page)) < 11_000
        parts += [one["target"]["id"] for one in page["related"]["nodes"]]
        cursor = page["related"]["cursor"]
        assert (f"for more, set cursor={cursor}" in answer.next_step) == (cursor is not None)
    assert parts == [one["target"]["id"] for one in whole["related"]["nodes"]]
    only: Any = plain(large.answer(AROUND, {**asked, "include_artifacts": False}, face="mcp").value)
    assert only["artifacts"] == [] and 20_000 < len(json.encode(only)) < 41_000
    node = large.answer(NODE, {"node_id": "Subsystem:Kettle", "relationships": "all"}, face="mcp")
    edges = plain(node.value)["relationships"]
    assert len(json.encode(edges)) <= 10_000 and f"Only {len(edges)} edges shown" in node.next_step
