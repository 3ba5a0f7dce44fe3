"""Work that is done again only where something has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.tree.cache import Cache, DiskCache
from duvet.tree.files import DiskTree
from tests.unit.cache.opened import LATER, Work, opened


def run_of_file(root: Path, work: Work, now: int = LATER, how: str = "how") -> str:
    """One run in which a file is read, unless it is known what comes of it."""
    cache = opened(root, now)

    def read(path: str) -> str:
        return f"{work()} of {cache.tree.read(path).decode()}"

    ((_, answer),) = cache.parse_files("files", str, ["a"], how, read)
    cache.save()
    return answer


@pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])
def test_a_file_is_read_once(now: int, root: Path) -> None:
    work = Work()
    assert [run_of_file(root, work, now) for _ in range(3)] == ["answer of one"] * 3
    assert work.done == 1
    (root / "a").write_text("two")
    assert [run_of_file(root, work, now) for _ in range(3)] == ["answer of two"] * 3
    assert work.done == 2


def test_a_file_is_read_once_in_each_way(root: Path) -> None:
    work = Work()
    for how in ("one", "other"):
        run_of_file(root, work, how=how)
    assert work.done == 2


def test_a_clock_that_jumps_back(root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% duvet MUST give the same answer with and without the cache.
    work = Work()
    run_of_file(root, work, LATER)
    run_of_file(root, work, LATER - 1)
    assert work.done == 2
    run_of_file(root, work, LATER)
    assert work.done == 2


def run_of_text(root: Path, work: Work, now: int = LATER) -> str:
    cache = opened(root, now)
    data = cache.tree.read("a")
    answer = cache.parse_text("texts", str, "a", "how", data, lambda: f"{work()} of {data.decode()}")
    cache.save()
    return answer


@pytest.mark.parametrize("now", [0, LATER], ids=["by content", "by time"])
def test_a_text_is_parsed_once(now: int, root: Path) -> None:
    work = Work()
    assert [run_of_text(root, work, now) for _ in range(2)] == ["answer of one"] * 2
    assert work.done == 1
    (root / "a").write_text("two")
    assert [run_of_text(root, work, now) for _ in range(2)] == ["answer of two"] * 2
    assert work.done == 2


def test_a_text_that_changed_within_one_tick_of_the_clock(root: Path) -> None:
    """The file that is read has the marks of the one that was parsed, and other content."""
    work = Work()
    run_of_text(root, work, 0)
    (root / "a").write_text("ONE")
    info = (root / "a").stat()
    cache = opened(root, 0)
    now, rows = cache.blobs.load("texts", tuple[int, dict[str, dict[str, tuple[list[object], str]]]]) or (0, {})
    rows["how"]["a"][0][1:4] = [info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
    cache.blobs.save("texts", (now, rows))
    assert run_of_text(root, work, 0) == "answer of ONE"


def test_a_text_that_changed_while_it_was_parsed(root: Path) -> None:
    """What is read from one text is not kept for the other, which was read later in the same run."""
    cache = opened(root)
    first = cache.tree.read("a")
    (root / "a").write_text("two")
    cache.tree.read("a")
    assert cache.parse_text("texts", str, "a", "how", first, first.decode) == "one"
    cache.save()
    cache = opened(root)
    second = cache.tree.read("a")
    assert cache.parse_text("texts", str, "a", "how", second, second.decode) == "two"


def test_a_text_that_was_not_read_from_the_tree(root: Path) -> None:
    """A download, and the file that another run has put in its place."""
    cache = opened(root, 0)
    cache.tree.read("a")
    assert cache.parse_text("texts", str, "a", "how", b"two", lambda: "two") == "two"
    cache.save()
    cache = opened(root, 0)
    assert cache.parse_text("texts", str, "a", "how", cache.tree.read("a"), lambda: "one") == "one"


def test_times_that_are_thousands_of_years_away(root: Path) -> None:
    os.utime(root / "a", ns=(1 << 65, 1 << 65))
    work = Work()
    assert [run_of_file(root, work) for _ in range(2)] == ["answer of one"] * 2


def test_few_files_that_change_are_read_again_each_time(root: Path) -> None:
    """To write all of the cache for one file of a hundred would cost more than to read that file."""
    names = [f"f{number}" for number in range(100)]

    def run() -> list[str]:
        cache = opened(root)
        read = []

        def once(name: str) -> str:
            read.append(name)
            return cache.tree.read(name).decode()

        assert len(list(cache.parse_files("files", str, names, "", once))) == 100
        cache.save()
        return read

    for name in names:
        (root / name).write_text(name)
    assert (run(), run()) == (names, [])
    (root / "f7").write_text("more")
    assert (run(), run()) == (["f7"], ["f7"])
    for name in names[:3]:
        (root / name).write_text("most")
    assert (run(), run()) == (["f0", "f1", "f2", "f7"], [])


def test_where_nothing_is_kept() -> None:
    work, memory = Work(), Cache()
    for _ in range(2):
        assert list(memory.parse_files("n", str, "pq", "h", lambda path: work() if path == "p" else None)) == [
            ("p", "answer")
        ]
        memory.parse_text("n", str, "p", "h", b"", work)
        memory.compute("n", str, "h", work)
    memory.note_written("p", b"")
    memory.forgo()
    assert work.done == 6 and not memory.has_content("p", b"")


def test_a_cache_that_is_not_to_be_kept(root: Path) -> None:
    work = Work()
    run_of_file(root, work)
    for _ in range(2):
        cache = DiskCache(DiskTree(str(root)), {}, LATER, kept=False)
        assert list(cache.parse_files("files", str, ["a"], "how", lambda path: f"{work()} of {path}")) == [
            ("a", "answer of a")
        ]
        cache.save()
    assert work.done == 3
    run_of_file(root, work)
    assert work.done == 3
