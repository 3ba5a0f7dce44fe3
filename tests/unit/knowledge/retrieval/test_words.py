"""Searches by words, and in which order they are answered"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.knowledge.search import SearchEngine
from duvet.knowledge.search_query import SearchRequest
from duvet.queries.embeddings import Embedder
from duvet.store.records import FileKind
from tests.unit.knowledge.retrieval.made import BOIL, FILES, GUIDE_MD, MODEL, PIECE, engine, filled, found, ids
from tests.unit.store.made import taken


def test_every_word_before_some(words: SearchEngine) -> None:
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
    ##% `km-search` MUST list the file or the symbol that a query names first, and chunks with every word before those
    ##% with some.
    files = (taken("b.py", "Pour slowly, slowly, and slowly pour\n"), *FILES, taken("a.py", "use(x.pour_slowly)\n"))
    store = filled(tmp_path, model, files)
    answer = engine(store, model).search(SearchRequest(query=query))
    store.close()
    assert ids(answer)[: len(NAMES[query])] == NAMES[query]
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST find words in any of their forms, symbols by their names or parts of these, and files by their
    ##% path or name.
    assert all(one.scoring.lexical_score >= 0.5 for one in answer.results[: len(NAMES[query])])
    scores = [one.chunk.score for one in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_common_words(words: SearchEngine) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST read a query as words, ignore very common ones, and warn about what exceeds 2,000 characters or
    ##% 64 words.
    assert found(words, "the porcelain") == ["docs/notes.txt::0"]
    assert found(words, "about it before") == [GUIDE_MD, "docs/notes.txt::0"]
    assert found(words, "yourselves") == []


@pytest.mark.parametrize("query", ["***", '"', "\0", "\ud800", "NEAR(", "a" * 1000, "title:", "!" * 2_000_000])
def test_nothing_fails(query: str, words: SearchEngine, both: SearchEngine) -> None:
    assert found(words, query) == []
    assert [
        result for result in both.search(SearchRequest(query=query)).results if result.scoring.vector_score > 1
    ] == []


def test_syntax_is_text(words: SearchEngine) -> None:
    assert found(words, 'porcelain" OR "kettle') == found(words, "porcelain OR kettle")
    assert found(words, "porcel*") == []


def test_long_queries(words: SearchEngine) -> None:
    answer = words.search(SearchRequest(query=f"porcelain {' ' * 2000}{'kettle ' * 150_000}"))
    assert ids(answer) == ["docs/notes.txt::0"]
    assert len(answer.query) == 2000
    assert answer.metadata.warnings[0] == "only the first 2,000 characters and 64 words of the query count"
    assert (
        words.search(SearchRequest(query="porcelain", limit=99)).metadata.warnings[0]
        == "no more than 25 results are answered"
    )


def test_what_is_about_equal_is_ordered_by_what_is_known(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST use weights only to order equally good results, and apply edited weights to the next search.
    same = [
        taken(f"src/{name}.py", BOIL, subsystem=subsystem, criticality=criticality)
        for name, subsystem, criticality in (("a", "", ""), ("b", "Other", "low"), ("c", "Spout", "critical"))
    ]
    better = taken("z.md", "spout spout spout\nspout\n", kind=FileKind.DOC, title="Spout")
    store = filled(tmp_path, None, (*same, better))
    assert found(engine(store), "spout") == ["z.md::0", "src/c.py::1", "src/b.py::1", "src/a.py::1"]
    store.close()
