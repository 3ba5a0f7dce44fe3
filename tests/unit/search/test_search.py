"""Full text over the requirements of a project"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.model import Kind, Level
from duvet.queries.gaps import RequirementFilter
from duvet.queries.search import SearchAnswer, SearchQuery, search_requirements
from duvet.trace.records import Status
from duvet.tree.cache import Cache
from tests.unit.search.made import CONFIG, FILES, catalogue

CATALOGUE = catalogue(FILES)
EMPTY = catalogue({".duvet/config.toml": CONFIG.replace("tea.md", "retry.md")} | {"retry.md": "# Nothing\n"})
WARM_POT = "The server MUST **warm** the pot before the leaves are added."
WARM_CUPS = "Cups MAY be **warmed**."
SYNTAX = st.text(st.sampled_from("\"*^:+-(){}[],.'\\\0\1\2 \tabANDORNEAR#/é日\ud800"))


def asked(query: str, wanted: RequirementFilter = RequirementFilter(), **more: object) -> SearchAnswer:  # noqa: B008 - frozen
    return search_requirements(CATALOGUE, SearchQuery(query, wanted, **more), Cache())  # type: ignore[arg-type]


def marked(answer: SearchAnswer) -> list[str]:
    """The sentences, with what was found between asterisks."""
    lines = []
    for row in answer.rows:
        text = row.text
        for start, end in reversed(row.marks):
            text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
        lines.append(text)
    return lines


def test_other_forms_of_a_word() -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST find words in any of their forms, in requirements, titles of sections and names of
    ##% specifications, and a quoted phrase as a phrase.
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST mark the words that it found, count the results that it does not show, and suggest similar
    ##% names for an unknown word.
    assert [marked(asked(word)) for word in ("warm", "warms", "WARMING")] == [[WARM_CUPS, WARM_POT]] * 3


def test_titles_and_names_are_looked_through() -> None:
    assert marked(asked("served cups")) == ["**Cups** MAY be warmed."]
    assert marked(asked("tea boil")) == ["A server SHOULD NOT **boil** the water twice."]


def test_titles_count_for_more() -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST list the best match first, count a word in a title for more than one in the text, and keep
    ##% equal matches in the order of reports.
    texts = {
        "tea.md": "# Tea\n\n## Cups\n\nOne MUST hold it.\n\n## Pots\n\nTwo MUST hold cups.\n\n## Spoons\n\nAll MAY.\n"
    }
    found = search_requirements(catalogue(FILES | {"src/server.rs": ""} | texts), SearchQuery("cups"), Cache())
    assert marked(found) == ["One MUST hold it.", "Two MUST hold **cups**."]


def test_all_words_have_to_be_there() -> None:
    found = asked("server water")
    assert (marked(found), found.is_loose) == (["A **server** SHOULD NOT boil the **water** twice."], False)


def test_any_word_where_nothing_has_them_all() -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST find the requirements that contain every word or, if there are none, those that contain any
    ##% word, and then say so.
    found = asked("boil cups")
    assert found.is_loose
    assert marked(found) == ["**Cups** MAY be warmed.", "A server SHOULD NOT **boil** the water twice."]


def test_phrases() -> None:
    assert marked(asked('"connection error"')) == ["The **connection error** MUST be of type INVALID_TOKEN."]
    assert marked(asked("invalid-token")) == ["The connection error MUST be of type **INVALID_TOKEN**."]


def test_words_that_every_text_is_full_of() -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST ignore very common words, but not the keywords of RFC 2119, and say so when a query has no
    ##% others.
    assert asked("the of") == SearchAnswer((), 0, dropped=("the", "of"))
    assert marked(asked("the cups of the")) == ["**Cups** MAY be warmed."]


@pytest.mark.parametrize("query", ["", "  ", "***", '""', "\0", "-", "\ud800"])
def test_no_word_at_all(query: str) -> None:
    with pytest.raises(QueryError, match="the query has no word in it"):
        asked(query)


def test_what_is_named_comes_first() -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST list the requirements that a query names by id, `file:line`, file, target, section or
    ##% specification before those that contain its words.
    texts = FILES["tea.md"] + "The packet MUST name d587 and tea.\n"
    found = search_requirements(catalogue(FILES | {"tea.md": texts}), SearchQuery("d587"), Cache())
    assert [(row.text, row.score is None) for row in found.rows] == [
        ("The server MUST warm the pot before the leaves are added.", True),
        ("The packet MUST name d587 and tea.", False),
    ]
    assert [row.score for row in asked("tea.md#brewing").rows] == [None] * 3


@pytest.mark.parametrize(("query", "total"), [("src/server.rs", 2), ("tea.md#nothing", 0), ("src/none.rs:9", 0)])
def test_words_of_what_is_named_are_not_looked_for_one_by_one(query: str, total: int) -> None:
    assert (asked(query).total, asked(query).is_loose) == (total, False)


def test_the_limit_leaves_the_total() -> None:
    found = asked("must", limit=2)
    assert (len(found.rows), found.total, found.rows) == (2, 6, asked("must").rows[:2])


def test_ties_keep_the_order_of_reports() -> None:
    ##= man/spec/search.md#results
    ##= type=test
    ##% `duvet search` MUST list the best match first, count a word in a title for more than one in the text, and keep
    ##% equal matches in the order of reports.
    texts = "# Tea\n\n## Pots\n\n" + "".join(f"Number{number} MUST rest.\n\n" for number in range(30))
    many = catalogue(FILES | {"src/server.rs": "", "tea.md": texts})
    found = [search_requirements(many, SearchQuery("rest"), Cache()) for _ in range(2)]
    assert found[0] == found[1]
    assert [row.text for row in found[0].rows] == [f"Number{number} MUST rest." for number in range(30)]
    scores = [row.score for row in asked("server water token cups").rows]
    assert scores == sorted(scores, key=lambda score: -(score or 0)) and len(set(scores)) > 1


FILTERS = {
    "specification": (RequirementFilter(specifications=("retry",)), ["retry"] * 2),
    "section": (RequirementFilter(sections=("serving",)), ["tea"]),
    "level": (RequirementFilter(levels=(Level.SHOULD,)), ["tea"]),
    "status": (RequirementFilter(statuses=(Status.DONE,)), ["tea"]),
    "type": (RequirementFilter(kinds=(Kind.TEST,)), ["tea"]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters(name: str) -> None:
    wanted, specifications = FILTERS[name]
    query = "token connection" if name == "specification" else "server"
    assert [row.specification for row in asked(query, wanted).rows] == specifications


def test_filters_hold_for_what_is_named_too() -> None:
    assert [row.text for row in asked("brewing", RequirementFilter(levels=(Level.SHOULD,))).rows] == [
        "A server SHOULD NOT boil the water twice."
    ]


def test_unknown_specification() -> None:
    with pytest.raises(NotFoundError) as caught:
        asked("server", RequirementFilter(specifications=("retri",)))
    assert (caught.value.message, caught.value.hint) == ('there is no specification "retri"', "did you mean retry?")


def test_raw() -> None:
    found = asked("title : brewing NOT text : (kettle OR pot*)", is_raw=True)
    assert marked(found) == ["A server SHOULD NOT boil the water twice."]
    assert marked(asked("text : NEAR(server warm, 2)", is_raw=True)) == [
        "The **server** MUST **warm** the pot before the leaves are added."
    ]


@pytest.mark.parametrize("query", ['"', "AND", "nothing : pot", "pot AND", "(" * 5000, "NEAR(", "", "\0", "pot\ud800"])
def test_raw_that_is_none(query: str) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST refuse a query without words, one that `--raw` cannot parse, and `--raw` together with
    ##% `--semantic`.
    with pytest.raises(QueryError, match="the query is not one of FTS5: "):
        asked(query, is_raw=True)


def test_no_requirements_at_all() -> None:
    assert search_requirements(EMPTY, SearchQuery("pot"), Cache()) == SearchAnswer((), 0)


def test_hostile_text_is_marked_where_it_stands() -> None:
    texts = "# Tea\n\n## Pots\n\nA \0 \1pot\2 and \x1b[31mpots\x1b[0m MUST be é pot.\n"
    found = search_requirements(catalogue(FILES | {"src/server.rs": "", "tea.md": texts}), SearchQuery("pot"), Cache())
    assert marked(found) == ["A \0 \1**pot**\2 and \x1b[31mpots\x1b[0m MUST be é **pot**."]


@given(SYNTAX | st.text())
def test_any_text_is_a_query(query: str) -> None:
    try:
        found = asked(query)
    except QueryError as error:
        assert error.message == "the query has no word in it"
    else:
        assert found.total == len(found.rows)


@given(SYNTAX | st.text())
def test_any_text_is_an_expression_or_refused(query: str) -> None:
    try:
        asked(query, is_raw=True)
    except DuvetError as error:
        assert error.message.startswith("the query is not one of FTS5: ")
