"""Work that asks a tree, and files that work has written."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from duvet.errors import FetchError, UnreadableError
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree
from tests.unit.cache.opened import LATER, Work, opened


def run_of_tree(root: Path, work: Work, how: str = "how", now: int = LATER, **environ: str) -> str:
    cache = opened(root, now, **environ)

    def ask() -> str:
        return f"{work()} of {cache.tree.exists('b')} {cache.environ.get('NAME')}"

    return cache.compute("tree", str, how, ask)


def test_work_on_a_tree_is_done_once(root: Path) -> None:
    work = Work()
    assert [run_of_tree(root, work) for _ in range(2)] == ["answer of False None"] * 2
    assert work.done == 1
    (root / "b").touch()
    assert [run_of_tree(root, work) for _ in range(2)] == ["answer of True None"] * 2
    assert work.done == 2
    run_of_tree(root, work, "another way")
    assert work.done == 3


def test_work_on_a_tree_and_a_clock_that_jumps_back(root: Path) -> None:
    work = Work()
    for now, done in ((LATER, 1), (LATER - 1, 2), (LATER, 2)):
        run_of_tree(root, work, now=now)
        assert work.done == done


def test_work_that_asked_for_a_variable(root: Path) -> None:
    work = Work()
    for value in ("secret", "secret", "other"):
        run_of_tree(root, work, NAME=value)
    assert work.done == 2
    assert b"other" not in (root / ".duvet" / "cache" / "tree").read_bytes().partition(b"answer")[0]


def test_work_that_asked_whether_a_day_is_over(root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% duvet MUST give the same answer with and without the cache.
    work, done = Work(), []
    for number in (30, 31, 31, 30, None, 1, 1, 31):
        today = None if number is None else date(2030, 2 if number == 1 else 1, number)
        cache = DiskCache(DiskTree(str(root)), {}, LATER, today=today)
        day = date(2030, 1, 30)

        def ask() -> str:
            is_over = today is not None and day < today  # noqa: B023
            cache.note_day(day.isoformat(), is_over)  # noqa: B023
            return f"{work()} {is_over}"

        assert cache.compute("tree", str, "how", ask) == f"answer {today is not None and day < today}"
        done.append(work.done)
    assert done == [1, 2, 2, 3, 3, 4, 4, 4]


def test_work_that_asked_for_all_variables(root: Path) -> None:
    work = Work()
    for _ in range(2):
        cache = opened(root, NAME="value")
        assert cache.compute("tree", str, "how", lambda: f"{work()} {sorted(cache.environ)} {len(cache.environ)}")  # noqa: B023
    assert work.done == 2


def test_a_fault_is_not_kept(root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% duvet MUST NOT store an answer that involved a failure, such as an unreadable file, or an input that changed
    ##% during the run.
    work = Work()
    (root / "folder").mkdir()
    for _ in range(2):
        cache = opened(root)

        def ask() -> str:
            with pytest.raises(UnreadableError):
                cache.tree.read("folder")  # noqa: B023
            return work()

        cache.compute("tree", str, "how", ask)
    assert work.done == 2


def test_a_file_that_is_known_to_hold_some_bytes(root: Path) -> None:
    cache = opened(root)
    assert not cache.has_content("a", b"one")
    cache.note_written("a", b"one")
    cache.save()
    assert opened(root).has_content("a", b"one")
    assert not opened(root).has_content("a", b"two")
    (root / "a").write_text("two")
    assert not opened(root).has_content("a", b"one")


def test_a_file_that_was_not_written_after_all(root: Path) -> None:
    cache = opened(root)
    cache.note_written("a", b"two")
    cache.save()
    assert not opened(root).has_content("a", b"two")


def test_a_file_that_is_read_and_written(root: Path) -> None:
    cache = opened(root)
    cache.tree.read("a")
    (root / "a").write_text("two")
    cache.note_written("a", b"two")
    cache.store("run", "how", "answer")
    cache.save()
    cache = opened(root)
    assert cache.recall("run", str, "how") is None
    assert cache.tree.read("a") == b"two" and cache.has_content("a", b"two")
    cache.note_written("a", b"two")
    cache.store("run", "how", "answer")
    assert opened(root).recall("run", str, "how") == "answer"


def test_a_file_that_is_written_anew_was_no_input(root: Path) -> None:
    for text in (b"one", b"two"):
        cache = opened(root)
        assert not cache.has_content("a", text)
        (root / "a").write_bytes(text)
        cache.note_written("a", text)
        cache.store("run", "how", "answer")
        cache.save()
        assert opened(root).recall("run", str, "how") == "answer"


def test_a_download_that_fails(tmp_path: Path) -> None:
    cache = DiskCache(DiskTree(str(tmp_path)), {})
    library = Library(cache.tree, "specs", lambda wanted: {url: FetchError("no answer") for url in wanted}, "", cache)
    with pytest.raises(FetchError):
        library.load(locate_specification("https://tea.example/spec.md"))
    cache.store("question", "how", 1)
    assert DiskCache(DiskTree(str(tmp_path)), {}).recall("question", int, "how") is None
