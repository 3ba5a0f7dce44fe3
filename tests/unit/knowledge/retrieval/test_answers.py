"""What a search answers, and of which moment"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import SearchRequest, parse_search_request
from duvet.store.location import open_store
from duvet.store.records import Chunk, FileKind, Relation, Store
from tests.unit.knowledge.retrieval.answer import CHUNK, CONTEXT, METADATA, SCORING
from tests.unit.knowledge.retrieval.made import EDGES, FILES, MODEL, NODES, NOW, engine, filled, found, ids, plain
from tests.unit.store.made import edge, node, taken


def test_the_whole_answer(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST return 10 results by default and at most 25, each with the requirements that its file cites,
    ##% under a unique `request_id`.
    store = filled(tmp_path)
    search = engine(store, None, "vscode://file/{abs_path}:{line_start}")
    response = search.search(
        parse_search_request({"query": "pour slowly", "filters": {"tags": [], "subsystems": ["kettle"]}})
    )
    store.close()
    request_id = response.metadata.request_id
    assert plain(response) == {
        "status": "ok",
        "query": "pour slowly",
        "results": [{"chunk": CHUNK, "graph_context": CONTEXT, "scoring": SCORING}],
        "metadata": {**METADATA, "request_id": request_id},
    }


def test_answers_have_an_id_of_their_own(words: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST return 10 results by default and at most 25, each with the requirements that its file cites,
    ##% under a unique `request_id`.
    one, other = (words.search(SearchRequest(query="boil")).metadata.request_id for _ in range(2))
    assert one != other
    assert len(one) == len(other) == 32


def test_without_the_graph(words: SearchEngine) -> None:
    answer = words.search(SearchRequest(query="boil water", include_graph=False))
    assert [result.graph_context for result in answer.results] == [None] * 3
    assert not answer.metadata.graph_context_included
    assert ids(answer) == found(words, "boil water")


def test_a_run_between_two_questions(stored: Store) -> None:
    search = engine(stored, MODEL)
    assert found(search, "porcelain") != []
    space = MODEL.space(stored.kept("space") or b"")
    assert space is not None
    with stored.writing() as writing:
        writing.remove("docs/notes.txt")
        new = taken(
            "docs/cups.md", "# Cups\nCups are made of porcelain.\n", kind=FileKind.DOC, vectors=space.rows(["cups"])
        )
        writing.put(new)
    assert found(search, "porcelain")[0] == "docs/cups.md::0"
    assert "docs/notes.txt::0" not in found(search, "porcelain")


def test_a_run_within_a_question(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% Readers MUST see the last completed run, and MUST NOT wait for one in progress.
    store = filled(tmp_path)
    search = SearchEngine(cast(Store, Overtaken(store, tmp_path)), None, None, "/", now=lambda: NOW)
    assert ids(search.search(SearchRequest(query="porcelain"))) == ["docs/notes.txt::0"]
    assert ids(search.search(SearchRequest(query="porcelain"))) == ["docs/cups.md::0"]
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
                writing.put(taken("docs/cups.md", "Cups are made\nof porcelain.\n", kind=FileKind.DOC))
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
    (result,) = (answer := engine(store).search(SearchRequest(query="steep leaves"))).results
    store.close()
    assert result.graph_context is not None
    assert [one.id[-2:] for one in result.graph_context.requirements] == [f"{number:02}" for number in range(10)]
    assert result.scoring.signals and result.scoring.signals.relationship_count == 30
    assert answer.metadata.warnings[1:] == (
        "no more than 10 relationships, related files and requirements of a file are told; km-graph-node has all",
    )
