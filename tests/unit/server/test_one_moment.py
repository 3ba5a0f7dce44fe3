"""However a project changes while it is read, an answer is that of one moment."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable
from datetime import date
from itertools import count
from pathlib import Path
from threading import Event, Semaphore, Thread

import anyio
import pytest

from duvet.project.project import Project
from duvet.server.live_project import LiveProject, ProjectReader
from duvet.server.staleness import ChangeDetector, open_descriptor
from duvet.trace.catalogue import Catalogue
from tests.cli.made import KETTLE, SOURCE, SPECIFICATION, make
from tests.unit.server.opened import PAGE_SIZE, living, opened, read

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="inotify")]

Edit = Callable[[Path, int], object]


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    return make(tmp_path / "kettle", KETTLE)


def write(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.tmp")
    new.write_text(text)
    new.replace(path)


def write_specification(folder: Path, number: int) -> None:
    write(folder / "spec.md", SPECIFICATION.replace("water", f"water {number}"))


def write_source(folder: Path, number: int) -> None:
    write(folder / "src" / "a.rs", SOURCE.replace("water", f"water {number}"))


def write_both(folder: Path, number: int) -> None:
    write_specification(folder, number)
    write_source(folder, number)


def numbers(catalogue: Catalogue) -> tuple[int, int]:
    """Which specification it has seen, and which source; 0 for those at the beginning."""
    texts = (catalogue.requirements[0].text, catalogue.citations[0].quote)
    first, second = ("".join(filter(str.isdigit, text)) or "0" for text in texts)
    return int(first), int(second)


class Busy:
    """Reads a project, which changes after its specification is read and before its sources are, and once they are."""

    def __init__(self, folder: Path, edit: Edit, times: int) -> None:
        self.folder = folder
        self.edit = edit
        self.times = times
        self.numbers = count(1)
        self.reader = ProjectReader(
            lambda: opened(folder), self.read, PAGE_SIZE, date.today, ChangeDetector(open_descriptor({})), patience=0
        )

    def read(self, project: Project) -> Catalogue:
        assert project.extraction
        self.times -= 1
        self.change()
        found = project.catalogue
        self.change()
        return found

    def change(self) -> None:
        if self.times >= 0:
            self.edit(self.folder, next(self.numbers))

    def numbers_of(self) -> tuple[int, int]:
        self.reader.renew()
        assert self.reader.last
        return numbers(self.reader.last.result().catalogue)


def test_a_change_in_the_middle(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% An answer MUST describe one state of the project, with everything that was written to disk before the request.
    busy = Busy(kettle, write_both, times=0)
    assert busy.numbers_of() == (0, 0)
    write_both(kettle, 100)
    busy.times = 1
    # There is no patience to try it a second time: what is known is older.
    assert busy.numbers_of() == (0, 0)
    assert not busy.reader.is_current()
    assert busy.numbers_of() == (2, 2)
    assert busy.reader.is_current()


def test_one_file_that_changes_all_the_time(kettle: Path) -> None:
    busy = Busy(kettle, write_source, times=0)
    assert busy.numbers_of() == (0, 0)
    write_specification(kettle, 7)
    busy.times = 3
    assert [busy.numbers_of() for _ in range(4)] == [(7, 1), (7, 3), (7, 5), (7, 6)]


class NoRoom:
    """A descriptor in a system that watches no more folders."""

    def __new__(cls) -> NoRoom:  # noqa: PYI034
        from duvet.tree.file_events import InotifyDescriptor

        class Full(InotifyDescriptor):
            def open(self, folders: set[str]) -> None:
                if folders:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return Full()  # type: ignore[return-value]


async def test_the_system_watches_no_more_folders(kettle: Path) -> None:
    live = LiveProject(lambda: opened(kettle), PAGE_SIZE, detector=ChangeDetector(NoRoom()))  # type: ignore[arg-type]
    try:
        for number in range(3):
            write_both(kettle, number)
            assert (await live.context()).catalogue == read(kettle)
            assert await live.context() is await live.context()
    finally:
        live.close()


async def test_all_the_time(kettle: Path) -> None:
    """While somebody writes, four ask: specifications are never older than the sources that come after them."""
    seen: list[tuple[int, int]] = []
    answered, done = Semaphore(0), Event()

    def edit() -> None:
        numbers = count(1)
        while not done.is_set():
            for _ in range(10):
                write_both(kettle, next(numbers))
            answered.acquire()

    async with living(kettle) as live:

        async def ask() -> None:
            for _ in range(8):
                seen.append(await live.ask(lambda context: numbers(context.catalogue)))
                answered.release()

        thread = Thread(target=edit)
        thread.start()
        try:
            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(ask)
        finally:
            done.set()
            answered.release()
            await anyio.to_thread.run_sync(thread.join)
        assert {first - second for first, second in seen} <= {0, 1}
        assert seen == sorted(seen)
        assert (await live.context()).catalogue == read(kettle)


async def test_memory(kettle: Path) -> None:
    ##= man/spec/watch.md#reporting-again
    ##= type=test
    ##% A process that watches or serves MUST NOT use more memory with each run.
    async with living(kettle) as live:
        counted: list[int] = []
        for number in range(60):
            write_both(kettle, number)
            await live.context()
            if number in (20, 59):
                gc.collect()
                counted.append(len(gc.get_objects()))
        assert counted[1] - counted[0] < 50


async def test_nothing_is_left(kettle: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    async with living(kettle) as live:
        await live.context()
    assert len(os.listdir("/proc/self/fd")) == before
