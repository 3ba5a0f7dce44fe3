import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from duvet.errors import FetchError, UnreadableError
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.tree.cache import BlobStore, Cache, DiskCache
from duvet.tree.files import DiskTree

LATER = time.time_ns() + 3600 * 10**9


class Work:
    done = 0

    def __call__(self) -> str:
        self.done += 1
        return "answer"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".duvet").mkdir()
    (tmp_path / "a").write_text("one")
    return tmp_path


def opened(root: Path, now: int = LATER, **environ: str) -> DiskCache:
    return DiskCache(DiskTree(str(root)), environ, now)


def run_of_file(root: Path, work: Work, now: int = LATER, how: str = "how") -> str:
    cache = opened(root, now)

    def read(path: str) -> str:
        return f"{work()} of {cache.tree.read(path).decode()}"

    ((_, answer),) = cache.parse_files("files", str, ["a"], how, read)
    cache.save()
    return answer


def run_of_text(root: Path, work: Work, now: int = LATER, how: str = "how") -> str:
    cache = opened(root, now)
    data = cache.tree.read("a")
    answer = cache.parse_text("texts", str, "a", how, data, lambda: f"{work()} of {data.decode()}")
    cache.save()
    return answer


def run_of_tree(root: Path, work: Work, now: int = LATER, how: str = "how", **environ: str) -> str:
    cache = opened(root, now, **environ)

    def ask() -> str:
        return f"{work()} of {cache.tree.exists('b')} {cache.environ.get('NAME')}"

    return cache.compute("tree", str, how, ask)


@pytest.mark.parametrize(
    ("run", "now", "name", "before", "after"),
    [
        *((run, now, "a", "one", "two") for run in (run_of_file, run_of_text) for now in (0, LATER)),
        (run_of_tree, LATER, "b", "False None", "True None"),
    ],
    ids=range(5),
)
def test_work_is_done_once_in_each_way(
    run: Callable[..., str], now: int, name: str, before: str, after: str, root: Path
) -> None:
    work = Work()
    assert [run(root, work, now) for _ in range(3)] == [f"answer of {before}"] * 3
    assert work.done == 1
    (root / name).write_text("two")
    assert [run(root, work, now) for _ in range(3)] == [f"answer of {after}"] * 3
    assert work.done == 2
    run(root, work, now, "another way")
    assert work.done == 3


@pytest.mark.parametrize("run", [run_of_file, run_of_tree])
def test_a_clock_that_jumps_back_is_tolerated(run: Callable[..., str], root: Path) -> None:
    work = Work()
    for now, done in ((LATER, 1), (LATER - 1, 2), (LATER, 2)):
        run(root, work, now)
        assert work.done == done


def test_a_text_that_changed_within_one_tick_of_the_clock(root: Path) -> None:
    """The file has the same status as the parsed one, but other content."""
    work = Work()
    run_of_text(root, work, 0)
    (root / "a").write_text("ONE")
    info = (root / "a").stat()
    cache = opened(root, 0)
    now, rows = cache.blobs.load("texts", tuple[int, dict[str, dict[str, tuple[list[object], str]]]]) or (0, {})
    rows["how"]["a"][0][1:4] = [info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
    cache.blobs.save("texts", (now, rows))
    assert run_of_text(root, work, 0) == "answer of ONE"


@pytest.mark.parametrize(
    ("now", "texts", "later"), [(LATER, ("one", "two"), "two"), (0, ("two", "one"), "one")], ids=range(2)
)
def test_a_text_that_is_not_the_one_in_the_tree(now: int, texts: tuple[str, str], later: str, root: Path) -> None:
    """The file changes while its text is parsed, or a download is parsed that another run replaced by the file."""
    for text in texts:
        cache = opened(root, now)
        data = cache.tree.read("a") if text == "one" or later == "two" else b"two"
        (root / "a").write_text(later)
        cache.tree.read("a")
        assert cache.parse_text("texts", str, "a", "how", data, data.decode) == text
        cache.save()


def test_times_that_are_thousands_of_years_away(root: Path) -> None:
    os.utime(root / "a", ns=(1 << 65, 1 << 65))
    work = Work()
    assert [run_of_file(root, work) for _ in range(2)] == ["answer of one"] * 2


def test_few_files_that_change_are_read_again_each_time(root: Path) -> None:
    """Writing the whole cache for one file of a hundred would cost more than reading the file."""
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


def test_the_cache_that_stores_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    BlobStore(".").save("name", 1)
    BlobStore().save("other", 1)
    assert (BlobStore(".").load("name", int), BlobStore().load("name", int), BlobStore().names()) == (1, None, [])
    assert not (root / "other").exists()
    work, memory = Work(), Cache()
    for _ in range(2):
        found = memory.parse_files("n", str, "pq", "h", lambda path: work() if path == "p" else None)
        assert list(found) == [("p", "answer")]
        memory.parse_text("n", str, "p", "h", b"", work)
        memory.compute("n", str, "h", work)
    memory.note_written("p", b"")
    memory.forgo()
    assert work.done == 6 and not memory.has_content("p", b"")
    run_of_file(root, work)
    for _ in range(2):
        cache = DiskCache(DiskTree(str(root)), {}, LATER, kept=False)
        assert list(cache.parse_files("files", str, ["a"], "how", lambda path: work())) == [("a", "answer")]
        cache.save()
    assert work.done == 9
    run_of_file(root, work)
    assert work.done == 9


def test_results_depend_on_the_variables_that_were_read(root: Path) -> None:
    work = Work()
    for value in ("secret", "secret", "other"):
        run_of_tree(root, work, NAME=value)
    assert work.done == 2
    assert b"other" not in (root / ".duvet" / "cache" / "tree").read_bytes().partition(b"answer")[0]
    for done in (3, 4):
        cache = opened(root, NAME="value")
        cache.compute("all", str, "how", lambda: f"{work()} {sorted(cache.environ)} {len(cache.environ)}")  # noqa: B023
        assert work.done == done


def test_results_expire_when_the_day_ends_if_they_depend_on_it(root: Path) -> None:
    work, done, day = Work(), [], date(2030, 1, 30)
    for number in (30, 31, 31, 30, None, 1, 1, 31):
        today = None if number is None else date(2030, 2 if number == 1 else 1, number)
        is_over = today is not None and day < today
        cache = DiskCache(DiskTree(str(root)), {}, LATER, today=today)

        def ask() -> str:
            cache.note_day(day.isoformat(), is_over)  # noqa: B023
            return f"{work()} {is_over}"  # noqa: B023

        assert cache.compute("tree", str, "how", ask) == f"answer {is_over}"
        done.append(work.done)
    assert done == [1, 2, 2, 3, 3, 4, 4, 4]


def test_a_failure_is_not_cached(root: Path) -> None:
    (root / "folder").mkdir()
    for name, path in (("folder", "folder"), ("download", "https://tea.example/spec.md")):
        cache = opened(root)
        library = Library(cache.tree, "specs", lambda wanted: {url: FetchError("none") for url in wanted}, "", cache)
        with pytest.raises((UnreadableError, FetchError)):
            library.load(locate_specification(path))
        cache.store(name, "how", 1)
        assert opened(root).recall(name, int, "how") is None


def test_a_file_that_is_known_to_hold_some_bytes(root: Path) -> None:
    cache = opened(root)
    assert not cache.has_content("a", b"one")
    cache.note_written("a", b"one")
    cache.save()
    assert opened(root).has_content("a", b"one") and not opened(root).has_content("a", b"two")
    (root / "a").write_text("two")
    assert not opened(root).has_content("a", b"one")
    # It was not written after all.
    cache = opened(root)
    cache.note_written("a", b"three")
    cache.save()
    assert not opened(root).has_content("a", b"three")


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
