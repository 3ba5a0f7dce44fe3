"""What a query names"""

from __future__ import annotations

import pytest

from duvet.queries.search import find_named_requirements
from tests.unit.queries.made import numbered_catalogue, texts
from tests.unit.search.made import FILES, catalogue

CATALOGUE = catalogue(FILES)
BREWING = ("d587e4d0eaaf", "e9b3f4df45b8", "a951e7e8a291")
SERVING = ("035b57d7f4bd", "da4e2fda4622")
LOGGED = "e11228aff7aa"
NAMED = {
    CATALOGUE.ids[4]: BREWING[:1],
    "D587": BREWING[:1],
    "d58": (),
    "ffffff": (),
    "tea.md#brewing": BREWING,
    "tea#brewing": BREWING,
    " brewing ": BREWING,
    "tea.md#nothing": (),
    "coffee.md#brewing": (),
    "./tea.md": BREWING + SERVING,
    "tea": BREWING + SERVING,
    "src/server.rs:2": BREWING[:1],
    "src/server.rs:7:4": BREWING[:1],
    "src/server.rs": (LOGGED, BREWING[0]),
    "src/none.rs:2": (),
    f"/specifications/tea/sections/brewing/requirements/{BREWING[1]}": BREWING[1:2],
    "/specifications/coffee": (),
    "the pot": (),
    "": (),
}


@pytest.mark.parametrize("query", NAMED)
def test_named(query: str) -> None:
    assert tuple(CATALOGUE.ids[index][:12] for index in find_named_requirements(CATALOGUE, query)) == NAMED[query]


@pytest.mark.parametrize(
    ("query", "words"), [("1.1", "Two Three"), ("rfc7#section-1", "One Two Three"), ("10", "Four")]
)
def test_a_numbered_section_names_those_below_it_too(query: str, words: str) -> None:
    ##= man/spec/queries.md#filters
    ##% A filter for a numbered section MUST include the sections below it.
    numbered = numbered_catalogue()
    assert texts(numbered, find_named_requirements(numbered, query)) == [f"{word} MUST be." for word in words.split()]


def test_an_id_that_several_begin_with_names_them_all() -> None:
    texts = "".join(f"- {number} MUST be.\n" for number in range(2000))
    many = catalogue(FILES | {"tea.md": f"# Tea\n\n## Brewing\n\nThe server MUST warm the pot.\n\n{texts}"})
    shared = next(id[:4] for id in many.ids if sum(other.startswith(id[:4]) for other in many.ids) > 1)
    found = [many.ids[index] for index in find_named_requirements(many, shared)]
    assert found == [id for id in many.ids if id.startswith(shared)]
