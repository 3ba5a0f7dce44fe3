"""Which pieces may be found, whatever keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.store.records import ChunkFilters, FileKind, Relation, Store
from tests.unit.store.made import edge, node, symbol, taken


def let_through(store: Store, **wanted: Any) -> list[str]:
    """The ids of the pieces."""
    numbers = store.allowed(ChunkFilters(**wanted))
    assert numbers is not None
    assert list(numbers) == sorted(numbers)
    return [one.id for one in store.chunks(numbers)]


CODE = [f"src/kettle.py::{number}" for number in range(4)]
DOC = ["docs/guide.md::0", "docs/guide.md::1"]
TEST = ["tests/test_kettle.py::0"]


class TestFilters:
    def test_no_filter_lets_everything_through(self, kitchen: Store) -> None:
        assert kitchen.allowed(ChunkFilters()) is None

    @pytest.mark.parametrize(
        ("wanted", "ids"),
        [
            ({"kinds": ("DOC", "test")}, DOC + TEST),
            ({"kinds": ("proto",)}, []),
            ({"namespaces": ("SRC",)}, CODE),
            ({"tags": ("water", "none")}, CODE),
            ({"tags": ("none",)}, []),
            ({"tags": ("hot",), "kinds": ("doc",)}, []),
            ({"since": 100.0}, CODE + DOC),
            ({"since": 100.5}, CODE),
            ({"symbols": ("SPOUT.pourslowly",)}, CODE[2:]),
            ({"symbols": ("pourSlowly",)}, []),
            ({"symbol_kinds": ("Function", "class")}, CODE[:1]),
            ({"symbol_languages": ("python",)}, [CODE[0], *CODE[2:]]),
            ({"symbol_languages": ("go",)}, []),
            ({"symbol_kinds": ("method",), "kinds": ("doc",)}, []),
        ],
    )
    def test_one_list_is_a_choice_and_all_have_to_hold(self, kitchen: Store, wanted: Any, ids: list[str]) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST apply filters before it ranks, and compare names without regard to case.
        assert let_through(kitchen, **wanted) == ids

    def test_one_symbol_has_to_be_all_that_is_wanted(self, kitchen: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% The filter for a subsystem MUST include the files that are linked to it, and the filters for symbols MUST
        ##% apply to one symbol.
        with kitchen.writing() as writing:
            symbols = (symbol("run", "method", 1, 1, "go"), symbol("Run", "type", 3, 4, "tsx"))
            writing.put(taken("a.go", "1\n2\n3\n4\n", symbols=symbols))
        assert let_through(kitchen, symbols=("RUN",)) == ["a.go::0", "a.go::1"]
        assert let_through(kitchen, symbols=("run",), symbol_kinds=("type",)) == ["a.go::1"]
        assert let_through(kitchen, symbols=("run",), symbol_kinds=("type",), symbol_languages=("go",)) == []

    def test_a_subsystem_is_that_of_a_file_or_of_what_it_is_linked_with(self, kitchen: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% The filter for a subsystem MUST include the files that are linked to it, and the filters for symbols MUST
        ##% apply to one symbol.
        assert let_through(kitchen, subsystems=("kitchen",)) == CODE + DOC
        assert let_through(kitchen, subsystems=("CELLAR", "attic")) == []
        with kitchen.writing() as writing:
            nodes = [node("Subsystem:Cellar"), node("TestCase:tests/test_kettle.py"), node("DesignDoc:docs/guide.md")]
            writing.replace_graph(
                nodes, [edge("TestCase:tests/test_kettle.py", Relation.VALIDATES, "Subsystem:Cellar")]
            )
        assert let_through(kitchen, subsystems=("Cellar",)) == TEST
        assert let_through(kitchen, subsystems=("Kitchen", "Cellar"), kinds=("test", "code")) == CODE + TEST

    def test_what_is_left_out_takes_the_place_of_nothing(self, empty: Store) -> None:
        ##= man/spec/knowledge.md#search
        ##= type=test
        ##% `km-search` MUST apply filters before it ranks, and compare names without regard to case.
        with empty.writing() as writing:
            for number in range(300):
                writing.put(taken(f"src/{number}.py", "tea tea tea\n"))
            writing.put(taken("docs/tea.md", "tea, among much else that is long\n", kind=FileKind.DOC))
        for every in (True, False):
            ((number, _),) = empty.lexical(["tea"], ChunkFilters(kinds=("doc",)), 5, every=every)
            assert [one.id for one in empty.chunks([number])] == ["docs/tea.md::0"]
        assert empty.lexical(["tea"], ChunkFilters(kinds=("proto",)), 5, every=False) == []

    def test_the_same_filter_lets_through_what_there_is_now(self, kitchen: Store) -> None:
        assert let_through(kitchen, kinds=("doc",)) == DOC
        with kitchen.writing() as writing:
            writing.remove("docs/guide.md")
            assert let_through(kitchen, kinds=("doc",)) == []
        assert let_through(kitchen, kinds=("doc",)) == []
