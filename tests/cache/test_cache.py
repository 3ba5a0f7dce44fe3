"""Work that is done again only where something has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from duvet.cache.cache import Cache
from duvet.cache.memory import NoMemory
from duvet.errors import UnreadableError
from duvet.tree.disk import DiskTree

LATER = time.time_ns() + 3600 * 10**9


class Work:
    """Counts how often it is done."""

    def __init__(self, answer: str = "answer") -> None:
        self.answer = answer
        self.done = 0

    def __call__(self) -> str:
        self.done += 1
        return self.answer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".duvet").mkdir()
    (tmp_path / "a").write_text("one")
    return tmp_path


def opened(root: Path, now: int = LATER, **environ: str) -> Cache:
    return Cache(DiskTree(str(root)), environ, now)


def run_of_file(root: Path, work: Work, now: int = LATER, how: str = "how") -> str:
    """One run in which a file is read, unless it is known what comes of it."""
    cache = opened(root, now)

    def read(path: str) -> str:
        return f"{work()} of {cache.tree.read(path).decode()}"

    ((_, answer),) = cache.of_files("files", str, ["a"], how, read)
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
    ##% What was kept at a time that is yet to come MUST NOT be used.
    work = Work()
    run_of_file(root, work, LATER)
    run_of_file(root, work, LATER - 1)
    assert work.done == 2
    run_of_file(root, work, LATER)
    assert work.done == 2


def run_of_text(root: Path, work: Work, now: int = LATER) -> str:
    cache = opened(root, now)
    data = cache.tree.read("a")
    answer = cache.of_text("texts", str, "a", "how", data, lambda: f"{work()} of {data.decode()}")
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
    assert cache.of_text("texts", str, "a", "how", first, first.decode) == "one"
    cache.save()
    cache = opened(root)
    second = cache.tree.read("a")
    assert cache.of_text("texts", str, "a", "how", second, second.decode) == "two"


def test_a_text_that_was_not_read_from_the_tree(root: Path) -> None:
    """A download, and the file that another run has put in its place."""
    cache = opened(root, 0)
    cache.tree.read("a")
    assert cache.of_text("texts", str, "a", "how", b"two", lambda: "two") == "two"
    cache.save()
    cache = opened(root, 0)
    assert cache.of_text("texts", str, "a", "how", cache.tree.read("a"), lambda: "one") == "one"


def run_of_tree(root: Path, work: Work, how: str = "how", now: int = LATER, **environ: str) -> str:
    cache = opened(root, now, **environ)

    def ask() -> str:
        return f"{work()} of {cache.tree.exists('b')} {cache.environ.get('NAME')}"

    return cache.of_tree("tree", str, how, ask)


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
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% What was kept at a time that is yet to come MUST NOT be used.
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


def test_work_that_asked_for_all_variables(root: Path) -> None:
    work = Work()
    for _ in range(2):
        cache = opened(root, NAME="value")
        assert cache.of_tree("tree", str, "how", lambda: f"{work()} {sorted(cache.environ)} {len(cache.environ)}")  # noqa: B023
    assert work.done == 2


def test_a_fault_is_not_kept(root: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% An answer that a fault went into, such as a file that can't be read or a download that fails, MUST NOT be kept.
    work = Work()
    (root / "folder").mkdir()
    for _ in range(2):
        cache = opened(root)

        def ask() -> str:
            with pytest.raises(UnreadableError):
                cache.tree.read("folder")  # noqa: B023
            return work()

        cache.of_tree("tree", str, "how", ask)
    assert work.done == 2


def test_a_file_that_is_known_to_hold_some_bytes(root: Path) -> None:
    cache = opened(root)
    assert not cache.holds("a", b"one")
    cache.wrote("a", b"one")
    cache.save()
    assert opened(root).holds("a", b"one")
    assert not opened(root).holds("a", b"two")
    (root / "a").write_text("two")
    assert not opened(root).holds("a", b"one")


def test_a_file_that_was_not_written_after_all(root: Path) -> None:
    cache = opened(root)
    cache.wrote("a", b"two")
    cache.save()
    assert not opened(root).holds("a", b"two")


def test_a_file_that_is_read_and_written(root: Path) -> None:
    cache = opened(root)
    cache.tree.read("a")
    (root / "a").write_text("two")
    cache.wrote("a", b"two")
    cache.keep("run", "how", "answer")
    cache.save()
    cache = opened(root)
    assert cache.recall("run", str, "how") is None
    assert cache.tree.read("a") == b"two" and cache.holds("a", b"two")
    cache.wrote("a", b"two")
    cache.keep("run", "how", "answer")
    assert opened(root).recall("run", str, "how") == "answer"


def test_a_file_that_is_written_anew_was_no_input(root: Path) -> None:
    for text in (b"one", b"two"):
        cache = opened(root)
        assert not cache.holds("a", text)
        (root / "a").write_bytes(text)
        cache.wrote("a", text)
        cache.keep("run", "how", "answer")
        cache.save()
        assert opened(root).recall("run", str, "how") == "answer"


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

        assert len(list(cache.of_files("files", str, names, "", once))) == 100
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
    work, memory = Work(), NoMemory()
    for _ in range(2):
        assert list(memory.of_files("n", str, "pq", "h", lambda path: work() if path == "p" else None)) == [
            ("p", "answer")
        ]
        memory.of_text("n", str, "p", "h", b"", work)
        memory.of_tree("n", str, "h", work)
    memory.wrote("p", b"")
    memory.poured()
    assert work.done == 6 and not memory.holds("p", b"")


def test_a_cache_that_is_not_to_be_kept(root: Path) -> None:
    work = Work()
    run_of_file(root, work)
    for _ in range(2):
        cache = Cache(DiskTree(str(root)), {}, LATER, kept=False)
        assert list(cache.of_files("files", str, ["a"], "how", lambda path: f"{work()} of {path}")) == [
            ("a", "answer of a")
        ]
        cache.save()
    assert work.done == 3
    run_of_file(root, work)
    assert work.done == 3
