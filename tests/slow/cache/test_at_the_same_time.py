import subprocess
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import pytest

from duvet.tree.cache import BlobStore, CacheFileState, list_cache_files
from duvet.tree.files import CACHE_FOLDER
from duvet.tree.outputs import is_unfinished
from tests.cli.command import start
from tests.cli.sample_project import KETTLE, make
from tests.unit.tree.twins import run_here, state, without_steps

TEXTS = (
    "//= spec.md#heating\n//# The kettle MUST boil water.\n",
    "//= spec.md#pouring\n//# The spout MAY drip.\n",
    "//= spec.md#heating\n//# It SHOULD whistle when done.\n" * 2,
)
MANY = {f"src/{number}.rs": TEXTS[number % 3] for number in range(60)}


class Answer(NamedTuple):
    code: int
    err: str
    report: bytes


def options(number: int) -> tuple[str, ...]:
    kind = ("--json", "--json-v2", "--html")[number % 3]
    return (*((), ("--strict",), ("--prune",))[number % 3], kind, f"out{number}")


def finished(processes: Iterable[subprocess.Popen[str]], folder: Path) -> Iterator[Answer]:
    for number, process in enumerate(processes):
        _, err = process.communicate(timeout=60)
        yield Answer(process.returncode, without_steps(err), (folder / f"out{number}").read_bytes())


def without_cache(folder: Path, number: int) -> Answer:
    done = run_here(folder, "--no-cache", "report", *options(number))
    return Answer(done.code, without_steps(done.err), (folder / f"out{number}").read_bytes())


def is_whole(folder: Path) -> bool:
    blobs = BlobStore(str(folder / CACHE_FOLDER))
    unfinished = [path for path in folder.rglob("*") if is_unfinished(path.name)]
    return {item.state for item in list_cache_files(blobs)} == {CacheFileState.GOOD} and not unfinished


@pytest.mark.parametrize("count", [2, 8])
def test_parallel_runs_agree(count: int, duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "kettle", {**KETTLE, **MANY})
    plain = make(tmp_path / "plain" / "kettle", {**KETTLE, **MANY})
    for text in TEXTS[:2]:
        make(folder, {"src/a.rs": text})
        make(plain, {"src/a.rs": text})
        processes = [start(duvet_command, folder, "report", *options(number)) for number in range(count)]
        right = [without_cache(plain, number) for number in range(count)]
        assert list(finished(processes, folder)) == right
        assert is_whole(folder)
        assert state(folder) == state(plain)


def test_parallel_runs_agree_while_a_source_changes(duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "kettle", {**KETTLE, **MANY, "src/a.rs": TEXTS[0]})
    right: list[set[Answer]] = [set() for _ in range(8)]
    for text in TEXTS:
        plain = make(tmp_path / "plain" / "kettle", {**KETTLE, **MANY, "src/a.rs": text})
        for number in range(8):
            right[number].add(without_cache(plain, number))
    processes = [start(duvet_command, folder, "report", *options(number)) for number in range(8)]
    texts = cycle(TEXTS)
    while any(process.poll() is None for process in processes):
        # In one step, because every source is read in one.
        make(tmp_path, {"new": next(texts)})
        (tmp_path / "new").replace(folder / "src" / "a.rs")
    given = zip(finished(processes, folder), right, strict=True)
    assert [answer for answer, answers in given if answer not in answers] == []
    assert is_whole(folder)
    for number in range(8):
        kept = run_here(folder, "report", *options(number))
        written = state(folder)
        assert (kept.code, state(folder)) == (run_here(folder, "--no-cache", "report", *options(number)).code, written)


def test_clearing_the_cache_does_not_disturb_other_runs(duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "kettle", {**KETTLE, **MANY})
    plain = make(tmp_path / "plain" / "kettle", {**KETTLE, **MANY})
    right = [without_cache(plain, number) for number in range(4)]
    processes = [start(duvet_command, folder, "report", *options(number)) for number in range(4)]
    cleared = set()
    while any(process.poll() is None for process in processes):
        cleared.add(run_here(folder, "cache", "--clear").code)
    assert list(finished(processes, folder)) == right
    assert cleared == {0}
    assert state(folder) == state(plain)
