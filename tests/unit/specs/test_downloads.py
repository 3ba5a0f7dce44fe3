"""Many downloads at once, from a server of our own on loopback."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier

import pytest

from duvet.errors import FetchError, OutputError
from duvet.progress import Downloads, Progress
from duvet.specs.download import MAX_PARALLEL_DOWNLOADS, download_texts
from duvet.specs.library import DownloadOutcome, Policy
from tests.unit.specs.serving import Held, text

HTTP = Policy(allow_http=True)


class Heard(Progress):
    """Keeps what it hears of, less the server's address."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, step: str) -> None:
        self.lines.append(step)

    def end(self, outcome: str) -> None:
        self.lines.append(outcome)


def downloaded(server: Held, files: dict[str, Path], policy: Policy = HTTP) -> dict[str, str | bytes]:
    """What came of each path that was tried."""
    found = download_texts({f"{server.url}{path}": str(file) for path, file in files.items()}, policy, Progress())
    return {url.removeprefix(server.url): shown(outcome) for url, outcome in found.items()}


def shown(outcome: DownloadOutcome) -> str | bytes:
    return outcome if isinstance(outcome, bytes) else str(outcome).partition(": ")[2]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_as_many_as_may_be_are_under_way_at_once(held: Held, tmp_path: Path) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet SHOULD download missing specifications at the same time, and what it finds MUST NOT depend on the order in
    ##% which they arrive.
    names = [f"n{index}" for index in range(2 * MAX_PARALLEL_DOWNLOADS)]
    held.meeting = Barrier(MAX_PARALLEL_DOWNLOADS)
    found = downloaded(held, {f"/good/{name}": tmp_path / f"{name}.txt" for name in names})
    assert found == {f"/good/{name}": text(name) for name in names}
    assert content(tmp_path) == {f"{name}.txt": text(name) for name in names}
    assert (held.most, sorted(held.seen)) == (MAX_PARALLEL_DOWNLOADS, sorted(found))


def test_a_slow_one_holds_nothing_back(held: Held, tmp_path: Path) -> None:
    class Release(Progress):
        def end(self, outcome: str) -> None:
            ended.append(outcome.rpartition("/")[2])
            if len(ended) == 2 * MAX_PARALLEL_DOWNLOADS:
                held.doors["/good/slow"].set()

    ended: list[str] = []
    held.held = {"/good/slow"}
    names = ["slow", *(f"n{index}" for index in range(2 * MAX_PARALLEL_DOWNLOADS))]
    files = {f"{held.url}/good/{name}": str(tmp_path / name) for name in names}
    assert list(download_texts(files, HTTP, Release()).values()) == [text(name) for name in ended]
    assert (ended[-1], sorted(ended)) == ("slow", sorted(names))


def test_those_that_never_end_make_room(held: Held, tmp_path: Path) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST download over HTTPS unless the user allows otherwise, and give up when a download is too large or
    ##% takes too long.
    stuck = [f"/good/stuck{index}" for index in range(MAX_PARALLEL_DOWNLOADS)]
    held.held = set(stuck)
    files = {path: tmp_path / path[1:] for path in [*stuck, "/good/late"]}
    found = downloaded(held, files, Policy(allow_http=True, seconds=2))
    assert found == {**dict.fromkeys(stuck, "it took more than 2 seconds"), "/good/late": text("late")}
    assert content(tmp_path) == {"good/late": text("late")}


def test_those_that_fail_are_told_among_those_that_do_not(held: Held, tmp_path: Path) -> None:
    paths = ["/bad/a", "/good/b", "/page/c", "/good/d"]
    files = {path: tmp_path / path[1:] for path in paths}
    assert downloaded(held, files) == {
        "/bad/a": "the server answered 404 Not Found",
        "/good/b": text("b"),
        "/page/c": "it is an HTML page, where text or Markdown is needed",
        "/good/d": text("d"),
    }
    assert content(tmp_path) == {"good/b": text("b"), "good/d": text("d")}


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["/good/a", "/good/b", "/bad/c"], {"/good/a": text("a")}),
        (["/bad/a", "/good/b", "/good/c"], {"/bad/a": "the server answered 404 Not Found", "/good/b": text("b")}),
    ],
)
def test_one_file_is_filled_once(held: Held, tmp_path: Path, paths: list[str], found: dict[str, str | bytes]) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet SHOULD download missing specifications at the same time, and what it finds MUST NOT depend on the order in
    ##% which they arrive.
    assert downloaded(held, dict.fromkeys(paths, tmp_path / "tea.txt")) == found
    assert (held.seen, content(tmp_path)) == (list(found), {"tea.txt": list(found.values())[-1]})


@pytest.mark.parametrize("names", [["tea", "tea/pot"], ["tea/pot", "tea"]])
def test_of_a_file_and_a_folder_of_one_name_the_first_stays(held: Held, tmp_path: Path, names: list[str]) -> None:
    paths = [f"/good/{name}" for name in names]
    urls = {f"{held.url}{path}": str(tmp_path / path[1:]) for path in paths}
    first, second = download_texts(urls, HTTP, Progress()).values()
    assert (first, type(second)) == (text("tea"), OutputError)
    assert content(tmp_path) == {paths[0][1:]: text("tea")}


def test_what_is_not_allowed_begins_no_thread(held: Held, tmp_path: Path) -> None:
    ##= man/spec/trace.md#specifications
    ##% With `--offline`, duvet MUST NOT download anything.
    class Watched(Heard):
        def downloads(self, count: int) -> Downloads:
            raise AssertionError("there is nothing to watch")

    progress = Watched()
    urls = [f"{held.url}/good/{name}" for name in "abc"]
    found = download_texts(
        {url: str(tmp_path / url[-1]) for url in urls}, Policy(allow_http=True, offline=True), progress
    )
    assert [str(outcome) for outcome in found.values()] == [
        f"could not download {url}: downloads are off" for url in urls
    ]
    assert all(isinstance(outcome, FetchError) for outcome in found.values())
    assert (progress.lines, held.seen) == ([f"Downloading {url}" for url in urls], [])


def test_each_is_told_from_its_beginning_to_its_end(held: Held, tmp_path: Path) -> None:
    class Amounts(Downloads):
        def amount(self, url: str, size: int) -> None:
            progress.lines.append(f"{url} {size}")

        def fail(self, url: str) -> None:
            progress.lines.append(f"failed {url}")

        def __exit__(self, *error: object) -> None:
            progress.lines.append("over")

    class All(Heard):
        def downloads(self, count: int) -> Downloads:
            self.lines.append(f"{count} to come")
            return Amounts(self)

    progress = All()
    good, bad = f"{held.url}/good/a", f"{held.url}/bad/b"
    download_texts(dict.fromkeys((bad, good), str(tmp_path / "tea")), HTTP, progress)
    assert progress.lines == [
        "2 to come",
        f"Downloading {bad}",
        f"failed {bad}",
        f"Downloading {good}",
        f"{good} {len(text('a'))}",
        f"Downloaded {good}",
        "over",
    ]


def test_an_interruption_waits_for_nothing(held: Held, tmp_path: Path) -> None:
    class Interrupting(Progress):
        def end(self, outcome: str) -> None:
            raise KeyboardInterrupt

    held.held = {"/good/a", "/good/c"}
    files = {f"{held.url}/good/{name}": str(tmp_path / name) for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        download_texts(files, HTTP, Interrupting())
    assert content(tmp_path) == {"b": text("b")}
