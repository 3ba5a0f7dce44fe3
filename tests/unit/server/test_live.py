"""The project as the server knows it is the project on disk."""

from __future__ import annotations

import threading
from datetime import date
from pathlib import Path

import anyio
import pytest

from duvet import MemoryTree, Project
from duvet.errors import DuvetError
from duvet.server.live_project import LiveProject
from duvet.tools.context import ProjectSnapshot
from tests.cli.made import CONFIG, KETTLE, SOURCE, make
from tests.unit.server.opened import PAGE_SIZE, living, opened, read
from tests.unit.watching.edits import append

pytestmark = pytest.mark.anyio

TWO = SOURCE + "\n//= spec.md#pouring\n//# The spout MAY drip.\n"
SAME_SIZE = SOURCE.replace("//= spec.md#heating", "//= spec.md#pouring")


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    make(tmp_path / "elsewhere", {"x.rs": TWO})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "more/src/b.rs": TWO})


async def test_what_was_kept_is_used_and_what_comes_then_is_noticed(kettle: Path) -> None:
    kept = read(kettle)

    async with living(kettle) as live:
        recalling = LiveProject(lambda: recalled(kettle), PAGE_SIZE, read=lambda project: kept)
        try:
            assert (await recalling.context()).catalogue is kept
        finally:
            recalling.close()
        assert (await live.context()).catalogue == kept


def recalled(folder: Path) -> Project:
    """A project of which is on record what an earlier run has asked."""
    earlier, now = opened(folder), opened(folder)
    assert earlier.catalogue
    now.tree.record.merge(earlier.tree.record)  # type: ignore[attr-defined]
    return now


async def test_those_who_ask_at_once_share_a_reading(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% The server MUST rely on the system's notifications of changes, and look for changes itself only where they are
    ##% missing or unreliable, as on network file systems.
    readings: list[Project] = []
    contexts: list[ProjectSnapshot] = []

    def open_project() -> Project:
        readings.append(opened(kettle))
        return readings[-1]

    async with living(kettle, open_project) as live:

        async def ask() -> None:
            contexts.append(await live.context())

        for round in (1, 2):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(ask)
            assert (len(readings), len(set(contexts))) == (round, round)
            append("src/a.rs")(kettle)


async def test_one_who_leaves_does_not_keep_the_others_from_their_answer(kettle: Path) -> None:
    gate = threading.Event()

    def open_project() -> Project:
        gate.wait()
        return opened(kettle)

    async with living(kettle, open_project) as live:
        live.begin()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await live.context()
        gate.set()
        assert (await live.context()).catalogue == read(kettle)


async def test_the_loop_goes_on_while_the_project_is_read(kettle: Path) -> None:
    gate = threading.Event()

    def open_project() -> Project:
        gate.wait()
        return opened(kettle)

    async with living(kettle, open_project) as live, anyio.create_task_group() as group:
        group.start_soon(live.context)
        await anyio.lowlevel.checkpoint()
        gate.set()


WRONG = "[[source]\n"


async def test_a_configuration_that_is_wrong_until_it_is_mended(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
    ##% restart.
    config = kettle / ".duvet" / "config.toml"
    async with living(kettle) as live:
        for _ in range(2):
            config.write_text(WRONG)
            told: list[str] = []
            for _ in range(2):
                with pytest.raises(DuvetError) as raised:
                    await live.context()
                told.append(str(raised.value))
            assert told[0] == told[1] and ".duvet/config.toml" in told[0]
            config.write_text(CONFIG)
            assert (await live.context()).catalogue == read(kettle)


async def test_a_folder_that_vanishes_and_comes_back(kettle: Path) -> None:
    async with living(kettle) as live:
        for _ in range(2):
            before = (await live.context()).catalogue
            kettle.rename(kettle.with_name("away"))
            for _ in range(2):
                with pytest.raises(DuvetError, match="there is no such folder"):
                    await live.context()
            kettle.with_name("away").rename(kettle)
            assert (await live.context()).catalogue == before
            append("src/a.rs", TWO)(kettle)
            assert (await live.context()).catalogue == read(kettle) != before


EXPIRING = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "no spout"
expiry = 2030-06-30
"""


async def test_a_day_that_is_over(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% An answer MUST describe one state of the project, with everything that was written to disk before the request.
    config = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
    make(kettle, {".duvet/config.toml": config + EXPIRING})
    days = [date(2030, 6, 29)]
    async with living(kettle, lambda: opened(kettle, days[-1]), lambda: days[-1]) as live:
        context = await live.context()
        days.append(date(2030, 6, 30))
        assert await live.context() is context
        days.append(date(2030, 7, 1))
        assert [len((await live.context()).catalogue.excuses), len(context.catalogue.excuses)] == [0, 1]


async def test_what_can_not_change_is_read_once() -> None:
    files = {name: text.encode() for name, text in KETTLE.items()}
    live = LiveProject(lambda: Project(tree=MemoryTree(files)), PAGE_SIZE)
    try:
        assert await live.context() is await live.context()
    finally:
        live.close()
