"""Searches in pages, and the pages that answer a question."""

from __future__ import annotations

import pytest

from duvet.knowledge.pages import search
from tests.unit.knowledge.pages.made import index_of

FILES: dict[str, str | bytes] = {
    "docs/kettle.md": "---\ncreated: 2026-01-01\n---\n# Kettle\n\nWater boils. The TEAPOT is warm.\n",
    "docs/tea.md": "---\ncreated: 2026-01-02\ntitle: Tea pot\n---\nLeaves.\n",
    "docs/cups.md": "---\ncreated: 2026-01-03\n---\n# Cups\n\nOf pots and tea; warm is not the pot.\n",
    "docs/caf\u00e9.md": "---\ncreated: 2026-01-04\n---\n# Caf\u00e9\n\nCAFE\u0301 \u0130stanbul \u05e9\u05dc\u05d5\u05dd (warm-up)\n",
}


def dated(count: int, text: str) -> dict[str, str | bytes]:
    days = [number % 28 + 1 for number in range(count)]
    return {f"docs/{number:03}.md": f"---\ncreated: 2026-01-{day:02}\n---\n{text}" for number, day in enumerate(days)}


QUERIES = {
    "teapot": "kettle",
    **dict.fromkeys(("TEA", "tea pot", "pot tea"), "tea cups kettle"),
    **dict.fromkeys(("is warm", "pot is warm"), "kettle cups"),
    "warm is": "cups kettle",
    "warm": "caf\u00e9 cups kettle",
    **dict.fromkeys(("(warm-", "caf\u00c9", "\u05e9\u05dc\u05d5\u05dd"), "caf\u00e9"),
    **dict.fromkeys(("boils leaves", "created", "nothing"), ""),
}


@pytest.mark.parametrize(("query", "expected"), QUERIES.items(), ids=map(ascii, QUERIES))
def test_queries(query: str, expected: str) -> None:
    ##= man/spec/pages.md#tools
    ##% `search` MUST find up to 20 pages that contain every word of the query, ignoring case, even as a part of a
    ##% longer word.
    ##= man/spec/pages.md#tools
    ##% `search` MUST list matches in titles first, then matches of the exact phrase, then other matches, and in each
    ##% group newer pages first. `search` MUST show an excerpt around each match.
    assert " ".join(hit.slug for hit in search.search_pages(index_of(FILES), query)) == expected


def test_an_exact_phrase_comes_before_newer_pages() -> None:
    files = dated(60, "warm is the tea\n")
    hits = search.search_pages(index_of(files), "tea")
    assert len(hits) == search.MAX_PAGE_HITS == 20
    assert [hit.slug for hit in hits[:3]] == ["027", "055", "026"]
    files["docs/old.md"] = "---\ncreated: 2025-01-01\n---\nThe tea is\n  warmer.\n"
    files["docs/long.md"] = "---\ncreated: 2024-01-01\ntitle: tea is\n---\nwarm\n"
    assert [hit.slug for hit in search.search_pages(index_of(files), "TEA is warm")[:2]] == ["old", "027"]


BEFORE, AFTER = "b" * 60, "a" * 110
EXCERPTS = {
    "in the middle": (f"{BEFORE}Hit{AFTER}", "hit", f"...{'b' * 50}Hit{'a' * 100}..."),
    "at the beginning": (f"hit{AFTER}", "hit", f"hit{'a' * 100}..."),
    "at the end": (f"{BEFORE}hit", "hit", f"...{'b' * 50}hit"),
    "all of it": ("a hit", "hit", "a hit"),
    "in the title alone": ("x" * 160, "hit", f"{'x' * 150}..."),
    "the phrase before the words": ("two. one two", "one two", "two. one two"),
    "over a line end": ("one\n  two", "one two", "one\n  two"),
    "nothing": ("", "hit", ""),
    "composed otherwise": ("cafe\u0301", "caf\u00e9", "caf\u00e9"),
}


@pytest.mark.parametrize(("text", "query", "expected"), EXCERPTS.values(), ids=EXCERPTS)
def test_excerpts(text: str, query: str, expected: str) -> None:
    assert search.make_excerpt(text, query, query.split(" ")) == expected


def test_pages_that_answer_a_question() -> None:
    index = index_of(FILES)
    assert [page.slug for page in search.find_relevant_pages(index, "When does the water boil?")] == ["kettle"]
    assert [page.slug for page in search.find_relevant_pages(index, "Which cups?")] == ["cups"]
    assert search.find_relevant_pages(index, "What about airplanes?") == []
    assert search.find_relevant_pages(index, "???") == []
    assert search.extract_stems("Why do the retries of connections fail?") == ("retr", "connection", "fail")


def test_the_passage_with_the_most_words() -> None:
    text = "one\n\ntwo\n\nthe kettle\n\nkettle of water\n" + "x" * 5000
    part, lines = search.find_passage(text, ("kettle", "water"))
    assert (part[:25], len(part), lines) == (text[:25], 1200, 0)
    later = "y" * 1300 + "\n\nkettle of water"
    assert search.find_passage(later, ("kettle", "water")) == ("kettle of water", 2)
    assert search.find_passage("", ("a",)) == ("", 0)
