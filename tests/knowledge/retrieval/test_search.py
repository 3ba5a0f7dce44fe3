"""Searches in everything"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from duvet.knowledge.retrieval.asking import asked_of
from duvet.knowledge.retrieval.engine import Engine
from duvet.knowledge.retrieval.records import Asked
from duvet.search.vectors.dummy import Dummy
from duvet.search.vectors.protocol import Embedder
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.records import Chunk, Kind, Relation
from tests.knowledge.retrieval.made import BOIL, DAY, EDGES, FILES, GUIDE, NODES, NOW, engine, filled, found, ids, plain
from tests.search.vectors.made import embedder
from tests.store.made import edge, node, taken

MODEL = embedder()
ALONE = "found by words alone: "
PIECE = "src/kettle/boil.py::1"
BOIL_PY, GUIDE_MD, TEST_PY = "src/kettle/boil.py::0", "docs/kettle.md::0", "tests/test_boil.py::0"


@pytest.fixture
def words(tmp_path: Path) -> Iterator[Engine]:
    """A search in a store without vectors."""
    store = filled(tmp_path)
    yield engine(store)
    store.close()


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Store]:
    """A store with vectors."""
    store = filled(tmp_path / "with", MODEL)
    yield store
    store.close()


@pytest.fixture
def both(stored: Store) -> Engine:
    return engine(stored, MODEL)


def test_the_whole_answer(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Each result MUST tell the requirements that its file cites, those that are cited in the lines of the piece first.
    store = filled(tmp_path)
    search = engine(store, None, "vscode://file/{abs_path}:{line_start}")
    response = search.search(asked_of({"query": "pour slowly", "filters": {"tags": [], "subsystems": ["kettle"]}}))
    store.close()
    request_id = response.metadata.request_id
    requirement = {"level": "MUST", "status": "needs tests"}
    symbol = {"language": "python", "line_end": 4}
    uri = "vscode://file//home/me/my%20tea/src/kettle/boil.py"
    context = {
        "primary_node": {
            "id": "SourceFile:src/kettle/boil.py",
            "labels": ["SourceFile"],
            "properties": {"path": "src/kettle/boil.py"},
        },
        "relationships": [
            {
                "type": "BELONGS_TO",
                "direction": "OUT",
                "target": {
                    "id": "Subsystem:Kettle",
                    "labels": ["Subsystem"],
                    "properties": {"name": "Kettle", "criticality": "high"},
                },
            }
        ],
        "neighbor_subsystems": ["Kettle"],
        "related_artifacts": [
            {"id": "DesignDoc:docs/kettle.md", "relationship": "DESCRIBES"},
            {"id": "TestCase:tests/test_boil.py", "relationship": "VALIDATES"},
        ],
        "requirements": [
            {
                "id": "99aabbccddee",
                "target": "spec#pour",
                "kinds": ["todo"],
                "text": "The kettle MUST pour slowly.",
                **requirement,
            },
            {
                "id": "3b42c44e1122",
                "target": "spec#heat",
                "kinds": ["implementation"],
                "text": "The kettle MUST boil.",
                **requirement,
            },
        ],
    }
    signals = {
        "lexical_score": 1.0,
        "weighted_vector_component": 0.0,
        "weighted_lexical_component": 1.0,
        "subsystem_affinity": 0.0,
        "relationship_count": 3,
        "supporting_bonus": 0.3,
        "coverage_missing": False,
        "coverage_ratio": 1.0,
        "criticality_score": 0.8,
        "subsystem_criticality": "high",
        "coverage_penalty": 0.0,
        "path_depth": 3,
        "freshness_days": 2.0,
    }
    assert plain(response) == {
        "status": "ok",
        "query": "pour slowly",
        "results": [
            {
                "chunk": {
                    "chunk_id": "src/kettle/boil.py::1",
                    "artifact_path": "src/kettle/boil.py",
                    "artifact_type": "code",
                    "subsystem": "Kettle",
                    "namespace": "kettle",
                    "tags": [],
                    "text": "class Spout:\n    def pourSlowly(self):\n",
                    "coverage_missing": False,
                    "score": 1.00819,
                    "subsystem_criticality": "high",
                    "coverage_ratio": 1.0,
                    "git_timestamp": NOW - 2 * DAY,
                    "symbols": [
                        {
                            "id": "src/kettle/boil.py::Spout",
                            "name": "Spout",
                            "qualified_name": "Spout",
                            "kind": "class",
                            "line_start": 3,
                            "editor_uri": f"{uri}:3",
                            **symbol,
                        },
                        {
                            "id": "src/kettle/boil.py::Spout.pourSlowly",
                            "name": "pourSlowly",
                            "qualified_name": "Spout.pourSlowly",
                            "kind": "method",
                            "line_start": 4,
                            "editor_uri": f"{uri}:4",
                            **symbol,
                        },
                    ],
                },
                "graph_context": context,
                "scoring": {
                    "vector_score": 0.0,
                    "lexical_score": 1.0,
                    "weighted_vector_score": 0.0,
                    "weighted_lexical_score": 1.0,
                    "adjusted_score": 1.00819,
                    "mode": "lexical",
                    "signals": signals,
                },
            }
        ],
        "metadata": {
            "result_count": 1,
            "graph_context_included": True,
            "warnings": [f"{ALONE}the extra `semantic` is not installed, or not wanted"],
            "scoring_mode": "lexical",
            "weight_profile": "default",
            "weights": {
                "subsystem": 0.28,
                "relationship": 0.05,
                "support": 0.09,
                "criticality": 0.12,
            },
            "hybrid_weights": {"vector": 0.0, "lexical": 1.0},
            "filters_applied": {"subsystems": ["kettle"]},
            "request_id": request_id,
        },
    }


def test_answers_have_an_id_of_their_own(words: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Each answer MUST have a `request_id` of its own.
    one, other = (words.search(Asked(query="boil")).metadata.request_id for _ in range(2))
    assert one != other
    assert len(one) == len(other) == 32


def test_without_the_graph(words: Engine) -> None:
    answer = words.search(Asked(query="boil water", include_graph=False))
    assert [result.graph_context for result in answer.results] == [None] * 3
    assert not answer.metadata.graph_context_included
    assert ids(answer) == found(words, "boil water")


def test_every_word_before_some(words: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% What holds every word of the query MUST come before what holds some, in the ranking by words.
    assert found(words, "leaves wait") == ["src/tea/leaves.py::0"]
    assert found(words, "water leaves wait minutes")[0] == "src/tea/leaves.py::0"
    assert {*found(words, "leaves porcelain")} == {"src/tea/leaves.py::0", "docs/notes.txt::0"}


NAMES = {
    "pourSlowly": [PIECE, "a.py::0", "b.py::0"],
    "pour_slowly": [PIECE, "a.py::0", "b.py::0"],
    "Spout.pourSlowly": [PIECE, "a.py::0", "b.py::0"],
    "Spout::pourSlowly()": [PIECE, "a.py::0", "b.py::0"],
    "leaves": ["src/tea/leaves.py::0"],
    "what is in ./src/tea/leaves.py?": ["src/tea/leaves.py::0"],
    "leaves.py:3": ["src/tea/leaves.py::0"],
    "src\\tea\\leaves.py": ["src/tea/leaves.py::0"],
}


@pytest.mark.parametrize("query", NAMES)
@pytest.mark.parametrize("model", [None, MODEL], ids=["words", "both"])
def test_names(query: str, model: Embedder | None, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Where the query is one name such as `parse_header_line` or `parseHeaderLine`, what holds that name MUST come before
    ##% what only holds its parts, or only means the same.
    files = (taken("b.py", "Pour slowly, slowly, and slowly pour\n"), *FILES, taken("a.py", "use(x.pour_slowly)\n"))
    store = filled(tmp_path, model, files)
    answer = engine(store, model).search(Asked(query=query))
    store.close()
    assert ids(answer)[: len(NAMES[query])] == NAMES[query]
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% What was found by words MUST have a `lexical_score`, in whatever form they stand there.
    assert all(one.scoring.lexical_score >= 0.5 for one in answer.results[: len(NAMES[query])])
    scores = [one.chunk.score for one in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_common_words(words: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Words that every text is full of MUST NOT count, unless the query has no others.
    assert found(words, "the porcelain") == ["docs/notes.txt::0"]
    assert found(words, "about it before") == [GUIDE_MD, "docs/notes.txt::0"]
    assert found(words, "yourselves") == []


@pytest.mark.parametrize("query", ["***", '"', "\0", "\ud800", "NEAR(", "a" * 1000, "title:", "!" * 2_000_000])
def test_nothing_fails(query: str, words: Engine, both: Engine) -> None:
    assert found(words, query) == []
    assert [result for result in both.search(Asked(query=query)).results if result.scoring.vector_score > 1] == []


def test_syntax_is_text(words: Engine) -> None:
    assert found(words, 'porcelain" OR "kettle') == found(words, "porcelain OR kettle")
    assert found(words, "porcel*") == []


def test_long_queries(words: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Of a query that is too long the beginning MUST count, and a warning MUST say so.
    answer = words.search(Asked(query=f"porcelain {' ' * 2000}{'kettle ' * 150_000}"))
    assert ids(answer) == ["docs/notes.txt::0"]
    assert len(answer.query) == 2000
    assert answer.metadata.warnings[0] == "only the first 2,000 characters and 64 words of the query count"
    assert (
        words.search(Asked(query="porcelain", limit=99)).metadata.warnings[0] == "no more than 25 results are answered"
    )


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
def test_filters(name: str, words: Engine, both: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Filters MUST leave out pieces before they are ranked, those that words find and those that vectors find.
    values, expected = FILTERED[name]
    assert {*found(words, "boil water", filters={name: values})} == {*expected}
    answer = both.search(asked_of({"query": "boil water", "filters": {name: values}}))
    assert {*expected} <= {*ids(answer)}
    told = [one.lower() for one in values] if name == "artifact_types" else values
    assert plain(answer.metadata)["filters_applied"] == {name: told}
    every = {"Kettle": 4, "tea": 1}
    assert len(ids(both.search(asked_of({"query": "boil", "filters": {"subsystems": ["TEA"]}})))) <= every["tea"]


@pytest.mark.parametrize(
    ("name", "value"), [("symbols", "boil"), ("symbol_kinds", "class"), ("symbol_languages", "go")]
)
def test_no_symbols_at_all(name: str, value: str, words: Engine, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Where a filter for symbols is given, and none were made out at all, a warning MUST say so, and what brings them.
    asked = asked_of({"query": "boil", "filters": {name: [value]}})
    assert len(words.search(asked).metadata.warnings) == 1
    store = filled(tmp_path / "without", files=tuple(replace(one, symbols=()) for one in FILES))
    answer = engine(store).search(asked)
    assert answer.results == ()
    assert "extra `symbols`" in answer.metadata.warnings[1] and "`ingest.symbols`" in answer.metadata.warnings[1]
    assert len(engine(store).search(Asked(query="boil")).metadata.warnings) == 1
    store.close()


def test_recent_files(words: Engine) -> None:
    answer = words.search(asked_of({"query": "boil water porcelain", "filters": {"max_age_days": 3}}))
    assert {*ids(answer)} == {BOIL_PY, TEST_PY}
    assert answer.metadata.warnings[1:] == ("recency filter skipped results lacking timestamps",)
    assert len(found(words, "boil water porcelain", filters={"updated_after": "2020-01-01"})) == 3


def test_words_and_vectors(both: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% What is found by words and by vectors MUST be ranked by the sum of its reciprocal ranks in both.
    answer = both.search(Asked(query="how to fill a kettle with tea water"))
    assert ids(answer)[0] == GUIDE_MD
    assert answer.metadata.scoring_mode == answer.results[0].scoring.mode == "hybrid"
    assert answer.metadata.hybrid_weights == {"vector": 0.5, "lexical": 0.5}
    assert answer.metadata.warnings == ()
    for result in answer.results:
        scoring = result.scoring
        sum_of_both = scoring.weighted_vector_score + scoring.weighted_lexical_score
        assert 0 <= scoring.adjusted_score - sum_of_both < 0.03
        assert 0 <= scoring.vector_score <= 1
    scores = [result.chunk.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_the_nearest_first(both: Engine, words: Engine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% With `sort_by_vector`, what is nearest MUST come first.
    answer = both.search(Asked(query="switch on", sort_by_vector=True, limit=3))
    scores = [result.scoring.vector_score for result in answer.results]
    assert scores == sorted(scores, reverse=True) == [result.chunk.score for result in answer.results]
    assert words.search(Asked(query="boil", sort_by_vector=True)).metadata.warnings[1:] == (
        "there are no vectors to sort by",
    )


def test_what_is_about_equal_is_ordered_by_what_is_known(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% The subsystem, the relationships, the documents and tests, and the criticality of a file MUST order what matches
    ##% about equally well, and no more.
    same = [
        taken(f"src/{name}.py", BOIL, subsystem=subsystem, criticality=criticality)
        for name, subsystem, criticality in (("a", "", ""), ("b", "Other", "low"), ("c", "Spout", "critical"))
    ]
    better = taken("z.md", "spout spout spout\nspout\n", kind=Kind.DOC, title="Spout")
    store = filled(tmp_path, None, (*same, better))
    assert found(engine(store), "spout") == ["z.md::0", "src/c.py::1", "src/b.py::1", "src/a.py::1"]
    store.close()


REASONS = {
    "the extra `semantic` is not installed, or not wanted": (MODEL, None, MODEL),
    "no vectors were made of what was taken in": (None, MODEL, None),
    "the vectors were made by another model; they have to be made again": (MODEL, Dummy(), MODEL),
}


@pytest.mark.parametrize("reason", REASONS)
def test_by_words_alone(reason: str, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% Where there are no vectors, or none that can be compared with, a search MUST find by words alone, and a warning
    ##% MUST say why.
    made_with, asked_with, _ = REASONS[reason]
    store = filled(tmp_path, made_with)
    answer = engine(store, asked_with).search(Asked(query="boil water"))
    store.close()
    assert answer.metadata.warnings == (ALONE + reason,)
    assert answer.metadata.scoring_mode == "lexical"
    assert ids(answer)[0] in (GUIDE_MD, BOIL_PY)


@pytest.mark.parametrize("model", [MODEL, Dummy(), None])
def test_stand_ins(model: Embedder | None, tmp_path: Path) -> None:
    store = filled(tmp_path, Dummy())
    answer = engine(store, model).search(Asked(query=GUIDE))
    store.close()
    assert answer.metadata.warnings == ("the vectors are stand-ins that tell nothing of meaning",)
    assert answer.metadata.scoring_mode == "hybrid"
    assert (ids(answer)[0], answer.results[0].scoring.vector_score) == (GUIDE_MD, 1.0)


def test_pieces_without_vectors_are_found_by_their_words(stored: Store) -> None:
    with stored.writing() as writing:
        writing.put(taken("docs/cups.md", "# Cups\nCups are made of porcelain.\n", kind=Kind.DOC))
    answer = engine(stored, MODEL).search(Asked(query="cups"))
    assert answer.metadata.warnings == ("some pieces have no vectors",)
    assert "docs/cups.md::0" in ids(answer)


def test_a_run_between_two_questions(stored: Store) -> None:
    search = engine(stored, MODEL)
    assert found(search, "porcelain") != []
    space = MODEL.space(stored.kept("space") or b"")
    assert space is not None
    with stored.writing() as writing:
        writing.remove("docs/notes.txt")
        new = taken(
            "docs/cups.md", "# Cups\nCups are made of porcelain.\n", kind=Kind.DOC, vectors=space.rows(["cups"])
        )
        writing.put(new)
    assert found(search, "porcelain")[0] == "docs/cups.md::0"
    assert "docs/notes.txt::0" not in found(search, "porcelain")


def test_a_run_within_a_question(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% An answer MUST be that of one run, whatever is taken in meanwhile.
    store = filled(tmp_path)
    search = Engine(cast(Store, Overtaken(store, tmp_path)), None, None, "/", now=lambda: NOW)
    assert ids(search.search(Asked(query="porcelain"))) == ["docs/notes.txt::0"]
    assert ids(search.search(Asked(query="porcelain"))) == ["docs/cups.md::0"]
    store.close()


class Overtaken:
    """A store whose file another has changed by the time that its pieces are asked for."""

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
                writing.put(taken("docs/cups.md", "Cups are made\nof porcelain.\n", kind=Kind.DOC))
                writing.replace_graph(NODES, EDGES)
        return found


def test_long_lists_are_cut(tmp_path: Path) -> None:
    store = filled(tmp_path, None, FILES)
    with store.writing() as writing:
        many = [node(f"Requirement:spec#a/{number:012}", text="It MUST.") for number in range(30)]
        cites = [
            edge("SourceFile:src/tea/leaves.py", Relation.CITES, one.id, kinds=["test"], lines=[number])
            for number, one in enumerate(many, 1)
        ]
        writing.replace_graph([*NODES, *many], cites)
    (result,) = (answer := engine(store).search(Asked(query="steep leaves"))).results
    store.close()
    assert result.graph_context is not None
    assert [one.id[-2:] for one in result.graph_context.requirements] == [f"{number:02}" for number in range(10)]
    assert result.scoring.signals and result.scoring.signals.relationship_count == 30
    assert answer.metadata.warnings[1:] == (
        "no more than 10 relationships, related files and requirements of a file are told; km-graph-node has all",
    )
