"""Files and their pieces, whatever keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.store.database import StoreError
from duvet.store.records import (
    Artifact,
    ChunkFilters,
    FileKind,
    IngestedFile,
    Store,
    StoreWriter,
    TextPiece,
    VectorSegment,
)
from tests.unit.store.conftest import KITCHEN, fill
from tests.unit.store.engines import Engine
from tests.unit.store.made import KETTLE, frequencies, symbol, taken


class TestFiles:
    def test_nothing_is_in_a_new_one(self, empty: Store) -> None:
        assert (empty.artifacts(), empty.chunk_total(), list(empty.segments())) == ({}, 0, [])
        assert (empty.chunks([1, 2]), empty.chunk_numbers("a.py"), empty.lacks_times()) == ([], range(0), False)
        assert (empty.kept("space"), empty.runs(), empty.reports("coverage")) == (None, [], [])

    def test_files_come_in_the_order_of_their_paths(self, kitchen: Store) -> None:
        wanted = {one.artifact.path: one.artifact for one in sorted(KITCHEN, key=lambda one: one.artifact.path)}
        assert list(kitchen.artifacts().items()) == list(wanted.items())

    def test_a_file_has_as_many_pieces_as_were_given(self, empty: Store) -> None:
        with empty.writing() as writing:
            writing.put(IngestedFile(artifact=Artifact(path="a", kind=FileKind.OTHER, chunk_count=9, skipped="empty")))
        assert empty.artifacts() == {"a": Artifact(path="a", kind=FileKind.OTHER, skipped="empty")}

    def test_pieces_come_as_they_are_asked_for(self, kitchen: Store) -> None:
        numbers = kitchen.chunk_numbers("src/kettle.py")
        found = kitchen.chunks([numbers[2], 999, *kitchen.chunk_numbers("docs/guide.md"), numbers[0]])
        assert [(one.id, one.text, one.piece.title) for one in found] == [
            ("src/kettle.py::2", "class Spout:\n    def pourSlowly(self):\n", ""),
            ("docs/guide.md::0", "# Kettles\n\n", "How to boil"),
            ("docs/guide.md::1", "A kettle boils water. Boiling water is hot.\n", "How to boil"),
            ("src/kettle.py::0", "def boil(water):\n    return heat(water)\n", ""),
        ]
        assert found[0].piece == TextPiece(start=42, end=81, line_start=5, line_end=6)
        assert found[0].artifact == KITCHEN[0].artifact

    def test_a_piece_has_the_symbols_of_its_lines(self, kitchen: Store) -> None:
        found = kitchen.chunks(kitchen.chunk_numbers("src/kettle.py"))
        method = symbol("Spout.pourSlowly", "method", 6, 7)
        assert [one.symbols for one in found] == [(symbol("boil", "function", 1, 2),), (), (method,), (method,)]

    def test_a_name_is_kept_that_is_not_the_end_of_its_qualified_name(self, empty: Store) -> None:
        odd = replace(symbol("Spout.pour", "method", 1, 1), name="<pour>")
        with empty.writing() as writing:
            writing.put(taken("a.py", "x\n", symbols=(odd,)))
        assert empty.chunks(empty.chunk_numbers("a.py"))[0].symbols == (odd,)

    def test_a_file_takes_the_place_of_what_was_known_of_it(self, kitchen: Store) -> None:
        with kitchen.writing() as writing:
            writing.put(taken("src/kettle.py", "whistle\n", kind=FileKind.TEST))
        assert kitchen.artifacts()["src/kettle.py"].kind is FileKind.TEST
        assert [one.text for one in kitchen.chunks(kitchen.chunk_numbers("src/kettle.py"))] == ["whistle\n"]
        assert (kitchen.chunk_total(), texts(kitchen, "pour"), texts(kitchen, "whistle")) == (4, [], ["whistle\n"])

    def test_a_file_that_comes_twice_in_a_run_is_there_once(self, empty: Store) -> None:
        with empty.writing() as writing:
            for text in ("first\n", "second\n", "third\n"):
                writing.put(taken("a.py", text))
        assert (texts(empty, "first"), texts(empty, "second"), texts(empty, "third")) == ([], [], ["third\n"])

    def test_a_file_that_is_gone_is_found_no_more(self, kitchen: Store) -> None:
        with kitchen.writing() as writing:
            for path in ("src/kettle.py", "src/kettle.py", "nowhere"):
                writing.remove(path)
        assert sorted(kitchen.artifacts()) == ["docs/guide.md", "tests/test_kettle.py"]
        assert (kitchen.chunk_total(), texts(kitchen, "heat"), frequencies(kitchen, "heat")) == (3, [], {"heat": 0})
        assert kitchen.allowed(ChunkFilters(symbol_kinds=("method",))) == []

    def test_what_is_known_of_a_file_changes_and_its_pieces_stay(self, kitchen: Store) -> None:
        numbers = kitchen.chunk_numbers("src/kettle.py")
        other = replace(KITCHEN[0].artifact, subsystem="Scullery", tags=("Cold",), git_timestamp=None)
        with kitchen.writing() as writing:
            writing.touch(other)
        assert kitchen.artifacts()["src/kettle.py"] == other
        assert kitchen.chunk_numbers("src/kettle.py") == numbers
        assert kitchen.allowed(ChunkFilters(tags=("cold",))) == list(numbers)
        assert kitchen.allowed(ChunkFilters(tags=("hot",))) == []

    def test_a_file_that_was_not_taken_in_is_not_touched(self, empty: Store) -> None:
        with pytest.raises(StoreError, match=r"a\.py was not taken in"), empty.writing() as writing:
            writing.touch(Artifact(path="a.py", kind=FileKind.CODE))

    def test_vectors_belong_to_the_pieces_of_their_file(self, kitchen: Store) -> None:
        code, doc = tuple(kitchen.chunk_numbers("src/kettle.py")), tuple(kitchen.chunk_numbers("docs/guide.md"))
        assert list(kitchen.segments()) == [VectorSegment(code, b"abcd"), VectorSegment(doc, b"xy")]
        with kitchen.writing() as writing:
            writing.replace_vectors("src/kettle.py", b"efgh")
            writing.replace_vectors("docs/guide.md", b"")
            writing.replace_vectors("nowhere", b"zz")
        assert list(kitchen.segments()) == [VectorSegment(code, b"efgh")]

    def test_times_are_lacking_where_a_file_that_can_be_found_has_none(self, kitchen: Store) -> None:
        assert kitchen.lacks_times()
        with kitchen.writing() as writing:
            writing.remove("tests/test_kettle.py")
            writing.put(IngestedFile(artifact=Artifact(path="empty", kind=FileKind.OTHER, skipped="empty")))
        assert not kitchen.lacks_times()

    def test_many_texts_share_what_they_have_in_common(self, empty: Store) -> None:
        with empty.writing() as writing:
            for number in range(300):
                writing.put(taken(f"src/{number}.py", f"{KETTLE * 30}# {number}\n"))
        for number in (0, 127, 128, 299):
            pieces = empty.chunks(empty.chunk_numbers(f"src/{number}.py"))
            assert "".join(piece.text for piece in pieces) == f"{KETTLE * 30}# {number}\n"
        with empty.writing() as writing:
            writing.remove("src/299.py")
        assert frequencies(empty, "299", "298") == {"299": 0, "298": 2}

    def test_all_of_it_is_there_for_who_opens_it_again(self, engine: Engine, tmp_path: Path) -> None:
        ##= man/spec/cache.md#storage
        ##= type=test
        ##% duvet MUST hide the cache and the index from git and from source patterns, and MUST NOT write through a
        ##% symbolic link there.
        first = engine(tmp_path, create=True)
        fill(first)
        first.close()
        store = engine(tmp_path)
        assert list(store.artifacts()) == ["docs/guide.md", "src/kettle.py", "tests/test_kettle.py"]
        assert texts(store, "spout") == ["class Spout:\n    def pourSlowly(self):\n"]
        store.close()
        assert (tmp_path / ".duvet/knowledge/.gitignore").read_text() == "/.gitignore\n/store.db*\n"


class TestRevision:
    def test_it_is_another_after_each_run_that_changes_anything(self, kitchen: Store) -> None:
        seen = [kitchen.revision]
        changes: Sequence[Callable[[StoreWriter], None]] = (
            lambda writing: writing.put(taken("a.py", "a\n")),
            lambda writing: writing.touch(Artifact(path="a.py", kind=FileKind.TEST)),
            lambda writing: writing.replace_vectors("a.py", b"v"),
            lambda writing: writing.keep("space", b"s"),
            lambda writing: writing.replace_graph([], []),
            lambda writing: writing.remove("a.py"),
        )
        for change in changes:
            with kitchen.writing() as writing:
                change(writing)
            seen.append(kitchen.revision)
        assert len(set(seen)) == 7


def texts(store: Store, word: str) -> list[str]:
    return [
        one.text for one in store.chunks([number for number, _ in store.lexical([word], ChunkFilters(), 9, every=True)])
    ]


def test_any_thread_may_ask_and_write(kitchen: Store) -> None:
    def work() -> int:
        with kitchen.writing() as writing:
            writing.put(taken("a.py", "whistle\n"))
        return kitchen.chunk_total()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == 8
    assert texts(kitchen, "whistle") == ["whistle\n"]
