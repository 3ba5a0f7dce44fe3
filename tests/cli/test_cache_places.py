"""The cache where something may not be read or written, or has no room, and inputs that are older than any run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.made import CONFIG, SOURCE, make
from tests.cli.running import NOBODY, Done, Run, files, run, runner
from tests.conftest import ROOT
from tests.unit.tree.twins import without_steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rights and disks of Linux")

CACHE = ".duvet/cache"
OTHER = SOURCE.partition("\n\n")[0]
IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def rights(folder: Path, mode: int) -> None:
    """Whether a folder and all that is in it may be read and written."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode | 0o111 if path.is_dir() and mode else mode)


def answer(command: str, folder: Path, *args: str) -> Done:
    """What somebody without rights is told, less the steps."""
    done = run(command, folder, *args, before=NOBODY)
    return Done(done.code, done.out, without_steps(done.err))


CACHES: dict[str, Callable[[Path], object]] = {
    "nothing may be put into the cache": lambda folder: (folder / CACHE).chmod(0o555),
    "nothing in the cache may be written": lambda folder: rights(folder / CACHE, 0o444),
    "the cache may not be entered": lambda folder: (folder / CACHE).chmod(0),
    "the cache may not be listed": lambda folder: (folder / CACHE).chmod(0o311),
    "nothing in the cache may be read": lambda folder: rights(folder / CACHE, 0o200),
}
INPUTS: dict[str, Callable[[Path], object]] = {
    "a source may not be read": lambda folder: (folder / "src/a.rs").chmod(0),
    "sources may not be listed": lambda folder: (folder / "src").chmod(0o311),
    "sources may not be entered": lambda folder: (folder / "src").chmod(0o644),
    "a specification may not be read": lambda folder: (folder / "spec.md").chmod(0),
    "the configuration may not be read": lambda folder: (folder / ".duvet/config.toml").chmod(0),
    "requirements may not be read": lambda folder: rights(folder / ".duvet/requirements", 0o200),
}


@pytest.mark.parametrize("name", CACHES)
def test_a_cache_that_may_not_be_used(name: str, public: Path, duvet_command: str) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% A cache that cannot be written MUST NOT fail a run, and concurrent or killed runs MUST NOT damage it.
    make(public, {"src/a.rs": OTHER})
    CACHES[name](public)
    kept = answer(duvet_command, public, "report")
    left = files(public)
    assert (kept, left) == (answer(duvet_command, public, "--no-cache", "report"), files(public))
    rights(public / CACHE, 0o755)


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_that_may_not_be_read(name: str, public: Path, duvet_command: str) -> None:
    """Everything about it is in the cache, and is there for nobody who may not read it."""
    INPUTS[name](public)
    for _ in range(2):
        kept = answer(duvet_command, public, "report")
        plain = answer(duvet_command, public, "--no-cache", "report")
        assert kept == plain
        rights(public, 0o755)


@pytest.mark.parametrize("has_cache", [True, False], ids=["with a cache", "without one"])
def test_a_tree_that_is_only_read(has_cache: bool, public: Path, duvet_command: str) -> None:
    if not has_cache:
        shutil.rmtree(public / CACHE)
    before = files(public)
    rights(public, 0o555)
    kept = answer(duvet_command, public, "report")
    assert kept == answer(duvet_command, public, "--no-cache", "report")
    assert (kept.code, kept.err.count("can't write this file: Permission denied")) == (1, 1)
    assert (public / CACHE).exists() is has_cache
    rights(public, 0o755)
    assert files(public) == before


def test_reports_that_are_there_already_need_not_be_written(public: Path, duvet_command: str) -> None:
    ##= man/spec/cache.md#freshness
    ##= type=test
    ##% When nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
    ##% alone, and `duvet validate` MUST NOT read the sources again.
    right = answer(duvet_command, public, "report")
    folders = [public, *(path for path in public.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    assert answer(duvet_command, public, "report") == right
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.skipif(not IS_ROOT, reason="only root can become somebody else")
def test_what_another_user_may_read(public: Path, duvet_command: str) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% duvet MUST treat a cache that is damaged, or that another user or another build of duvet wrote, as absent.
    make(public, {".duvet/config.toml": CONFIG + "[report.html]\nenabled = false\n"})
    (public / "src/a.rs").chmod(0)
    os.chown(public / "src/a.rs", 0, 0)
    assert run(duvet_command, public, "-q", "report") == Done(0, "", "")
    for cache in ((), ("--no-cache",)):
        message = "error: Permission denied (os error 13) [DUV010]\n --> src/a.rs\n\nencountered 1 errors\n"
        assert run(duvet_command, public, *cache, "-q", "report", before=NOBODY) == Done(1, "", message)


@pytest.fixture
def small_disk(kettle: Path) -> Iterator[Path]:
    """The cache on a disk that has room for hardly anything."""
    (kettle / CACHE).mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8192", "tmpfs", str(kettle / CACHE)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk of its own: {mounted.stderr.decode().strip()}")
    try:
        yield kettle
    finally:
        subprocess.run(["umount", kettle / CACHE], check=True)


def test_a_full_disk(small_disk: Path, duvet: Run) -> None:
    for text in (OTHER, SOURCE, OTHER):
        make(small_disk, {"src/a.rs": text})
        kept = duvet("report")
        left = files(small_disk)
        plain = duvet("--no-cache", "report")
        assert (kept.code, without_steps(kept.err), left) == (plain.code, without_steps(plain.err), files(small_disk))
    assert sum(path.stat().st_size for path in (small_disk / CACHE).iterdir()) < 8192
    assert not list((small_disk / CACHE).glob("*.new"))


def test_inputs_that_are_older_than_any_run(duvet_command: str, tmp_path: Path) -> None:
    """Links to files that were there before: their times are trusted, and links that lead elsewhere are noticed."""
    linked = ROOT / "tests/cli/linked"
    folder = make(tmp_path / "kettle", {".duvet/config.toml": CONFIG.replace("src/**/*.rs", "src/*")})
    (folder / "src").mkdir()
    (folder / "spec.md").symlink_to(linked / "spec.md")
    duvet = runner(duvet_command, folder)
    for name in ("stop.rs", "stop.rs", "beep.rs", "later.rs", "stop.rs"):
        (folder / "src/module").unlink(missing_ok=True)
        (folder / "src/module").symlink_to(linked / name)
        kept = duvet("report")
        left = files(folder)
        plain = duvet("--no-cache", "report")
        assert (kept.code, without_steps(kept.err), left) == (plain.code, without_steps(plain.err), files(folder))
        assert kept.code == 0 and "src/module" in left[".duvet/reports/report.json"].decode()
