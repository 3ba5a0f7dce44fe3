"""`km-graph-node`"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.knowledge.stored import BOIL, ID, KETTLE, MUST_BOIL, MUST_POUR, POUR, SPEC
from tests.unit.tools.knowledge.made import Asking

FILE = {"id": "SourceFile:src/kettle/boil.py", "labels": ["SourceFile"], "properties": {"path": "src/kettle/boil.py"}}
SUBSYSTEM = {
    "id": "Subsystem:Kettle",
    "labels": ["Subsystem"],
    "properties": {"name": "Kettle", "description": "Heats water.", "criticality": "high"},
}
REQUIREMENT = {
    "id": MUST_BOIL.id,
    "labels": ["Requirement"],
    "properties": {"key": BOIL, "name": MUST_BOIL.name, **MUST_BOIL.properties},
}
CITES = {
    "type": "CITES",
    "direction": "OUT",
    "target": REQUIREMENT,
    "properties": {"kinds": ["implementation"], "lines": [1]},
}
BELONGS = {"type": "BELONGS_TO", "direction": "OUT", "target": SUBSYSTEM}


def pieces(node: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["type"], one["direction"], one["target"]["id"]) for one in node["relationships"]]


def piece(ordinal: int, **more: object) -> dict[str, Any]:
    name = {} if ordinal else {"name": "src/kettle/boil.py"}
    return {
        "id": f"Chunk:src/kettle/boil.py::{ordinal}",
        "labels": ["Chunk"],
        "properties": {
            "chunk_id": f"src/kettle/boil.py::{ordinal}",
            **name,
            "path": "src/kettle/boil.py",
            "ordinal": ordinal,
            "line_start": ordinal + 1,
            "line_end": ordinal + 1,
            **more,
        },
    }


def test_a_file(known: Asking) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-node` MUST return up to `limit` edges with direction and the node at the other end, outgoing ones
    ##% first, and say how many more there are.
    found = known.value("km-graph-node", node_id="Code:src/kettle/boil.py")
    chunks = [{"type": "HAS_CHUNK", "direction": "OUT", "target": piece(ordinal)} for ordinal in (0, 1)]
    relations = found.pop("relationships")
    assert found == {"status": "ok", "node": FILE}
    assert sorted(relations[:2], key=lambda one: str(one["type"])) == [BELONGS, CITES]
    assert relations[2:] == chunks


def test_both_directions(known: Asking) -> None:
    found = known.value("km-graph-node", node_id="DesignDoc:docs/kettle.md", relationships="all", limit=25)
    assert pieces(found) == [("DESCRIBES", "OUT", "Subsystem:Kettle"), ("HAS_CHUNK", "OUT", "Chunk:docs/kettle.md::0")]
    everything = pieces(known.value("km-graph-node", node_id="Subsystem:kettle", relationships="all"))
    assert everything == pieces(known.value("km-graph-node", node_id="Subsystem:Kettle", relationships="incoming"))
    assert sorted(everything) == [
        ("BELONGS_TO", "IN", "SourceFile:src/kettle/boil.py"),
        ("BELONGS_TO", "IN", "SourceFile:src/kettle/empty.py"),
        ("DEPENDS_ON", "IN", "Subsystem:Tea"),
        ("DESCRIBES", "IN", "DesignDoc:docs/kettle.md"),
        ("VALIDATES", "IN", "TestCase:tests/test_kettle.py"),
    ]
    assert known.value("km-graph-node", node_id="Subsystem:Kettle")["relationships"] == []
    none = known.value("km-graph-node", node_id="Subsystem:Tea", relationships="none")
    assert none == {
        "status": "ok",
        "node": {"id": "Subsystem:Tea", "labels": ["Subsystem"], "properties": {"name": "Tea"}},
        "relationships": [],
    }


def test_edges_that_lead_the_other_way_are_told_of(known: Asking) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-node` MUST return up to `limit` edges with direction and the node at the other end, outgoing ones
    ##% first, and say how many more there are.
    tool = "km-graph-node"
    steps = {
        ("Subsystem:Kettle", "outgoing"): "5 incoming edges: relationships=all tells of them.",
        ("Subsystem:Tea", "outgoing"): "",
        ("SourceFile:src/kettle/boil.py", "incoming"): "4 outgoing edges: relationships=all tells of them.",
        ("Section:spec#pouring", "incoming"): "",
        ("Subsystem:Kettle", "none"): "",
        ("Subsystem:Kettle", "all"): "",
    }
    for (node, which), step in steps.items():
        assert known.answer(tool, {"node_id": node, "relationships": which}).next_step == step, (node, which)


def test_a_limit(known: Asking) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% These tools MUST lower a `limit` or depth that is too high, and refuse one that is too low.
    node = {"node_id": KETTLE.id, "relationships": "incoming"}
    cut = known.answer("km-graph-node", {**node, "limit": 4})
    assert len(pieces(known.value("km-graph-node", **node, limit=4))) == 4
    assert cut.next_step == "There are more edges than these 4: give a higher limit."
    whole = known.answer("km-graph-node", {**node, "limit": 100_000})
    assert (len(pieces(known.value("km-graph-node", **node, limit=5))), whole.next_step) == (5, "")
    assert known.refusal("km-graph-node", **node, limit=0)[:2] == ("invalid_request", "limit: expected int >= 1")


def test_a_piece(known: Asking) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% The graph MUST contain each chunk as a node `Chunk:PATH::NUMBER`, and each link of a document as an edge.
    found = known.value("km-graph-node", node_id="Chunk:src/kettle/boil.py::1", relationships="all")
    assert found == {
        "status": "ok",
        "node": piece(1, text="    heat()\n", symbols=["boil"]),
        "relationships": [{"type": "HAS_CHUNK", "direction": "IN", "target": FILE}],
    }
    assert known.value("km-graph-node", node_id="Chunk:src/kettle/boil.py::1")["relationships"] == []
    odd = known.value("km-graph-node", node_id="Chunk:src%2Fodd%3A%3Aname:1.py::0")
    assert odd["node"]["properties"]["path"] == "src/odd::name:1.py"


NODES = {
    "SourceFile:src/odd::name:1.py": "SourceFile:src/odd::name:1.py",
    "Code:src%2Ftea%2Fleaf%20100%25.py": "SourceFile:src/tea/leaf 100%.py",
    "Code:src/tea/leaf 100%.py": "SourceFile:src/tea/leaf 100%.py",
    "Test:tests/test_kettle.py": "TestCase:tests/test_kettle.py",
    "Specification:spec": SPEC.id,
    "Section:spec#heating": "Section:spec#heating",
    f"Requirement:{BOIL}": MUST_BOIL.id,
    f"Requirement:{MUST_BOIL.properties['full_path']}": MUST_BOIL.id,
    f"Requirement:spec#heating/{ID}": MUST_BOIL.id,
    "Requirement:3b42c44": MUST_BOIL.id,
    "Specification:/specifications/spec": SPEC.id,
    "Section:/specifications/spec/sections/heating": "Section:spec#heating",
    f"Requirement:/specifications/spec/sections/heating/requirements/{ID[:12]}": MUST_BOIL.id,
    "Requirement:specifications/spec/sections/pouring/requirements/3b42c4990000" + "0" * 52: MUST_POUR.id,
    "Requirement:3B42C44E1122": MUST_BOIL.id,
    f"Requirement:3b42c499{'0' * 4}{'f' * 52}": MUST_POUR.id,
}


@pytest.mark.parametrize("name", NODES)
def test_names(known: Asking, name: str) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-node` MUST find a node by `LABEL:KEY`, a requirement also by four or more digits of its id, and
    ##% specifications, sections and requirements by their full path.
    assert known.value("km-graph-node", node_id=name, relationships="none")["node"]["id"] == NODES[name]


REFUSED = {
    "Requirement:3b42c4": ("not_found", '2 requirements begin with "3b42c4"', f"Requirement:{POUR}"),
    "Requirement:ffff": ("not_found", "Node 'Requirement:ffff' not found", "km-graph-search"),
    "Requirement:3b4": ("not_found", "Node 'Requirement:3b4' not found", "km-graph-search"),
    "Code:tests/test_kettle.py": (
        "not_found",
        "Node 'Code:tests/test_kettle.py' not found",
        "there is TestCase:tests/test_kettle.py",
    ),
    "Chunk:src/kettle/boil.py::2": ("not_found", "Node 'Chunk:src/kettle/boil.py::2' not found", "km-graph-search"),
    "Chunk:src/kettle/boil.py::-1": ("not_found", "Node 'Chunk:src/kettle/boil.py::-1' not found", ""),
    f"Chunk:src/kettle/boil.py::{'9' * 500}": ("not_found", "Node 'Chunk:src/kettle/boil.py::99", ""),
    "SourceFile:../../etc/passwd": ("not_found", "Node 'SourceFile:../../etc/passwd' not found", ""),
    "SourceFile:%": ("not_found", "Node 'SourceFile:%' not found", ""),
    "SourceFile:src/kettle/boil.py\0": ("not_found", "Node 'SourceFile:src/kettle/boil.py", ""),
    "docs/README.md": ("invalid_identifier", "Invalid node identifier", "write LABEL:KEY"),
    "Nothing:a": ("invalid_identifier", "Unsupported node label 'Nothing'", "there are Subsystem, SourceFile"),
    "Code:" + "x" * 19_000: ("invalid_identifier", "Invalid node identifier", "write LABEL:KEY"),
    " ": ("invalid_request", "node_id is missing", "LABEL:KEY"),
    "x" * 20_001: ("invalid_request", "node_id has more than 20,000 characters", ""),
}


@pytest.mark.parametrize("name", REFUSED, ids=range(len(REFUSED)))
def test_refusals(known: Asking, name: str) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-node` MUST answer `invalid_identifier` for a malformed name and `not_found` for an unknown node, with
    ##% the node of the same path if there is one.
    code, message, hint = known.refusal("km-graph-node", node_id=name)
    assert code == REFUSED[name][0] and message.startswith(REFUSED[name][1]) and REFUSED[name][2] in hint


def test_wrong_types(known: Asking) -> None:
    tool = "km-graph-node"
    assert known.refusal(tool)[:2] == ("invalid_request", "node_id is missing")
    assert known.refusal(tool, node_id=5)[:2] == ("invalid_request", "node_id: expected str, got int")
    assert known.refusal(tool, node_id="Code:a", limit="5")[:2] == ("invalid_request", "limit: expected int, got str")
    assert known.refusal(tool, node_id="Code:a", relationships="some") == (
        "invalid_request",
        "relationships: invalid enum value 'some'",
        "give one of outgoing, incoming, all, none",
    )
