"""The room that agents have for answers about what is known"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.store.location import open_store
from duvet.store.records import GraphNode, Relation
from tests.unit.knowledge.stored import EDGES, NODES, STORE, fill, plain, requirement
from tests.unit.store.made import edge, symbol, taken
from tests.unit.tools.knowledge.made import Asking, ids

TOOL = "km-search"


def large(folder: Path) -> Asking:
    """A project in which one word finds many pieces, each with all that can be told of one."""
    requirements = [
        requirement(f"spec#heating/{number:012x}", f"{number} MUST boil. " * 9, "done") for number in range(12)
    ]
    line = "boil the water, " + "and then some more of it, " * 3 + "\n"
    store = open_store(str(fill(folder) / STORE), create=True)
    with store.writing() as writing:
        files = [
            taken(f"src/kettle/f{number}.py", line * 2, symbols=(symbol("boil", "function", 1, 2),), subsystem="Kettle")
            for number in range(60)
        ]
        for one in files:
            text = line * 9
            pieces = (replace(one.pieces[0], end=len(text), line_end=9),)
            writing.put(replace(one, text=text, pieces=pieces))
        nodes = [GraphNode(label=one.artifact.label, key=one.artifact.path) for one in files]
        cites = [edge(node.id, Relation.CITES, one.id, lines=[1]) for node in nodes for one in requirements]
        belong = [edge(node.id, Relation.BELONGS_TO, "Subsystem:Kettle") for node in nodes]
        writing.replace_graph([*NODES, *requirements, *nodes], [*EDGES, *cites, *belong])
    store.close()
    return Asking(folder, IngestRule(semantic=False))


@pytest.mark.parametrize(("limit", "most"), [(None, 10_000), (3, 10_000), (10, 10_000), (25, 25_000), (99, 25_000)])
def test_agents_have_little_room(limit: int | None, most: int, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% For MCP clients these tools MUST cut long lists, forwarded ones too, to about 4,000 tokens unless `limit` asks
    ##% for more, and say so.
    known = large(tmp_path)
    asked: dict[str, object] = {"query": "boil water", **({"limit": limit} if limit else {})}
    whole, short = (known.answer(TOOL, asked, face=face) for face in ("rest", "mcp"))
    all_of_it, shown = plain(whole.value), plain(short.value)
    count = min(limit or 10, 25)
    assert len(json.encode(shown)) <= most < len(json.encode(all_of_it)) * 1.2
    assert ids(shown) == ids(all_of_it) and len(ids(shown)) == count
    (first, *_, last) = shown["results"]
    assert first["chunk"]["text"] == all_of_it["results"][0]["chunk"]["text"]
    cut = sum(one != other for one, other in zip(shown["results"], all_of_it["results"], strict=True))
    if limit != 3:
        assert last["chunk"]["text"].endswith(" …") and 150 < len(last["chunk"]["text"]) <= 202
        assert "signals" not in last["scoring"] and last["graph_context"]["requirements"] == []
        assert f"{cut} of {count} results are not told as a whole" in shown["metadata"]["warnings"][-1]
        assert "km-graph-node" in short.warning and "lower limit" in short.warning
    assert all("signals" in one["scoring"] and len(one["chunk"]["text"]) > 800 for one in all_of_it["results"])
    assert "as a whole" not in whole.warning
    known.knowledge.close()


def test_agents_get_the_nodes_around_a_subsystem_page_by_page(tmp_path: Path) -> None:
    known = large(tmp_path)
    asked: dict[str, object] = {"name": "Kettle", "depth": 3, "limit": 100}
    whole: Any = plain(known.answer("km-graph-subsystem", asked, face="rest").value)
    assert len(whole["related"]["nodes"]) > 70
    parts: list[str] = []
    cursor = None
    while cursor or not parts:
        answer = known.answer("km-graph-subsystem", {**asked, "limit": 25, "cursor": cursor}, face="mcp")
        page: Any = plain(answer.value)
        assert len(json.encode(page)) < 11_000
        parts += [one["target"]["id"] for one in page["related"]["nodes"]]
        cursor = page["related"]["cursor"]
        assert (f"for more give cursor={cursor}" in answer.next_step) == (cursor is not None)
    assert parts == [one["target"]["id"] for one in whole["related"]["nodes"]]
    only: Any = plain(known.answer("km-graph-subsystem", {**asked, "include_artifacts": False}, face="mcp").value)
    assert only["artifacts"] == [] and 20_000 < len(json.encode(only)) < 41_000
    node = known.answer("km-graph-node", {"node_id": "Subsystem:Kettle", "relationships": "all"}, face="mcp")
    edges = plain(node.value)["relationships"]
    assert len(json.encode(edges)) <= 10_000 and f"There are more edges than these {len(edges)}" in node.next_step
    known.knowledge.close()
