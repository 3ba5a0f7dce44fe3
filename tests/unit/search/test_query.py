"""What people type, and what is looked for"""

from __future__ import annotations

import pytest

from duvet.words import MAX_QUERY_CHARACTERS, STOP_WORDS, parse_query

SPEECH = {
    "retry token": '"retry" "token"',
    "Retry  TOKEN retry": '"retry" "token"',
    'the "Retry Token" of a server': '"retry token" "server"',
    "“smart quotes” too": '"smart quotes"',
    "0-RTT, TLS/1.3; max_size!": '"0-rtt" "tls/1.3" "max_size"',
    "the server's token doesn't": '"server" "token"',
    'an "open quote': '"open" "quote"',
    'of "of the"': '"of the"',
    "must not": '"must" "not"',
    "naïve 日本 e\N{COMBINING ACUTE ACCENT}tat": '"naïve" "日本" "e\N{COMBINING ACUTE ACCENT}tat"',
    "a\0b": '"b"',
    "***": "",
    '""': "",
    "'": "",
}
SYNTAX = ("AND", "OR", "NOT", "NEAR(a b)", "text:pot", "{text title} : pot", "^pot", "pot*", "-pot", "pot + kettle")


@pytest.mark.parametrize("typed", SPEECH)
def test_all_of_it(typed: str) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST find words in any of their forms, in requirements, titles of sections and names of
    ##% specifications, and a quoted phrase as a phrase.
    assert parse_query(typed).all_of_it == SPEECH[typed]


def test_some_of_it_takes_joined_words_apart_but_no_phrases() -> None:
    assert parse_query('0-RTT "retry token" max_size size').some_of_it == (
        '"0" OR "rtt" OR "retry token" OR "max" OR "size"'
    )


@pytest.mark.parametrize("typed", SYNTAX)
def test_nothing_is_syntax(typed: str) -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST read a query as words, not as the syntax of the search engine, unless `--raw` is given.
    expression = parse_query(typed).all_of_it
    assert expression == "" or (expression.count('"') % 2 == 0 and expression[::2].strip('"') != typed)
    assert all(not outside.strip() for outside in expression.split('"')[::2])


def test_words_that_do_not_count() -> None:
    found = parse_query("The what of it's")
    assert (found.terms, found.dropped) == ((), ("the", "what", "of", "it's"))


def test_key_words_count() -> None:
    ##= man/spec/search.md#queries
    ##= type=test
    ##% `duvet search` MUST ignore very common words, but not the keywords of RFC 2119, and say so when a query has no
    ##% others.
    keys = "must must not required shall shall not should should not recommended may optional"
    assert STOP_WORDS.isdisjoint(keys.split())


def test_too_long() -> None:
    word = "token " * MAX_QUERY_CHARACTERS
    assert (parse_query(word).is_cut, parse_query(word[:MAX_QUERY_CHARACTERS]).is_cut) == (True, False)
    assert parse_query(f"{'x' * MAX_QUERY_CHARACTERS} token").terms == ("x" * MAX_QUERY_CHARACTERS,)
