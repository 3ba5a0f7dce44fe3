"""Pieces by their words, whatever keeps them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from duvet.store.records import ChunkFilters, FileKind, Store
from duvet.words import extract_query_words
from tests.unit.store.made import frequencies, taken


def put(store: Store, **texts: str) -> None:
    with store.writing() as writing:
        for name, text in texts.items():
            writing.put(taken(name, text))


def found(
    store: Store, words: Iterable[str], *, every: bool = False, filters: ChunkFilters | None = None, limit: int = 9
) -> str:
    """The names of the files, the best first."""
    hits = store.lexical([*words], filters or ChunkFilters(), limit, every=every)
    scores = [score for _, score in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    return " ".join(one.artifact.path for one in store.chunks([number for number, _ in hits]))


class TestWords:
    def test_all_or_any(self, empty: Store) -> None:
        put(empty, a="milk and tea\n", b="tea alone\n", c="coffee\n")
        assert found(empty, ["tea", "milk"], every=True) == "a"
        assert found(empty, ["tea", "milk"]) == "a b"
        assert found(empty, ["tea", "cocoa"], every=True) == ""
        assert found(empty, ["tea", "cocoa"]) == "a b"
        assert found(empty, ["cocoa"]) == found(empty, []) == found(empty, [], every=True) == ""

    def test_forms_and_parts_of_names(self, empty: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST find words in any of their forms, symbols by their names or parts of these, and files by
        ##% their path or name.
        with empty.writing() as writing:
            writing.put(taken("a", "parseHeaderLine(raw_bytes)\n", title="Boiling kettles"))
            writing.put(taken("b", "Der Kaffee im Café\n"))
        for word in ("parseHeaderLine", "headers", "LINE", "raw", "bytes", "rawbytes", "boiled", "Kettle"):
            assert found(empty, [word]) == "a"
        assert found(empty, ["cafe"]) == found(empty, ["cafe\u0301"]) == "b"
        assert found(empty, ["header", "kettle"], every=True) == "a"

    def test_what_counts(self, empty: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST list the file or the symbol that a query names first, and chunks with every word before
        ##% those with some.
        rest = "and so on " * 60
        with empty.writing() as writing:
            writing.put(taken("common", f"water {rest}\n"))
            writing.put(taken("often", f"water water {rest} kettle kettle kettle\n"))
            writing.put(taken("rare", f"saffron {rest}\n"))
            writing.put(taken("short", "kettle\n"))
            writing.put(taken("titled", f"kettle {rest}\n", title="Kettles"))
            writing.put(taken("once", f"kettle {rest}\n"))
        assert found(empty, ["saffron", "water"]) == "rare often common"
        assert found(empty, ["kettle"]) == "often short titled once"

    def test_what_is_as_good_comes_in_the_order_in_which_it_was_taken_in(self, empty: Store) -> None:
        put(empty, **{f"n{number:03}": "tea\n" for number in range(300)})
        assert found(empty, ["tea"], limit=3) == "n000 n001 n002"
        assert found(empty, ["tea"], limit=0) == ""

    def test_common_words_find_nothing_where_others_do_but_count(self, empty: Store) -> None:
        with empty.writing() as writing:
            for number in range(3000):
                writing.put(taken(f"n{number}", "common text\n"))
            writing.put(taken("few", "rare text\n"))
            writing.put(taken("two", "rare text that is common\n"))
        assert found(empty, ["common", "rare"], limit=2) == "two few"
        assert found(empty, ["common", "rare"], limit=4) == "two few n0 n1"
        assert frequencies(empty, "common", "rare", "Texts", "none") == {
            "common": 3001, "rare": 2, "Texts": 3002, "none": 0,
        }  # fmt: skip

    def test_a_run_finds_what_it_has_put(self, empty: Store) -> None:
        put(empty, a="tea\n")
        with empty.writing() as writing:
            writing.put(taken("b", "tea\n"))
            assert found(empty, ["tea"]) == "a b"
            writing.remove("a")
            assert found(empty, ["tea"]) == "b"

    def test_words_of_every_script(self, empty: Store) -> None:
        put(empty, a="чайник кипит\n", b="ÉTÉ\n", c="茶壶 开水\n")
        assert (found(empty, ["ЧАЙНИК"]), found(empty, ["été"]), found(empty, ["茶壶"])) == ("a", "b", "c")


class TestHostile:
    @pytest.mark.parametrize(
        "query",
        [
            'tea" OR "x', "tea*", "title:tea", "-tea", "NEAR(tea x)", "tea AND", "(tea", "tea\0x", "tea\ud800", "^tea", "tea'; --",
            "\ue001tea", "{words}: tea",
        ],
    )  # fmt: skip
    def test_syntax_is_none(self, empty: Store, query: str) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST read a query as words, ignore very common ones, and warn about what exceeds 2,000
        ##% characters or 64 words.
        put(empty, a="tea\n", b="coffee\n")
        assert found(empty, [query]) == found(empty, extract_query_words(query)[0]) == "a"

    @pytest.mark.parametrize("query", ["", " ", '"', "***", "\0", "\ud800", "\ue001", "()", "—", "\U0010ffff"])
    def test_no_words_find_nothing(self, empty: Store, query: str) -> None:
        put(empty, a="tea\n")
        assert extract_query_words(query) == ([], False)
        for every in (True, False):
            assert found(empty, [query], every=every) == ""
        assert frequencies(empty, query) == {query: 0}

    def test_long_queries(self, empty: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST read a query as words, ignore very common ones, and warn about what exceeds 2,000
        ##% characters or 64 words.
        put(empty, first="w0\n", last=f"w63 {'x' * 3000}\n", beyond="w64\n")
        assert extract_query_words("tea " * 400) == (["tea"], False)
        assert extract_query_words("tea " * 600) == (["tea"], True)
        words, is_cut = extract_query_words(" ".join(f"w{number}" for number in range(70)))
        assert (words, is_cut) == ([f"w{number}" for number in range(64)], True)
        assert found(empty, words) == found(empty, [f"w{number}" for number in range(70)]) == "first last"
        assert found(empty, extract_query_words("x" * 1_000_000)[0]) == ""
        assert found(empty, ["x" * 3000]) == "last"

    def test_whatever_is_in_a_text(self, empty: Store) -> None:
        odd = "tea \0 \ud800 \ue001coffee \ue004tea \U0001f375 " + "x" * 100_000 + "\n"
        path = "a::b/\"c\" %d_'e':\n\ud800.py"
        with empty.writing() as writing:
            writing.put(taken(path, odd, title="\0 \ud800", subsystem="\ud800", tags=("\udcff",), kind=FileKind.TEST))
        (chunk,) = empty.chunks(empty.chunk_numbers(path))
        assert (chunk.text, chunk.piece.title, chunk.id) == (odd, "\0 \ud800", f"{path}::0")
        assert found(empty, ["coffee"]) == path
        assert (chunk.artifact.subsystem, chunk.artifact.tags) == ("\ud800", ("\udcff",))
        assert empty.allowed(ChunkFilters(subsystems=("\ud800",))) == [chunk.number]
        with empty.writing() as writing:
            writing.remove(path)
        assert (empty.artifacts(), found(empty, ["coffee"])) == ({}, "")
