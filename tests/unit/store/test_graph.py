"""Nodes and edges, whatever keeps them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from duvet.store.records import GraphEdge, GraphNode, NodeLabel, Relation, Store
from tests.unit.store.conftest import EDGES, NODES
from tests.unit.store.made import edge, node

KETTLE, KITCHEN, GUIDE = "SourceFile:src/kettle.py", "Subsystem:Kitchen", "DesignDoc:docs/guide.md"
HEAT, BOIL, CELLAR = "Section:tea#heat", "Requirement:tea#heat/0123456789ab", "Subsystem:Cellar"
LINK = edge(GUIDE, Relation.LINKS_TO, KETTLE)
BELONGS = edge(KETTLE, Relation.BELONGS_TO, KITCHEN)


def told(ends: Iterable[tuple[GraphEdge, GraphNode]]) -> list[str]:
    return [f"{one.source} {one.relation} {one.target} | {end.id}" for one, end in ends]


class TestNodes:
    def test_each_is_found_by_its_label_and_key(self, kitchen: Store) -> None:
        for one in NODES:
            assert kitchen.node(one.label, one.key) == one
        assert kitchen.node(NodeLabel.SOURCE_FILE, "docs/guide.md") is None
        assert kitchen.node(NodeLabel.SOURCE_FILE, "SRC/kettle.py") is None

    def test_subsystems_are_found_in_whatever_case(self, kitchen: Store) -> None:
        assert kitchen.node(NodeLabel.SUBSYSTEM, "kITCHEN") == NODES[0]

    def test_pieces_are_nodes_that_nobody_has_to_put(self, kitchen: Store) -> None:
        piece = GraphNode(
            label=NodeLabel.CHUNK,
            key="docs/guide.md::1",
            name="How to boil",
            properties={"path": "docs/guide.md", "ordinal": 1, "line_start": 3, "line_end": 3},
        )
        assert kitchen.node(NodeLabel.CHUNK, "docs/guide.md::1") == piece
        assert [one.key for one in kitchen.nodes(NodeLabel.CHUNK)] == [
            "docs/guide.md::0", "docs/guide.md::1", *(f"src/kettle.py::{n}" for n in range(4)), "tests/test_kettle.py::0",
        ]  # fmt: skip

    @pytest.mark.parametrize("key", ["", "::", "docs/guide.md", "docs/guide.md::2", "docs/guide.md::01", "docs/guide.md::-1",
                                     "docs/guide.md::" + "9" * 400, "docs/guide.md::²", "docs/guide.md:1"])  # fmt: skip
    def test_what_is_no_piece_is_no_node(self, kitchen: Store, key: str) -> None:
        assert kitchen.node(NodeLabel.CHUNK, key) is None
        assert kitchen.edges(f"Chunk:{key}", out=False, limit=9) == []

    def test_all_of_a_kind_come_in_the_order_of_their_keys(self, kitchen: Store) -> None:
        assert [one.id for one in kitchen.nodes(NodeLabel.SUBSYSTEM)] == [CELLAR, KITCHEN]
        assert list(kitchen.nodes(NodeLabel.SPECIFICATION)) == []

    def test_terms_are_looked_for_in_keys_and_names(self, kitchen: Store) -> None:
        every = list(NodeLabel)
        assert [one.id for one in kitchen.found_nodes("KETTLE", every, 9)] == [
            KETTLE, "TestCase:tests/test_kettle.py", BOIL,
        ]  # fmt: skip
        assert [one.id for one in kitchen.found_nodes("heat", [NodeLabel.REQUIREMENT, NodeLabel.SECTION], 9)] == [
            BOIL,
            HEAT,
        ]
        assert kitchen.found_nodes("kettle", [NodeLabel.SOURCE_FILE], 0) == []

    def test_what_is_called_just_so_comes_first(self, empty: Store) -> None:
        with empty.writing() as writing:
            writing.replace_graph(
                [node(f"Section:a#{n}", name) for n, name in enumerate(["Heating", "Preheat", "HEAT"])], []
            )
        assert [one.name for one in empty.found_nodes("heat", [NodeLabel.SECTION], 2)] == ["HEAT", "Heating"]

    @pytest.mark.parametrize("term", ["%", "_", "k%e", "\\", "'", '"', "*", "[a-z]", "\0", "\ud800"])
    def test_wildcards_are_plain(self, kitchen: Store, term: str) -> None:
        assert kitchen.found_nodes(term, [NodeLabel.SUBSYSTEM, NodeLabel.SOURCE_FILE], 9) == []
        with kitchen.writing() as writing:
            writing.replace_graph([node(f"SourceFile:a{term}b"), node("SourceFile:ab")], [])
        assert [one.key for one in kitchen.found_nodes(term, [NodeLabel.SOURCE_FILE], 9)] == [f"a{term}b"]


class TestEdges:
    def test_those_that_begin_at_a_node(self, kitchen: Store) -> None:
        assert told(kitchen.edges(KETTLE, out=True, limit=4)) == [
            f"{KETTLE} BELONGS_TO {KITCHEN} | {KITCHEN}",
            f"{KETTLE} CITES {BOIL} | {BOIL}",
            f"{KETTLE} HAS_CHUNK Chunk:src/kettle.py::0 | Chunk:src/kettle.py::0",
            f"{KETTLE} HAS_CHUNK Chunk:src/kettle.py::1 | Chunk:src/kettle.py::1",
        ]
        assert len(kitchen.edges(KETTLE, out=True, limit=99)) == 6
        assert len(kitchen.edges(KETTLE, out=True, limit=1)) == 1
        ((_, _), (cites, _)) = kitchen.edges(KETTLE, out=True, limit=2)
        assert cites == EDGES[1]

    def test_those_that_end_at_a_node(self, kitchen: Store) -> None:
        assert told(kitchen.edges(KITCHEN, out=False, limit=9)) == [f"{KETTLE} BELONGS_TO {KITCHEN} | {KETTLE}"]
        assert told(kitchen.edges("Chunk:src/kettle.py::3", out=False, limit=9)) == [
            f"{KETTLE} HAS_CHUNK Chunk:src/kettle.py::3 | {KETTLE}"
        ]
        assert kitchen.edges("Chunk:src/kettle.py::3", out=True, limit=9) == []

    @pytest.mark.parametrize("id", ["", "nothing", "Nothing:a", "SourceFile:", "Subsystem:\ud800\0", ":", "Chunk:a"])
    def test_of_nothing_there_are_none(self, kitchen: Store, id: str) -> None:
        for out in (True, False):
            assert kitchen.edges(id, out=out, limit=9) == []
        assert (kitchen.neighbours([id]), kitchen.around(id, 3)) == ({id: []}, [])

    def test_of_several_nodes_in_both_directions_without_pieces(self, kitchen: Store) -> None:
        found = kitchen.neighbours([KITCHEN, KETTLE])
        assert {id: told(ends) for id, ends in found.items()} == {
            KITCHEN: [f"{KITCHEN} DEPENDS_ON {CELLAR} | {CELLAR}", f"{KETTLE} BELONGS_TO {KITCHEN} | {KETTLE}"],
            KETTLE: [
                f"{KETTLE} BELONGS_TO {KITCHEN} | {KITCHEN}",
                f"{KETTLE} CITES {BOIL} | {BOIL}",
                f"{GUIDE} LINKS_TO {KETTLE} | {GUIDE}",
            ],
        }

    def test_an_edge_to_nothing_is_left_out(self, empty: Store) -> None:
        with empty.writing() as writing:
            far = edge("SourceFile:a", Relation.LINKS_TO, "SourceFile:far")
            odd = edge("SourceFile:a", Relation.LINKS_TO, "nothing")
            piece = edge("SourceFile:a", Relation.HAS_CHUNK, "Chunk:a::0")
            writing.replace_graph([node("SourceFile:a"), node("Chunk:a::0")], [far, odd, piece])
        assert empty.edges("SourceFile:a", out=True, limit=9) == []

    def test_nodes_from_which_none_begin(self, kitchen: Store) -> None:
        labels = [NodeLabel.DESIGN_DOC, NodeLabel.SOURCE_FILE, NodeLabel.TEST_CASE, NodeLabel.CHUNK]
        found = kitchen.isolated(labels, [Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES])
        assert [one.id for one in found] == ["TestCase:tests/test_kettle.py", GUIDE]
        assert [one.id for one in kitchen.isolated([NodeLabel.DESIGN_DOC], [Relation.LINKS_TO])] == []
        assert list(kitchen.isolated([], [])) == []


class TestAround:
    def test_each_node_comes_once_with_a_shortest_way(self, kitchen: Store) -> None:
        found = {hop.node.id: list(hop.path) for hop in kitchen.around(KITCHEN, 2)}
        assert found == {
            KETTLE: [BELONGS],
            CELLAR: [EDGES[4]],
            GUIDE: [BELONGS, LINK],
            BOIL: [BELONGS, EDGES[1]],
        }
        assert [hop.node.id for hop in kitchen.around(KITCHEN, 1)] == [CELLAR, KETTLE]
        assert kitchen.around(KITCHEN, 0) == []

    def test_rings_end(self, empty: Store) -> None:
        with empty.writing() as writing:
            names = [f"Subsystem:{n}" for n in range(5)]
            ring = [edge(a, Relation.DEPENDS_ON, b) for a, b in zip(names, [*names[1:], names[0]], strict=True)]
            writing.replace_graph(map(node, names), [*ring, edge(names[0], Relation.DEPENDS_ON, names[0])])
        found = [(hop.node.key, len(hop.path)) for hop in empty.around("Subsystem:0", 99)]
        assert found == [("1", 1), ("4", 1), ("2", 2), ("3", 2)]


class TestReplacing:
    def test_what_is_no_more_is_gone_and_what_changed_is_another(self, kitchen: Store) -> None:
        with kitchen.writing() as writing:
            nodes = [node(KITCHEN, "Scullery", owner="x"), node(KETTLE), node("SourceFile:new")]
            belongs = edge(KETTLE, Relation.BELONGS_TO, KITCHEN, since=1)
            writing.replace_graph(nodes, [belongs, edge("SourceFile:new", Relation.LINKS_TO, KETTLE)])
        assert kitchen.node(NodeLabel.SUBSYSTEM, "kitchen") == nodes[0]
        assert [one.id for label in NodeLabel if label is not NodeLabel.CHUNK for one in kitchen.nodes(label)] == [
            KITCHEN, "SourceFile:new", KETTLE,
        ]  # fmt: skip
        assert kitchen.neighbours([KETTLE])[KETTLE][0] == (belongs, nodes[0])
        assert [one.key for one in kitchen.found_nodes("SCULL", [NodeLabel.SUBSYSTEM], 9)] == ["Kitchen"]

    def test_the_same_graph_changes_nothing(self, kitchen: Store) -> None:
        before = kitchen.revision
        with kitchen.writing() as writing:
            writing.replace_graph(reversed(NODES), reversed(EDGES))
        assert kitchen.revision == before

    def test_properties_of_all_kinds(self, empty: Store) -> None:
        odd = node("SourceFile:a", "\ud800", text="\udcff\0", list=[1, 2.5, None, True], deep={"a": {"b": []}})
        with empty.writing() as writing:
            writing.replace_graph([odd], [])
        assert empty.node(NodeLabel.SOURCE_FILE, "a") == odd
