"""The project as the server knows it is the project on disk."""

from __future__ import annotations

import os
import sys
import threading
from datetime import date
from pathlib import Path

import anyio
import pytest

from duvet import MemoryTree, Project
from duvet.cache.cache import Cache
from duvet.errors import DuvetError
from duvet.server.live import Live
from duvet.tools.context import Context
from duvet.tree.disk import DiskTree
from tests.commands.made import CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.server.opened import PAGE_SIZE, living, opened, read
from tests.watching.edits import Edit, append, create, delete, link, move, save_by_rename, save_with_backup

pytestmark = pytest.mark.anyio

TWO = SOURCE + "\n//= spec.md#pouring\n//# The spout MAY drip.\n"
SAME_SIZE = SOURCE.replace("//= spec.md#heating", "//= spec.md#pouring")


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    make(tmp_path / "elsewhere", {"x.rs": TWO})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "more/src/b.rs": TWO})


def checked_out(folder: Path) -> None:
    """What git does when another branch is checked out."""
    for count in range(50):
        create(f"src/deep{count % 7}/{count}.rs", TWO)(folder)
    delete("src/a.rs")(folder)
    save_by_rename("spec.md", SPECIFICATION.replace("Pouring", "Spilling"))(folder)


EDITS = {
    "a source is edited": append("src/a.rs", TWO),
    "a source is saved by renaming": save_by_rename("src/a.rs", TWO),
    "a source is saved with a backup": save_with_backup("src/a.rs", TWO),
    "a source is as long as before": lambda folder: (folder / "src" / "a.rs").write_text(SAME_SIZE),
    "a source is new": create("src/b.rs", TWO),
    "a source is new in new folders": create("src/one/two/three.rs", TWO),
    "a source is deleted": delete("src/a.rs"),
    "a source is renamed": move("src/a.rs", "src/b.rs"),
    "a source is behind a link": link("src/x.rs", "../../elsewhere/x.rs"),
    "a folder is moved in": move("more/src", "src/more"),
    "a folder is moved away": move("src", "docs/src"),
    "the specification": save_by_rename("spec.md", SPECIFICATION.replace("MAY", "MUST")),
    "the specification is deleted": delete("spec.md"),
    "the configuration": save_by_rename(".duvet/config.toml", CONFIG.replace("src/**", "more/**")),
    "the configuration is deleted": delete(".duvet/config.toml"),
    "another branch": checked_out,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer(edit: Edit, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% What was written to disk before a request MUST be in its answer.
    async with living(kettle) as live:
        before = (await live.context()).catalogue
        edit(kettle)
        assert (await live.context()).catalogue == read(kettle) != before


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer_where_the_system_does_not_tell(edit: Edit, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% Where the system doesn't tell of changes, each request MUST look for them.
    async with living(kettle) as live:
        live.close()
        before = (await live.context()).catalogue
        edit(kettle)
        assert (await live.context()).catalogue == read(kettle) != before


async def test_edit_after_edit(kettle: Path) -> None:
    """Each of them within the same tick of the clock of the disk, more often than not."""
    async with living(kettle) as live:
        for count in range(30):
            text = SOURCE.replace("boil", ("boil", "cook", "heat")[count % 3])
            (kettle / "src" / "a.rs").write_text(text)
            assert (await live.context()).catalogue == read(kettle)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
async def test_nothing_is_looked_at_while_nothing_changes(kettle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% While nothing changes, a request MUST NOT look at the files of the project, where the system tells of changes.
    def refused(*args: object, **options: object) -> None:
        raise AssertionError("the disk was asked")

    async with living(kettle) as live:
        context = await live.context()
        with monkeypatch.context() as patched:
            for name in ("stat", "lstat", "open", "scandir", "listdir"):
                patched.setattr(os, name, refused)
            assert await live.context() is context


NOTHING = {
    "a file of the editor": create("src/.a.rs.swp"),
    "an empty folder": lambda folder: (folder / "src" / "empty").mkdir(),
    "a file that nothing matches": create("src/notes.txt"),
    "a file at the top": create("README.md"),
    "the same again": save_by_rename("docs/notes.md", "other"),
}


@pytest.mark.parametrize("edit", NOTHING.values(), ids=NOTHING)
async def test_what_does_not_matter_is_not_read_again(edit: Edit, kettle: Path) -> None:
    async with living(kettle) as live:
        context = await live.context()
        edit(kettle)
        assert await live.context() is context


async def test_what_the_server_keeps_is_no_change(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% What the server keeps for later runs MUST NOT be taken for a change.
    caches: list[Cache] = []

    def open_project() -> Project:
        caches.append(Cache(DiskTree(str(kettle)), {}))
        return Project(str(kettle), tree=caches[-1].tree, memory=caches[-1])

    async with living(kettle, open_project) as live:
        context = await live.context()
        caches[0].keep("catalogue", "", context.catalogue)
        caches[0].save()
        assert (kettle / ".duvet" / "cache" / "catalogue").exists()
        assert await live.context() is context
    assert len(caches) == 1


async def test_what_was_kept_is_used_and_what_comes_then_is_noticed(kettle: Path) -> None:
    kept = read(kettle)

    async with living(kettle) as live:
        recalling = Live(lambda: recalled(kettle), PAGE_SIZE, read=lambda project: kept)
        try:
            assert (await recalling.context()).catalogue is kept
        finally:
            recalling.close()
        assert (await live.context()).catalogue == kept


def recalled(folder: Path) -> Project:
    """A project of which is on record what an earlier run has asked."""
    earlier, now = opened(folder), opened(folder)
    assert earlier.catalogue
    now.tree.record.add(earlier.tree.record)  # type: ignore[attr-defined]
    return now


async def test_those_who_ask_at_once_share_a_reading(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% Requests at the same time MUST share one reading.
    readings: list[Project] = []
    contexts: list[Context] = []

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
    ##% While the project can't be read, each request MUST be answered with the reason, and with what is in it once it can
    ##% be.
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
    ##% When a day is over on which something expires, that MUST be noticed.
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
    live = Live(lambda: Project(tree=MemoryTree(files)), PAGE_SIZE)
    try:
        assert await live.context() is await live.context()
    finally:
        live.close()
