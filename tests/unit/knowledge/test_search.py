from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import IngestRule, ProfileName, SearchSection, StoreSection, WeightsSection
from duvet.errors import DuvetError
from duvet.knowledge.index import SharedVectors
from duvet.knowledge.search import PROFILES, SearchEngine, make_editor_uri_formatter, open_engine
from duvet.knowledge.search_query import SearchRequest, SearchResponse, parse_search_request
from duvet.queries.embeddings import DummyEmbedder, Embedder
from duvet.store.location import KnowledgeSettings, open_store
from duvet.store.records import SPACE_KEY, Chunk, FileKind, GraphNode, IngestedFile, Relation
from duvet.store.sqlite import Store
from tests.unit.knowledge.stored_project import DAY, NOW, format_json, plain
from tests.unit.queries.query_projects import embedder
from tests.unit.store.store_files import edge, make_ingested_file, node, symbol

BOIL = "def boil(water):\n    return heat(water)\nclass Spout:\n    def pourSlowly(self):\n"
GUIDE = "# The kettle\nA kettle boils water; fill it before you switch it on.\n"
SYMBOLS = (symbol("boil", "function", 1, 2), symbol("Spout", "class", 3, 4), symbol("Spout.pourSlowly", "method", 4, 4))
DOC: dict[str, Any] = {"kind": FileKind.DOC, "namespace": "docs"}
KETTLE: dict[str, Any] = {"subsystem": "Kettle"}
CODE: dict[str, Any] = {"symbols": SYMBOLS, "criticality": "high", "namespace": "kettle", **KETTLE}
STEEP, CHECK = "def steep(leaves):\n    wait(minutes=3)\n", "def test_boil():\n    assert boil(1) == 100\n"
TEST: dict[str, Any] = {"kind": FileKind.TEST, "namespace": "tests"}
FILES = (
    make_ingested_file("docs/kettle.md", GUIDE, git_timestamp=NOW - 40 * DAY, **DOC, **KETTLE),
    make_ingested_file("docs/notes.txt", "Old notes on porcelain.\nNothing about anything.\n", tags=("Attic",), **DOC),
    make_ingested_file("src/kettle/boil.py", BOIL, git_timestamp=NOW - 2 * DAY, **CODE),
    make_ingested_file("src/tea/leaves.py", STEEP, subsystem="Tea", namespace="tea", git_timestamp=NOW - 10 * DAY),
    make_ingested_file("tests/test_boil.py", CHECK, git_timestamp=NOW, **TEST, **KETTLE),
)
MODEL = embedder()
ALONE = "searched by words only: "
BOIL_PY, GUIDE_MD, TEST_PY = "src/kettle/boil.py::0", "docs/kettle.md::0", "tests/test_boil.py::0"
LEAVES_PY, NOTES_TXT = "src/tea/leaves.py::0", "docs/notes.txt::0"


def requirement(key: str, text: str) -> GraphNode:
    return node(f"Requirement:{key}", text, text=text, level="MUST", status="needs tests", target=key.partition("/")[0])


HEAT, POUR = "spec#heat/3b42c44e1122", "spec#pour/99aabbccddee"
NODES = (
    *(GraphNode(label=one.artifact.label, key=one.artifact.path) for one in FILES),
    node("Subsystem:Kettle", criticality="high"),
    node("Subsystem:Tea"),
    requirement(HEAT, "The kettle MUST boil."),
    requirement(POUR, "The kettle MUST pour slowly."),
)
BOIL_NODE, KETTLE_NODE = "SourceFile:src/kettle/boil.py", "Subsystem:Kettle"
EDGES = (
    edge("DesignDoc:docs/kettle.md", Relation.DESCRIBES, KETTLE_NODE),
    edge(BOIL_NODE, Relation.BELONGS_TO, KETTLE_NODE),
    edge("SourceFile:src/tea/leaves.py", Relation.BELONGS_TO, "Subsystem:Tea"),
    edge("TestCase:tests/test_boil.py", Relation.VALIDATES, KETTLE_NODE),
    edge("Subsystem:Tea", Relation.DEPENDS_ON, KETTLE_NODE),
    edge(BOIL_NODE, Relation.CITES, f"Requirement:{HEAT}", kinds=["implementation"], lines=[1]),
    edge(BOIL_NODE, Relation.CITES, f"Requirement:{POUR}", kinds=["todo"], lines=[4]),
)


def filled(folder: Path, embedder: Embedder | None = None, files: tuple[IngestedFile, ...] = FILES) -> Store:
    """Return a store with these files, with vectors if there is a model."""
    store = open_store(str(folder / "store.db"), create=True)
    texts = [(one, [one.text[piece.start : piece.end] for piece in one.pieces]) for one in files]
    space = embedder.fitted([text for _, some in texts for text in some]) if embedder else None
    with store.writing() as writing:
        for one, pieces in texts:
            writing.put(replace(one, vectors=space.rows(pieces)) if space else one)
        writing.replace_graph(NODES, EDGES)
        if space:
            writing.keep(SPACE_KEY, space.data)
    return store


def engine(store: Store, embedder: Embedder | None = None, editor_uri: str | None = None) -> SearchEngine:
    return SearchEngine(store, embedder, editor_uri, "/home/me/my tea", now=lambda: NOW)


def ask(engine: SearchEngine, query: str, **more: Any) -> SearchResponse:
    return engine.search(parse_search_request({"query": query, **more}))


def ids(response: SearchResponse) -> list[str]:
    return [result.chunk.chunk_id for result in response.results]


def find_ids(engine: SearchEngine, query: str, **more: Any) -> list[str]:
    return ids(ask(engine, query, **more))


@pytest.fixture
def words(tmp_path: Path) -> Iterator[SearchEngine]:
    with closing(filled(tmp_path)) as store:
        yield engine(store)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Store]:
    with closing(filled(tmp_path / "with", MODEL)) as store:
        yield store


@pytest.fixture
def both(stored: Store) -> SearchEngine:
    return engine(stored, MODEL)


def test_a_search_answers_with_all_fields(tmp_path: Path, snapshot: Snapshot) -> None:
    ##= man/spec/knowledge.md#search
    ##% Unless `include_graph` is false, each result of `km-search` MUST list the requirements that its file cites.
    with closing(filled(tmp_path)) as store:
        search = engine(store, None, "vscode://file/{abs_path}:{line_start}")
        filters = {"tags": [], "subsystems": ["kettle"]}
        first, second = (ask(search, "pour slowly", filters=filters, include_graph=graph) for graph in (True, False))
    request_id = first.metadata.request_id
    assert len(request_id) == 32 and request_id != second.metadata.request_id
    assert ([one.graph_context for one in second.results], second.metadata.graph_context_included) == ([None], False)
    whole = replace(first, metadata=replace(first.metadata, request_id=""))
    snapshot.assert_match(format_json(whole), "knowledge/km-search.json")


def test_a_search_sees_the_last_run(stored: Store) -> None:
    search = engine(stored, MODEL)
    assert NOTES_TXT in find_ids(search, "porcelain")
    space = MODEL.space(stored.kept("space") or b"")
    assert space is not None
    text, vectors = "# Cups\nCups are made of porcelain.\n", space.rows(["cups"])
    cups = make_ingested_file("docs/cups.md", text, vectors=vectors, **DOC)
    with stored.writing() as writing:
        writing.remove("docs/notes.txt")
        writing.put(cups)
    assert find_ids(search, "porcelain")[0] == "docs/cups.md::0"
    assert NOTES_TXT not in find_ids(search, "porcelain")
    with stored.writing() as writing:
        writing.put(replace(cups, vectors=b""))
    answer = ask(search, "cups")
    assert answer.metadata.warnings == ("some chunks have no vectors and are found only by their words",)
    assert "docs/cups.md::0" in ids(answer)


class OvertakenStore:
    """A store that another process changes right after chunks are first read."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._is_new = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def chunks(self, numbers: Sequence[int]) -> Sequence[Chunk]:
        found = self._store.chunks(numbers)
        if not self._is_new:
            self._is_new = True
            with closing(open_store(str(self._folder / "store.db"))) as other, other.writing() as writing:
                writing.remove("docs/notes.txt")
                writing.put(make_ingested_file("docs/cups.md", "Cups are made\nof porcelain.\n", kind=FileKind.DOC))
                writing.replace_graph(NODES, EDGES)
        return found


def test_one_answer_is_of_one_run(tmp_path: Path) -> None:
    with closing(filled(tmp_path)) as store:
        search = engine(cast(Store, OvertakenStore(store, tmp_path)))
        assert [find_ids(search, "porcelain") for _ in range(2)] == [[NOTES_TXT], ["docs/cups.md::0"]]


def test_long_lists_in_the_graph_context_are_cut(tmp_path: Path) -> None:
    with closing(filled(tmp_path)) as store:
        many = [node(f"Requirement:spec#a/{number:012}", text="It MUST.") for number in range(30)]
        leaves = "SourceFile:src/tea/leaves.py"
        cites = [edge(leaves, Relation.CITES, one.id, kinds=["test"], lines=[line]) for line, one in enumerate(many, 1)]
        with store.writing() as writing:
            writing.replace_graph([*NODES, *many], cites)
        (result,) = (answer := ask(engine(store), "steep leaves")).results
    assert result.graph_context is not None
    assert [one.id[-2:] for one in result.graph_context.requirements] == [f"{number:02}" for number in range(10)]
    assert result.scoring.signals and result.scoring.signals.relationship_count == 30
    limits = "at most 10 relationships, 10 related files and 10 requirements"
    assert answer.metadata.warnings[1:] == (f"each result shows {limits}; call km-graph-node for the rest",)


def test_filters_restrict_the_results(words: SearchEngine, both: SearchEngine) -> None:
    for name, values, expected in [
        ("artifact_types", ["DOC"], {GUIDE_MD}),
        ("subsystems", ["tea"], set()),
        ("namespaces", ["kettle", "tests"], {BOIL_PY, TEST_PY}),
        ("tags", ["attic"], set()),
        ("symbols", ["Boil"], {BOIL_PY}),
        ("symbol_kinds", ["function"], {BOIL_PY}),
        ("symbol_languages", ["go"], set()),
    ]:
        filters = {name: values}
        assert {*find_ids(words, "boil water", filters=filters)} == expected
        answer = ask(both, "boil water", filters=filters)
        assert expected <= {*ids(answer)}
        applied = [one.lower() for one in values] if name == "artifact_types" else values
        assert plain(answer.metadata)["filters_applied"] == {name: applied}
    assert set(find_ids(both, "boil", filters={"subsystems": ["TEA"]})) <= {LEAVES_PY}
    recent = ask(words, "boil water porcelain", filters={"max_age_days": 3})
    assert {*ids(recent)} == {BOIL_PY, TEST_PY}
    assert recent.metadata.warnings[1:] == ("recency filter skipped results lacking timestamps",)


def test_a_filter_for_symbols_needs_symbols(words: SearchEngine, tmp_path: Path) -> None:
    with closing(filled(tmp_path / "without", files=tuple(replace(one, symbols=()) for one in FILES))) as store:
        for filters in ({"symbols": ["boil"]}, {"symbol_kinds": ["class"]}, {"symbol_languages": ["go"]}):
            assert len(ask(words, "boil", filters=filters).metadata.warnings) == 1
            answer = ask(engine(store), "boil", filters=filters)
            assert answer.results == ()
            warning = answer.metadata.warnings[1]
            assert "extra `symbols`" in warning and "`ingest.symbols`" in warning
        assert len(ask(engine(store), "boil").metadata.warnings) == 1


def test_results_are_ranked_by_words_and_vectors_or_by_vectors_alone(both: SearchEngine, words: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST rank chunks by their words and their vectors or, with `sort_by_vector`, by their vectors alone.
    answer = ask(both, "how to fill a kettle with tea water")
    assert ids(answer)[0] == GUIDE_MD
    assert answer.metadata.scoring_mode == answer.results[0].scoring.mode == "hybrid"
    assert answer.metadata.hybrid_weights == {"vector": 0.35, "lexical": 0.65}
    assert answer.metadata.warnings == ()
    for scoring in (one.scoring for one in answer.results):
        weighted = scoring.weighted_vector_score + scoring.weighted_lexical_score
        assert 0 <= scoring.adjusted_score - weighted < 0.03 and 0 <= scoring.vector_score <= 1
    scores = [result.chunk.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    answer = ask(both, "switch on", sort_by_vector=True, limit=3)
    scores = [result.scoring.vector_score for result in answer.results]
    assert scores == sorted(scores, reverse=True) == [result.chunk.score for result in answer.results]
    warnings = ask(words, "boil", sort_by_vector=True).metadata.warnings
    assert warnings[1:] == ("sort_by_vector was ignored, because the search used no vectors",)


STAND_INS = "the index has dummy vectors, which carry no meaning"


def test_a_search_without_usable_vectors_and_with_dummies(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##% Without usable vectors, `km-search` MUST search by words alone and give the reason.
    different = "the vectors are from a different model; run `duvet ingest` to compute them again"
    cases: list[tuple[Embedder | None, Embedder | None, str, str]] = [
        (MODEL, None, "lexical", f"{ALONE}vectors are switched off, or the extra `semantic` is missing or broken"),
        (None, MODEL, "lexical", f"{ALONE}the index has no vectors"),
        (MODEL, DummyEmbedder(), "lexical", f"{ALONE}{different}"),
        *((DummyEmbedder(), model, "hybrid", STAND_INS) for model in (MODEL, DummyEmbedder(), None)),
    ]
    for number, (stored_with, model, mode, warning) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        with closing(filled(tmp_path / str(number), stored_with)) as store:
            answer = engine(store, model).search(SearchRequest(query=GUIDE))
        assert (answer.metadata.warnings, answer.metadata.scoring_mode) == ((warning,), mode)
        assert (ids(answer)[0], answer.results[0].scoring.vector_score) == (GUIDE_MD, float(mode == "hybrid"))


SPOUT = ("src/kettle/boil.py::1", "a.py::0", "b.py::0")
NAMES = {
    "boil": (BOIL_PY,),
    **dict.fromkeys(("pourSlowly", "pour_slowly", "Spout.pourSlowly", "Spout::pourSlowly()"), SPOUT),
    **dict.fromkeys(("leaves", "what is in ./src/tea/leaves.py?", "leaves.py:3", "src\\tea\\leaves.py"), (LEAVES_PY,)),
}


@pytest.mark.parametrize("model", [None, MODEL], ids=["words", "both"])
def test_named_files_and_symbols_come_first(model: Embedder | None, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST list the files and symbols that the query names first and, without vectors, the chunks with
    ##% all of its words before those with some of them.
    first_file = make_ingested_file("b.py", "Pour slowly, slowly, and slowly pour\n")
    files = (first_file, *FILES, make_ingested_file("a.py", "use(x.pour_slowly)\n"))
    with closing(filled(tmp_path, model, files)) as store:
        for query, expected in NAMES.items():
            answer = ask(engine(store, model), query)
            first, *others = ids(answer)[: len(expected)]
            assert (first, {*others}) == (expected[0], {*expected[1:]})
            assert all(one.scoring.lexical_score >= 0.5 for one in answer.results[: len(expected)])
            scores = [one.chunk.score for one in answer.results]
            assert scores == sorted(scores, reverse=True)


QUERIES = {
    # Chunks with every word come before those with some.
    "leaves wait": [LEAVES_PY],
    "porcelain leaves wait minutes": [LEAVES_PY, NOTES_TXT],
    # Very common words are ignored.
    "the porcelain": [NOTES_TXT],
    "about it before": [GUIDE_MD, NOTES_TXT],
    "yourselves": [],
    # A query has no syntax.
    'porcelain" OR "leaves': [LEAVES_PY, NOTES_TXT],
    **{query: [] for query in ("***", '"', "\0", "\ud800", "NEAR(", "a" * 1000, "title:", "!" * 2_000_000, "porcel*")},
}


def test_queries_find_chunks(words: SearchEngine, both: SearchEngine) -> None:
    for query, expected in QUERIES.items():
        assert find_ids(words, query) == expected
        assert all(one.scoring.vector_score <= 1 for one in ask(both, query).results)
    answer = ask(words, f"porcelain {' ' * 2000}{'kettle ' * 150_000}", limit=99)
    assert (ids(answer), len(answer.query)) == ([NOTES_TXT], 2000)
    assert sorted(answer.metadata.warnings[:2]) == [
        "at most 25 results are returned",
        "only the first 2,000 characters and 64 words of the query were used",
    ]


def test_weights_order_equally_good_results(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST use weights and votes only to reorder results with nearly equal scores.
    same = [
        make_ingested_file(f"src/{name}.py", BOIL, subsystem=subsystem, criticality=criticality)
        for name, subsystem, criticality in (("a", "", ""), ("b", "Other", "low"), ("c", "Spout", "critical"))
    ]
    better = make_ingested_file("z.md", "spout spout spout\nspout\n", kind=FileKind.DOC, title="Spout")
    rest = [make_ingested_file(f"rest/{number}.md", "no water\n") for number in range(9)]
    with closing(filled(tmp_path, None, (*same, better, *rest))) as store:
        assert find_ids(engine(store), "spout") == ["z.md::0", "src/c.py::1", "src/b.py::1", "src/a.py::1"]


def test_profiles_of_weights(stored: Store) -> None:
    assert [name.value for name in ProfileName] == [*PROFILES]
    analysis = SearchSection(profile=ProfileName.ANALYSIS, weights=WeightsSection(subsystem=1.0, support=0.0))
    for search, profile, weights in (
        (SearchSection(), "default", (0.28, 0.05, 0.09, 0.12)),
        (analysis, "analysis+overrides", (1.0, 0.10, 0.0, 0.18)),
    ):
        settings = KnowledgeSettings("", IngestRule(), StoreSection(), search)
        metadata = ask(open_engine(stored, settings, None, SharedVectors()), "boil").metadata
        assert metadata.weight_profile == profile
        assert metadata.weights == dict(zip(WeightsSection.__struct_fields__, weights, strict=True))


POUR_METHOD = symbol("Spout.pour<T>", "method", 4, 9)


def test_editor_uris() -> None:
    uris = {
        "vscode://file/{abs_path}:{line_start}": "vscode://file//home/me/my%20tea/src/a%23b%20c.py:4",
        "x://{path}?from={line_start}&to={line_end}#{name}": "x://src/a%23b%20c.py?from=4&to=9#Spout.pour%3CT%3E",
        "x://{{{path}}}": "x://{src/a%23b%20c.py}",
        "x://nothing": "x://nothing",
    }
    for template, uri in uris.items():
        made = make_editor_uri_formatter(template, "/home/me/my tea/")
        assert made and made("src/a#b c.py", POUR_METHOD) == uri
    assert make_editor_uri_formatter(None, "/") is make_editor_uri_formatter("", "/") is None
    for template, reason in {
        "x://{file}": "unknown field {file}",
        "x://{}": "unknown field {}",
        "x://{path.__class__}": "unknown field {path.__class__}",
        "x://{path!r}": "{path} has a conversion or a format",
        "x://{line_start:>100000000}": "{line_start} has a conversion or a format",
        "x://{path": "expected '}' before end of string",
    }.items():
        with pytest.raises(DuvetError) as raised:
            make_editor_uri_formatter(template, "/")
        assert raised.value.message == f'invalid editor URI template "{template}": {reason}'
