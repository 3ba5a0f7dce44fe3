from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.errors import QueryError
from duvet.model import Kind, Level
from duvet.queries.embeddings import Embedder
from duvet.queries.records import RequirementFilter
from duvet.queries.search import (
    SearchAnswer,
    SearchQuery,
    blend_scores,
    find_named_requirements,
    parse_query,
    search_requirements,
)
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from duvet.tree.files import MemoryTree
from duvet.words import MAX_QUERY_CHARACTERS, STOP_WORDS
from tests.unit.queries.query_projects import NO_FILES, NUMBERED_FILES, SEARCH_FILES, embedder, make_catalogue, texts

SPEECH = [
    *("retry token", "Retry  TOKEN retry", 'the "Retry Token" of a server', "“smart quotes” too"),
    *("0-RTT, TLS/1.3; max_size!", "the server's token doesn't", 'an "open quote', 'of "of the"', "must not"),
    *("naïve 日本 e\N{COMBINING ACUTE ACCENT}tat", "a\0b", "***", '""', "'"),
]
SYNTAX = ("AND", "OR", "NOT", "NEAR(a b)", "text:pot", "{text title} : pot", "^pot", "pot*", "-pot", "pot + kettle")
EMBEDDER = embedder()


def test_a_query_is_read_as_words_and_phrases(snapshot: Snapshot) -> None:
    lines = "".join(f"{typed!r}: {parse_query(typed).conjunction or '-'}\n" for typed in SPEECH)
    snapshot.assert_match(lines, "search/queries.txt")
    # A loose query splits joined words, but not phrases.
    loose = parse_query('0-RTT "retry token" max_size size').disjunction
    assert loose == '"0" OR "rtt" OR "retry token" OR "max" OR "size"'
    found = parse_query("The what of it's")
    assert (found.terms, found.dropped) == ((), ("the", "what", "of", "it's"))
    keys = "must must not required shall shall not should should not recommended may optional"
    assert STOP_WORDS.isdisjoint(keys.split())
    word = "token " * MAX_QUERY_CHARACTERS
    assert (parse_query(word).is_cut, parse_query(word[:MAX_QUERY_CHARACTERS]).is_cut) == (True, False)
    assert parse_query(f"{'x' * MAX_QUERY_CHARACTERS} token").terms == ("x" * MAX_QUERY_CHARACTERS,)
    ##= man/spec/search.md#queries
    ##% Unless `--raw` is given, `duvet search` MUST read a query as words, not in the syntax of the search engine.
    for typed in SYNTAX:
        expression = parse_query(typed).conjunction
        assert expression == "" or (expression.count('"') % 2 == 0 and expression[::2].strip('"') != typed)
        assert all(not outside.strip() for outside in expression.split('"')[::2])


CATALOGUE = make_catalogue(SEARCH_FILES)
FILES = ProjectFiles(MemoryTree({path: text.encode() for path, text in SEARCH_FILES.items()}), "")
WARM = "The server MUST warm the pot before the leaves are added."
BOIL = "A server SHOULD NOT boil the water twice."
DISCARD = "Clients MUST discard a packet with an empty token."


def search(
    query: str,
    wanted: RequirementFilter = RequirementFilter(),  # noqa: B008 - frozen
    catalogue: Catalogue = CATALOGUE,
    *,
    embedder: Embedder | None = None,
    **more: Any,
) -> SearchAnswer:
    return search_requirements(catalogue, SearchQuery(query, wanted, **more), Cache(), FILES, embedder)


def marked(answer: SearchAnswer) -> list[str]:
    lines = []
    for row in answer.rows:
        text = row.text
        for start, end in reversed(row.marks):
            text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
        lines.append(text)
    return lines


def make_tea(text: str) -> Catalogue:
    return make_catalogue(SEARCH_FILES | {"src/server.rs": "", "tea.md": f"# Tea\n\n{text}"})


QUERIES = [
    *("warm", "warms", "WARMING"),
    # Titles and names of specifications count too.
    *("served cups", "tea boil", "server water", '"connection error"', "invalid-token", "the cups of the"),
    # No requirement has both words.
    "boil cups",
    # Names of what is absent are not searched for word by word.
    *("tea.md#nothing", "src/none.rs:9"),
]


def test_words_are_found_and_marked(snapshot: Snapshot) -> None:
    ##= man/spec/search.md#queries
    ##% In requirements, titles of sections and names of specifications, `duvet search` MUST find every form of a word,
    ##% and quoted phrases as a whole.
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST list the requirements that contain every word of the query. If no requirement contains every
    ##% word, and the query is not a reference, `duvet search` MUST list those that contain some of the words, and say
    ##% so.
    ##= man/spec/search.md#results
    ##% If the query is a single unknown word, `duvet search` MUST suggest a similar word or name.
    lines = []
    for query in QUERIES:
        found = search(query)
        lines.append("\n".join([f"# {query}" + " (some of the words)" * found.is_loose, *marked(found), ""]))
    snapshot.assert_match("\n".join(lines), "search/marked.txt")


UNSPACED = "## Pots\n\nパスワードは平文で保存してはならない (MUST NOT)。\n\n客户端 MUST 重试三次。\n\n重试 MAY rest.\n"


def test_words_without_spaces_between_them() -> None:
    ##= man/spec/search.md#queries
    ##% `duvet search` MUST find Chinese, Japanese and Thai words in text without spaces.
    for query, found in [
        ("重试", ["**重试** MAY rest.", "客户端 MUST **重试**三次。"]),
        ("客户端 重试", ["**客户端** MUST **重试**三次。"]),
        ("保存", ["パスワードは平文で**保存**してはならない (MUST NOT)。"]),
        ('"平文で保存" 保存して', ["パスワードは**平文で保存して**はならない (MUST NOT)。"]),
        # A requirement with every term comes before those with some.
        ("重试三 rest", ["重试 MAY **rest**."]),
        ("试重", []),
    ]:
        assert marked(search(query, catalogue=make_tea(UNSPACED))) == found


def test_titles_count_for_more_and_ties_keep_the_order_of_reports() -> None:
    tea = make_tea("## Cups\n\nOne MUST hold it.\n\n## Pots\n\nTwo MUST hold cups.\n\n## Spoons\n\nAll MAY.\n")
    assert marked(search("cups", catalogue=tea)) == ["One MUST hold it.", "Two MUST hold **cups**."]
    many = make_tea("## Pots\n\n" + "".join(f"Number{number} MUST rest.\n\n" for number in range(30)))
    found = [search("rest", catalogue=many) for _ in range(2)]
    assert found[0] == found[1]
    assert [row.text for row in found[0].rows] == [f"Number{number} MUST rest." for number in range(30)]
    scores = [row.score for row in search("server water token cups").rows]
    assert scores == sorted(scores, key=lambda score: -(score or 0)) and len(set(scores)) > 1


def test_common_words_alone_find_nothing_and_no_words_are_refused() -> None:
    for model in (None, EMBEDDER):
        assert search("the of", embedder=model) == SearchAnswer((), 0, dropped=("the", "of"))
        for query in ("", "  ", "***", '""', "\0", "-", "\ud800"):
            with pytest.raises(QueryError, match="the query contains no words"):
                search(query, embedder=model)


def test_named_requirements_come_first() -> None:
    ##= man/spec/search.md#results
    ##% If a query is an id, a file, a `file:line`, a target, a section or a specification, `duvet search` MUST first
    ##% list the requirements that the query names.
    tea = SEARCH_FILES["tea.md"] + "The packet MUST name d587 and tea.\n"
    found = search("d587", catalogue=make_catalogue(SEARCH_FILES | {"tea.md": tea}))
    assert [(row.text, row.score is None) for row in found.rows] == [
        (WARM, True),
        ("The packet MUST name d587 and tea.", False),
    ]
    assert [row.score for row in search("tea.md#brewing").rows] == [None] * 3
    assert (search("src/server.rs").total, search("src/server.rs").is_loose) == (2, False)


def test_limits_and_filters_restrict_the_results() -> None:
    found = search("must", limit=2)
    assert (len(found.rows), found.total, found.rows) == (2, 6, search("must").rows[:2])
    for query, wanted, text in (
        ("server", RequirementFilter(specifications=("retry",)), "A server MUST validate each token that it is sent."),
        ("server", RequirementFilter(kinds=(Kind.TEST,)), WARM),
        # A filter applies to what the query names too.
        ("brewing", RequirementFilter(levels=(Level.SHOULD,)), BOIL),
    ):
        assert [row.text for row in search(query, wanted).rows] == [text]


def test_raw_queries_are_passed_to_fts5() -> None:
    assert marked(search("title : brewing NOT text : (kettle OR pot*)", is_raw=True)) == [BOIL]
    near = search("text : NEAR(server warm, 2)", is_raw=True)
    assert marked(near) == [WARM.replace("server", "**server**").replace("warm", "**warm**")]
    for query in ('"', "AND", "nothing : pot", "pot AND", "(" * 5000, "NEAR(", "", "\0", "pot\ud800"):
        with pytest.raises(QueryError, match="invalid FTS5 query: "):
            search(query, is_raw=True)


def test_projects_without_requirements_and_with_hostile_text() -> None:
    config = SEARCH_FILES[".duvet/config.toml"].replace("tea.md", "retry.md")
    empty = make_catalogue({".duvet/config.toml": config, "retry.md": "# Nothing\n"})
    assert search("pot", catalogue=empty) == SearchAnswer((), 0)
    found = search("pot", catalogue=make_tea("## Pots\n\nA \0 \1pot\2 and \x1b[31mpots\x1b[0m MUST be é pot.\n"))
    assert marked(found) == ["A \0 \1**pot**\2 and \x1b[31mpots\x1b[0m MUST be é **pot**."]


@given(st.text(st.sampled_from("\"*^:+-(){}[],.'\\\0\1\2 \tabANDORNEAR#/é日\ud800")) | st.text())
def test_any_text_is_a_query_or_refused(query: str) -> None:
    for is_raw, refusal in ((False, "the query contains no words"), (True, "invalid FTS5 query: ")):
        try:
            found = search(query, is_raw=is_raw)
        except QueryError as error:
            assert error.message.startswith(refusal)
        else:
            assert found.total == len(found.rows)


def test_other_words_of_the_same_meaning() -> None:
    ##= man/spec/search.md#queries
    ##% With `--semantic`, `duvet search` MUST rank requirements by both words and vectors.
    assert search("throw away messages").rows == ()
    assert search("throw away messages", embedder=EMBEDDER).rows[0].text == DISCARD
    texts_found = [row.text for row in search("the pot without any water", embedder=EMBEDDER).rows]
    assert texts_found[0] == "The kettle MUST NOT be left without water." and WARM in texts_found
    found = search("water", embedder=EMBEDDER)
    first, *others = found.rows
    assert (found.is_loose, first.text[slice(*first.marks[0])]) == (False, "water")
    scores = [row.score or 0 for row in found.rows]
    assert scores == sorted(scores, reverse=True) and 0 < min(scores) <= max(scores) <= 1
    # A requirement that is similar without the word has nothing to mark.
    assert () in [row.marks for row in others]
    assert len(search("water", limit=2, embedder=EMBEDDER).rows) == 2
    filtered = search("water in the kettle", RequirementFilter(levels=(Level.SHOULD,)), embedder=EMBEDDER).rows
    assert BOIL in [row.text for row in filtered] and {row.level for row in filtered} == {"SHOULD"}
    named = [row.text for row in search("Serving", embedder=EMBEDDER).rows]
    assert named[:2] == ["Cups MAY be warmed.", "The server MUST pour within five minutes."] and len(named) > 2
    for reference in ("tea.md#brewing", "src/server.rs:2", CATALOGUE.ids[4]):
        assert search(reference, embedder=EMBEDDER) == search(reference)


BREWING = "e9b3f4df45b8"
NAMED = [
    *(CATALOGUE.ids[4], "D587", "d58", "ffffff", "tea.md#brewing", "tea#brewing", " brewing ", "tea.md#nothing"),
    *("coffee.md#brewing", "./tea.md", "tea", "src/server.rs:2", "src/server.rs:7:4", "src/server.rs"),
    *("src/none.rs:2", f"/specifications/tea/sections/brewing/requirements/{BREWING}", "/specifications/tea"),
    *("/specifications/coffee", "the pot", ""),
]


def test_requirements_that_a_query_names(snapshot: Snapshot) -> None:
    found = {query: find_named_requirements(CATALOGUE, query, FILES) for query in NAMED}
    ids = {query: " ".join(CATALOGUE.ids[index][:12] for index in one) for query, one in found.items()}
    snapshot.assert_match("".join(f"{query!r}: {named or '-'}\n" for query, named in ids.items()), "search/named.txt")
    numbered = make_catalogue(NUMBERED_FILES)
    for query, words in (("1.1", "Two Three"), ("rfc7#section-1", "One Two Three"), ("10", "Four")):
        below = texts(numbered, find_named_requirements(numbered, query, NO_FILES))
        assert below == [f"{word} MUST be." for word in words.split()]
    # A prefix of several ids names them all.
    many = make_tea("## Brewing\n\n" + "".join(f"- {number} MUST be.\n" for number in range(700)))
    shared, times = Counter(id[:4] for id in many.ids).most_common(1)[0]
    alike = [many.ids[index] for index in find_named_requirements(many, shared, NO_FILES)]
    assert alike == [id for id in many.ids if id.startswith(shared)] and times > 1


def test_scores_are_blended() -> None:
    found = blend_scores({1: 1.0, 2: 0.5}, {2: 0.5, 3: 0.7}, 0.6)
    assert [*found] == [2, 3, 1]
    assert found == pytest.approx({1: 0.4, 2: 0.5, 3: 0.42})
    assert blend_scores({}, {}, 0.6) == {}
