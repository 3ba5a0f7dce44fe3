from collections.abc import Iterable

from msgspec.structs import replace

from duvet.store import records
from duvet.store.records import ChunkFilters, FileKind, NodeLabel, Relation
from duvet.store.sqlite import Store
from tests.unit.store.store_files import (
    EDGES,
    KETTLE,
    KITCHEN,
    NODES,
    edge,
    frequencies,
    make_ingested_file,
    node,
    symbol,
)

CODE, SUBSYSTEM, GUIDE = "SourceFile:src/kettle.py", "Subsystem:Kitchen", "DesignDoc:docs/guide.md"
HEAT, BOIL, CELLAR = "Section:tea#heat", "Requirement:tea#heat/0123456789ab", "Subsystem:Cellar"
LINK = edge(GUIDE, Relation.LINKS_TO, CODE)
BELONGS = edge(CODE, Relation.BELONGS_TO, SUBSYSTEM)


def texts(store: Store, word: str) -> list[str]:
    hits = store.find_by_words([word], ChunkFilters(), 9, every=True)
    return [one.text for one in store.chunks([number for number, _ in hits])]


def test_files_are_ordered_by_path_and_chunks_as_requested(kitchen: Store) -> None:
    wanted = {one.artifact.path: one.artifact for one in sorted(KITCHEN, key=lambda one: one.artifact.path)}
    assert list(kitchen.artifacts().items()) == list(wanted.items())
    numbers = kitchen.chunk_numbers("src/kettle.py")
    found = kitchen.chunks([numbers[2], 999, *kitchen.chunk_numbers("docs/guide.md"), numbers[0]])
    assert [(one.id, one.text, one.piece.title) for one in found] == [
        ("src/kettle.py::2", "class Spout:\n    def pourSlowly(self):\n", ""),
        ("docs/guide.md::0", "# Kettles\n\n", "How to boil"),
        ("docs/guide.md::1", "A kettle boils water. Boiling water is hot.\n", "How to boil"),
        ("src/kettle.py::0", "def boil(water):\n    return heat(water)\n", ""),
    ]
    assert found[0].piece == records.TextPiece(start=42, end=81, line_start=5, line_end=6)
    assert found[0].artifact == KITCHEN[0].artifact
    method = symbol("Spout.pourSlowly", "method", 6, 7)
    symbols = [one.symbols for one in kitchen.chunks(numbers)]
    assert symbols == [(symbol("boil", "function", 1, 2),), (), (method,), (method,)]


def test_a_new_store_is_empty_and_stores_odd_records(empty: Store) -> None:
    assert (empty.artifacts(), empty.chunk_total(), list(empty.segments())) == ({}, 0, [])
    assert (empty.chunks([1, 2]), empty.chunk_numbers("a.py"), empty.lacks_times()) == ([], range(0), False)
    assert (empty.kept("space"), empty.runs(), empty.reports("coverage")) == (None, [], [])
    odd = replace(symbol("Spout.pour", "method", 1, 1), name="<pour>")
    empty_file = records.Artifact(path="b", kind=FileKind.OTHER, chunk_count=9, skipped="empty")
    a_node = node("SourceFile:a", "\ud800", text="\udcff\0", list=[1, 2.5, None, True], deep={"a": {"b": []}})
    with empty.writing() as writing:
        for text in ("first\n", "second\n", "third\n"):
            writing.put(make_ingested_file("a.py", text, symbols=(odd,)))
        writing.put(records.IngestedFile(artifact=empty_file))
        writing.replace_graph([a_node], [])
    assert empty.artifacts()["b"] == replace(empty_file, chunk_count=0)
    assert empty.chunks(empty.chunk_numbers("a.py"))[0].symbols == (odd,)
    assert empty.node(NodeLabel.SOURCE_FILE, "a") == a_node
    # A file that comes several times in a run is there once.
    assert [texts(empty, word) for word in ("first", "second", "third")] == [[], [], ["third\n"]]
    # Many similar texts stay apart.
    with empty.writing() as writing:
        for number in range(150):
            writing.put(make_ingested_file(f"src/{number}.py", f"{KETTLE * 30}# {number}\n"))
    for number in (0, 127, 128, 149):
        pieces = empty.chunks(empty.chunk_numbers(f"src/{number}.py"))
        assert "".join(piece.text for piece in pieces) == f"{KETTLE * 30}# {number}\n"
    with empty.writing() as writing:
        writing.remove("src/149.py")
    assert frequencies(empty, "149", "148") == {"149": 0, "148": 2}


def test_a_file_is_replaced_and_removed(kitchen: Store) -> None:
    with kitchen.writing() as writing:
        writing.put(make_ingested_file("src/kettle.py", "whistle\n", kind=FileKind.TEST))
    assert kitchen.artifacts()["src/kettle.py"].kind is FileKind.TEST
    assert [one.text for one in kitchen.chunks(kitchen.chunk_numbers("src/kettle.py"))] == ["whistle\n"]
    assert (kitchen.chunk_total(), texts(kitchen, "pour"), texts(kitchen, "whistle")) == (4, [], ["whistle\n"])
    assert kitchen.allowed(ChunkFilters(symbol_kinds=("method",))) == []
    with kitchen.writing() as writing:
        for path in ("src/kettle.py", "src/kettle.py", "nowhere"):
            writing.remove(path)
    assert sorted(kitchen.artifacts()) == ["docs/guide.md", "tests/test_kettle.py"]
    words = texts(kitchen, "whistle"), frequencies(kitchen, "whistle")
    assert (kitchen.chunk_total(), *words) == (3, [], {"whistle": 0})


def test_a_touched_file_keeps_its_chunks_and_vectors_belong_to_them(kitchen: Store) -> None:
    code, doc = tuple(kitchen.chunk_numbers("src/kettle.py")), tuple(kitchen.chunk_numbers("docs/guide.md"))
    assert list(kitchen.segments()) == [records.VectorSegment(code, b"abcd"), records.VectorSegment(doc, b"xy")]
    with kitchen.writing() as writing:
        writing.replace_vectors("src/kettle.py", b"efgh")
        writing.replace_vectors("docs/guide.md", b"")
        writing.replace_vectors("nowhere", b"zz")
    assert list(kitchen.segments()) == [records.VectorSegment(code, b"efgh")]
    assert kitchen.lacks_times()
    numbers = kitchen.chunk_numbers("src/kettle.py")
    other = replace(KITCHEN[0].artifact, subsystem="Scullery", tags=("Cold",))
    with kitchen.writing() as writing:
        writing.touch(other)
        writing.remove("tests/test_kettle.py")
        writing.put(records.IngestedFile(artifact=records.Artifact(path="empty", kind=FileKind.OTHER, skipped="empty")))
    assert kitchen.artifacts()["src/kettle.py"] == other
    assert kitchen.chunk_numbers("src/kettle.py") == numbers
    assert kitchen.allowed(ChunkFilters(tags=("cold",))) == list(numbers)
    assert kitchen.allowed(ChunkFilters(tags=("hot",))) == []
    assert not kitchen.lacks_times()
    with kitchen.writing() as writing:
        writing.touch(replace(other, git_timestamp=None))
    assert kitchen.lacks_times()


def format_edges(ends: Iterable[tuple[records.GraphEdge, records.GraphNode]]) -> list[str]:
    return [f"{one.source} {one.relation} {one.target} | {end.id}" for one, end in ends]


def test_nodes_are_found_by_label_and_key(kitchen: Store) -> None:
    assert [kitchen.node(one.label, one.key) for one in NODES] == [*NODES]
    assert kitchen.node(NodeLabel.SOURCE_FILE, "docs/guide.md") is None
    assert kitchen.node(NodeLabel.SOURCE_FILE, "SRC/kettle.py") is None
    assert kitchen.node(NodeLabel.SUBSYSTEM, "kITCHEN") == NODES[0]
    assert [one.id for one in kitchen.nodes(NodeLabel.SUBSYSTEM)] == [CELLAR, SUBSYSTEM]
    assert list(kitchen.nodes(NodeLabel.SPECIFICATION)) == []
    # Chunks are nodes.
    place = {"path": "docs/guide.md", "ordinal": 1, "line_start": 3, "line_end": 3}
    assert kitchen.node(NodeLabel.CHUNK, "docs/guide.md::1") == node("Chunk:docs/guide.md::1", "How to boil", **place)
    keys = [one.key for one in kitchen.nodes(NodeLabel.CHUNK)]
    code = [f"src/kettle.py::{number}" for number in range(4)]
    assert keys == ["docs/guide.md::0", "docs/guide.md::1", *code, "tests/test_kettle.py::0"]
    path = "docs/guide.md"
    for key in ("", "::", path, *(f"{path}{end}" for end in ("::2", "::01", "::-1", "::" + "9" * 400, "::²", ":1"))):
        assert kitchen.node(NodeLabel.CHUNK, key) is None
        assert kitchen.edges(f"Chunk:{key}", out=False, limit=9) == []


def test_terms_are_found_in_keys_and_names(kitchen: Store) -> None:
    def found(term: str, *labels: NodeLabel, limit: int = 9) -> list[str]:
        return [one.id for one in kitchen.find_nodes(term, labels, limit)]

    assert found("KETTLE", *NodeLabel) == [CODE, "TestCase:tests/test_kettle.py", BOIL]
    assert found("heat", NodeLabel.REQUIREMENT, NodeLabel.SECTION) == [BOIL, HEAT]
    assert found("kettle", NodeLabel.SOURCE_FILE, limit=0) == []
    wildcards = ("%", "_", "k%e", "\\", "'", '"', "*", "[a-z]", "\0", "\ud800")
    assert [found(term, NodeLabel.SUBSYSTEM, NodeLabel.SOURCE_FILE) for term in wildcards] == [[]] * 10
    with kitchen.writing() as writing:
        sections = enumerate(["Heating", "Preheat", "HEAT"])
        odd = [node(f"SourceFile:a{term}b") for term in wildcards]
        writing.replace_graph([*(node(f"Section:a#{number}", name) for number, name in sections), *odd], [])
    for term in wildcards[1:]:
        assert found(term, NodeLabel.SOURCE_FILE) == [f"SourceFile:a{term}b"]
    assert found("%", NodeLabel.SOURCE_FILE) == ["SourceFile:a%b", "SourceFile:ak%eb"]
    assert found("heat", NodeLabel.SECTION, limit=2) == ["Section:a#2", "Section:a#0"]


def test_edges_and_neighbours_of_a_node(kitchen: Store) -> None:
    begin = kitchen.edges(CODE, out=True, limit=99)
    chunks = [f"Chunk:src/kettle.py::{number}" for number in range(4)]
    assert format_edges(begin) == [
        f"{CODE} BELONGS_TO {SUBSYSTEM} | {SUBSYSTEM}",
        f"{CODE} CITES {BOIL} | {BOIL}",
        *(f"{CODE} HAS_CHUNK {chunk} | {chunk}" for chunk in chunks),
    ]
    assert begin[1][0] == EDGES[1]
    for limit in (1, 4):
        assert kitchen.edges(CODE, out=True, limit=limit) == begin[:limit]
    assert format_edges(kitchen.edges(SUBSYSTEM, out=False, limit=9)) == [f"{CODE} BELONGS_TO {SUBSYSTEM} | {CODE}"]
    assert format_edges(kitchen.edges(chunks[3], out=False, limit=9)) == [f"{CODE} HAS_CHUNK {chunks[3]} | {CODE}"]
    assert kitchen.edges(chunks[3], out=True, limit=9) == []
    for id in ("", "nothing", "Nothing:a", "SourceFile:", "Subsystem:\ud800\0", ":", "Chunk:a"):
        assert [kitchen.edges(id, out=out, limit=9) for out in (True, False)] == [[], []]
        assert (kitchen.neighbours([id]), kitchen.walk_from(id, 3)) == ({id: []}, [])
    found = kitchen.neighbours([SUBSYSTEM, CODE])
    assert {id: format_edges(ends) for id, ends in found.items()} == {
        SUBSYSTEM: [f"{SUBSYSTEM} DEPENDS_ON {CELLAR} | {CELLAR}", f"{CODE} BELONGS_TO {SUBSYSTEM} | {CODE}"],
        CODE: [*format_edges(begin[:2]), f"{GUIDE} LINKS_TO {CODE} | {GUIDE}"],
    }
    files = (NodeLabel.DESIGN_DOC, NodeLabel.SOURCE_FILE, NodeLabel.TEST_CASE, NodeLabel.CHUNK)
    owned = kitchen.find_isolated(files, [Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES])
    assert [one.id for one in owned] == ["TestCase:tests/test_kettle.py", GUIDE]
    assert list(kitchen.find_isolated(files[:1], [Relation.LINKS_TO])) == list(kitchen.find_isolated([], [])) == []
    with kitchen.writing() as writing:
        # Edges that lead to nothing are left out.
        far = edge(GUIDE, Relation.LINKS_TO, "SourceFile:far")
        odd = edge(GUIDE, Relation.LINKS_TO, "nothing")
        piece = edge(GUIDE, Relation.HAS_CHUNK, "Chunk:a::0")
        writing.replace_graph([node(GUIDE), node("Chunk:a::0")], [far, odd, piece])
    assert [end.label for _, end in kitchen.edges(GUIDE, out=True, limit=9)] == [NodeLabel.CHUNK] * 2


def test_each_node_around_comes_once_with_a_shortest_path(kitchen: Store) -> None:
    found = {hop.node.id: list(hop.path) for hop in kitchen.walk_from(SUBSYSTEM, 2)}
    assert found == {CODE: [BELONGS], CELLAR: [EDGES[4]], GUIDE: [BELONGS, LINK], BOIL: [BELONGS, EDGES[1]]}
    assert [hop.node.id for hop in kitchen.walk_from(SUBSYSTEM, 1)] == [CELLAR, CODE]
    assert kitchen.walk_from(SUBSYSTEM, 0) == []
    with kitchen.writing() as writing:
        names = [f"Subsystem:{n}" for n in range(5)]
        ring = [edge(a, Relation.DEPENDS_ON, b) for a, b in zip(names, [*names[1:], names[0]], strict=True)]
        writing.replace_graph(map(node, names), [*ring, edge(names[0], Relation.DEPENDS_ON, names[0])])
    circle = [(hop.node.key, len(hop.path)) for hop in kitchen.walk_from("Subsystem:0", 99)]
    assert circle == [("1", 1), ("4", 1), ("2", 2), ("3", 2)]


def test_a_new_graph_replaces_the_old_one(kitchen: Store) -> None:
    before = kitchen.revision
    with kitchen.writing() as writing:
        writing.replace_graph(reversed(NODES), reversed(EDGES))
    assert kitchen.revision == before
    with kitchen.writing() as writing:
        nodes = [node(SUBSYSTEM, "Scullery", owner="x"), node(CODE), node("SourceFile:new")]
        belongs = edge(CODE, Relation.BELONGS_TO, SUBSYSTEM, since=1)
        writing.replace_graph(nodes, [belongs, edge("SourceFile:new", Relation.LINKS_TO, CODE)])
    assert kitchen.node(NodeLabel.SUBSYSTEM, "kitchen") == nodes[0]
    ids = [one.id for label in NodeLabel if label is not NodeLabel.CHUNK for one in kitchen.nodes(label)]
    assert ids == [SUBSYSTEM, "SourceFile:new", CODE]
    assert kitchen.neighbours([CODE])[CODE][0] == (belongs, nodes[0])
    assert [one.key for one in kitchen.find_nodes("SCULL", [NodeLabel.SUBSYSTEM], 9)] == ["Kitchen"]
