import errno
import gc
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import date
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from duvet import MemoryTree, Project
from duvet.errors import DuvetError
from duvet.server.live_project import ChangeDetector, ProjectReader, open_descriptor
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.file_events import InotifyDescriptor, MountTable
from duvet.tree.files import DiskTree
from tests.cli.sample_project import CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.edits import Edit, append, create, delete, link, move, save_by_rename, save_with_backup
from tests.unit.server.clients import blocks, got, list_below, prompt_text, text
from tests.unit.server.servers import LONGEST, PAGE_SIZE, open_live_project, opened, read, server_of

pytestmark = pytest.mark.anyio
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify")

TWO = SOURCE + "\n//= spec.md#pouring\n//# The spout MAY drip.\n"
SAME_SIZE = SOURCE.replace("//= spec.md#heating", "//= spec.md#pouring")


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    make(tmp_path / "elsewhere", {"x.rs": TWO})
    return make(tmp_path / "kettle", {**KETTLE, "docs/notes.md": "", "more/src/b.rs": TWO})


def check_out(folder: Path) -> None:
    """Change files as git does when it checks out a branch."""
    for number in range(50):
        create(f"src/deep{number % 7}/{number}.rs", TWO)(folder)
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
    "another branch": check_out,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_an_edit_is_in_the_next_answer(edit: Edit, kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##% The server MUST compute each answer from one state of the project that includes all files written before the
    ##% request.
    polling = open_live_project(kettle, detector=ChangeDetector(None))
    async with open_live_project(kettle) as live, polling as unnotified:
        before = (await live.context()).catalogue
        assert (await unnotified.context()).catalogue == before
        edit(kettle)
        after = read(kettle)
        assert (await live.context()).catalogue == after == (await unnotified.context()).catalogue != before


@on_linux
async def test_edits_within_one_tick_are_seen_and_nothing_is_read_without_a_change(
    kettle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("the disk was read")

    async with open_live_project(kettle) as live:
        for number in range(30):
            (kettle / "src/a.rs").write_text(SOURCE.replace("boil", ("boil", "cook", "heat")[number % 3]))
            assert (await live.context()).catalogue == read(kettle)
        context = await live.context()
        with monkeypatch.context() as patched:
            for name in ("stat", "lstat", "open", "scandir", "listdir"):
                patched.setattr(os, name, refuse)
            assert await live.context() is context


async def test_an_irrelevant_change_does_not_reload_the_project(kettle: Path) -> None:
    edits: list[Edit] = [create(path) for path in ("src/.a.rs.swp", "src/notes.txt", "README.md")]
    edits += [save_by_rename("docs/notes.md", "other"), lambda folder: (folder / "src" / "empty").mkdir()]
    async with open_live_project(kettle) as live:
        context = await live.context()
        for edit in edits:
            edit(kettle)
            assert await live.context() is context


async def test_the_cache_of_the_server_is_no_change_and_a_project_in_memory_is_read_once(kettle: Path) -> None:
    files = {name: text.encode() for name, text in KETTLE.items()}
    async with open_live_project(kettle, lambda: Project(tree=MemoryTree(files))) as live:
        assert await live.context() is await live.context()
    caches: list[DiskCache] = []

    def open_project() -> Project:
        caches.append(DiskCache(DiskTree(str(kettle)), {}))
        return Project(str(kettle), tree=caches[-1].tree, memory=caches[-1])

    async with open_live_project(kettle, open_project) as live:
        context = await live.context()
        caches[0].store("catalogue", "", context.catalogue)
        caches[0].save()
        assert (kettle / ".duvet" / "cache" / "catalogue").exists()
        assert await live.context() is context
    assert len(caches) == 1


@on_linux
async def test_writing_by_another_hard_link_is_noticed(kettle: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.rs"
    os.link(kettle / "src" / "a.rs", other)
    async with open_live_project(kettle) as live:
        assert (await live.context()).catalogue == read(kettle)
        for text in (TWO, SOURCE, SAME_SIZE):
            other.write_text(text)
            assert (await live.context()).catalogue == read(kettle)
            assert await live.context() is await live.context()


@on_linux
@pytest.mark.parametrize(("kind", "is_reliable"), [("ext4", True), ("nfs4", False)])
async def test_notifications_of_network_file_systems_are_not_trusted(
    kind: str, is_reliable: bool, kettle: Path, tmp_path: Path
) -> None:
    mounts = MountTable(f"1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / {tmp_path.resolve()} rw - {kind} b rw")
    detector = ChangeDetector(open_descriptor({}), mounts)
    async with open_live_project(kettle, detector=detector) as live:
        before = (await live.context()).catalogue
        assert (detector.handle is not None, detector.is_silent()) == (is_reliable, is_reliable)
        append("src/a.rs", TWO)(kettle)
        assert (await live.context()).catalogue == read(kettle) != before


async def test_a_cached_catalogue_is_used(kettle: Path) -> None:
    kept, earlier, now = read(kettle), opened(kettle), opened(kettle)
    assert earlier.catalogue
    now.tree.record.merge(earlier.tree.record)  # type: ignore[attr-defined]
    projects = [opened(kettle), now]
    cached = open_live_project(kettle, projects.pop, read=lambda one: kept if one is now else one.catalogue)
    async with cached as live:
        assert (await live.context()).catalogue is kept
        # A cached catalogue has no patterns, so each new file is a change.
        create("src/b.rs", TWO)(kettle)
        assert (await live.context()).catalogue == read(kettle) != kept


async def test_requests_at_the_same_time_share_a_reading(kettle: Path) -> None:
    readings: list[Project] = []
    contexts: list[ProjectSnapshot] = []

    def open_project() -> Project:
        readings.append(opened(kettle))
        return readings[-1]

    async with open_live_project(kettle, open_project) as live:

        async def ask() -> None:
            contexts.append(await live.context())

        for round in (1, 2):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(ask)
            assert (len(readings), len(set(contexts))) == (round, round)
            append("src/a.rs")(kettle)


async def test_a_reading_blocks_neither_the_loop_nor_those_who_stay(kettle: Path) -> None:
    gate = threading.Event()

    def open_project() -> Project:
        gate.wait()
        return opened(kettle)

    async with open_live_project(kettle, open_project) as live:
        live.begin()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await live.context()
        async with anyio.create_task_group() as group:
            group.start_soon(live.context)
            await anyio.lowlevel.checkpoint()
            gate.set()
        assert (await live.context()).catalogue == read(kettle)


async def test_calls_wait_for_the_first_reading_once_it_has_begun(kettle: Path) -> None:
    gate = threading.Event()
    readings: list[Project] = []
    caught_up: list[bool] = []

    def open_project() -> Project:
        gate.wait()
        readings.append(opened(kettle))
        return readings[-1]

    async with open_live_project(kettle, open_project) as live:

        async def catch_up() -> None:
            await live.catch_up()
            caught_up.append(gate.is_set())

        await catch_up()
        async with anyio.create_task_group() as group:
            group.start_soon(catch_up)
            await anyio.wait_all_tasks_blocked()
            gate.set()
    assert (caught_up, len(readings)) == ([False, True], 1)


async def test_a_project_that_cannot_be_read_is_reported_until_it_can(kettle: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##% While the project cannot be read, the server MUST give the reason in its answer to each request that
    ##% needs the project, and recover without a restart.
    config = kettle / ".duvet" / "config.toml"
    async with open_live_project(kettle) as live:
        for _ in range(2):
            before = (await live.context()).catalogue
            config.write_text("[[source]\n")
            told: list[str] = []
            for _ in range(2):
                with pytest.raises(DuvetError) as raised:
                    await live.context()
                told.append(str(raised.value))
            assert told[0] == told[1] and ".duvet/config.toml" in told[0]
            config.write_text(CONFIG)
            assert (await live.context()).catalogue == before
            kettle.rename(kettle.with_name("away"))
            for _ in range(2):
                with pytest.raises(DuvetError, match="no such folder"):
                    await live.context()
            kettle.with_name("away").rename(kettle)
            assert (await live.context()).catalogue == before
            append("src/a.rs", TWO)(kettle)
            assert (await live.context()).catalogue == read(kettle) != before


async def test_the_end_of_a_day_is_a_change(kettle: Path) -> None:
    config = CONFIG.replace("https://awslabs.github.io/duvet/config/v0.4.json", "duvet-cli/config/v1")
    expiring = '[[not-applicable]]\ntarget = "spec.md#pouring"\nreason = "no spout"\nexpiry = 2030-06-30\n'
    make(kettle, {".duvet/config.toml": config + expiring})
    days = [date(2030, 6, 29)]
    async with open_live_project(kettle, lambda: opened(kettle, days[-1]), today=lambda: days[-1]) as live:
        context = await live.context()
        days.append(date(2030, 6, 30))
        assert await live.context() is context
        days.append(date(2030, 7, 1))
        assert [len((await live.context()).catalogue.excuses), len(context.catalogue.excuses)] == [0, 1]


def write_specification(folder: Path, number: int) -> None:
    save_by_rename("spec.md", SPECIFICATION.replace("water", f"water {number}"))(folder)


def write_source(folder: Path, number: int) -> None:
    save_by_rename("src/a.rs", SOURCE.replace("water", f"water {number}"))(folder)


def write_both(folder: Path, number: int) -> None:
    write_specification(folder, number)
    write_source(folder, number)


def numbers_in(catalogue: Catalogue) -> tuple[int, int]:
    """Return the numbers in the specification and in the source; 0 at the beginning."""
    texts = (catalogue.requirements[0].text, catalogue.citations[0].quote)
    first, second = ("".join(filter(str.isdigit, text)) or "0" for text in texts)
    return int(first), int(second)


class BusyProject:
    """A project that changes while it is read: after its specification, and after its sources."""

    def __init__(self, folder: Path, edit: Callable[[Path, int], object]) -> None:
        self.edit = partial(edit, folder)
        self.times = 0
        self.numbers = count(1)
        detector = ChangeDetector(open_descriptor({}))
        self.reader = ProjectReader(lambda: opened(folder), PAGE_SIZE, read=self.read, detector=detector, patience=0)

    def read(self, project: Project) -> Catalogue:
        assert project.extraction
        self.times -= 1
        self.change()
        found = project.catalogue
        self.change()
        return found

    def change(self) -> None:
        if self.times >= 0:
            self.edit(next(self.numbers))

    def read_numbers(self) -> tuple[int, int]:
        self.reader.renew()
        assert self.reader.last and self.reader.last.context
        return numbers_in(self.reader.last.context.catalogue)


@on_linux
def test_a_change_during_a_reading_is_not_mixed_in(kettle: Path) -> None:
    busy = BusyProject(kettle, write_both)
    assert busy.read_numbers() == (0, 0)
    write_both(kettle, 100)
    busy.times = 1
    # No time for a second attempt, so the reading is older.
    assert busy.read_numbers() == (0, 0)
    assert not busy.reader.is_current()
    assert busy.read_numbers() == (2, 2)
    assert busy.reader.is_current()


@on_linux
def test_a_file_that_changes_all_the_time_does_not_block_the_others(kettle: Path) -> None:
    busy = BusyProject(kettle, write_source)
    assert busy.read_numbers() == (0, 0)
    write_specification(kettle, 7)
    busy.times = 3
    assert [busy.read_numbers() for _ in range(4)] == [(7, 1), (7, 3), (7, 5), (7, 6)]


class FullDescriptor(InotifyDescriptor):
    def open(self, folders: set[str]) -> None:
        if folders:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@on_linux
async def test_changes_are_found_when_the_system_watches_no_more_folders(kettle: Path) -> None:
    async with open_live_project(kettle, detector=ChangeDetector(FullDescriptor())) as live:
        for number in range(3):
            write_both(kettle, number)
            assert (await live.context()).catalogue == read(kettle)
            assert await live.context() is await live.context()


@asynccontextmanager
async def editing(edit: Callable[[], object], times: int) -> AsyncIterator[Callable[[], None]]:
    """Edit in a thread until the block ends, this many times before each call of the yielded function."""
    answered, done = threading.Semaphore(0), threading.Event()

    def work() -> None:
        while not done.is_set():
            for _ in range(times):
                edit()
            answered.acquire()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield answered.release
    finally:
        done.set()
        answered.release()
        await anyio.to_thread.run_sync(thread.join)


@on_linux
async def test_sources_are_never_newer_than_their_specification(kettle: Path) -> None:
    seen: list[tuple[int, int]] = []
    numbers = count(1)
    async with open_live_project(kettle) as live:

        async def ask(report: Callable[[], None]) -> None:
            for _ in range(8):
                seen.append(await live.ask(lambda context: numbers_in(context.catalogue)))
                report()

        async with editing(lambda: write_both(kettle, next(numbers)), 10) as report, anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(ask, report)
        assert {first - second for first, second in seen} <= {0, 1}
        assert seen == sorted(seen)
        assert (await live.context()).catalogue == read(kettle)


@on_linux
async def test_readings_leave_neither_memory_nor_descriptors(kettle: Path) -> None:
    ##= man/spec/watch.md#reporting-again
    ##% The memory use of `duvet report --watch` and of the server MUST NOT grow with the number of runs.
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    async with open_live_project(kettle) as live:
        counted: list[int] = []
        for number in range(60):
            write_both(kettle, number)
            await live.context()
            if number in (20, 59):
                gc.collect()
                counted.append(len(gc.get_objects()))
        assert counted[1] - counted[0] < 50
    assert len(os.listdir("/proc/self/fd")) == descriptors


CITATION = "duvet:///citations/src/a.rs:1"
SOURCES = (
    "//= spec.md#heating\n//# The kettle MUST boil water.\nfn boil() {}\n",
    "//= spec.md#pouring\n//= type=todo\n//= feature=spout\n//= tracking-issue=12\n//# The spout MAY drip.\nfn drip() {}\n",
)


QUESTIONS: dict[str, Callable[[Client], Awaitable[object]]] = {
    "read": lambda client: text(client, CITATION),
    "get": lambda client: got(client, uri=CITATION),
    "list": lambda client: list_below(client, "/citations"),
    "prompt": lambda client: prompt_text(client, "implement_requirement", {"requirement": "5d4daa0c"}),
}


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[Client]:
    server = server_of(folder)
    with anyio.fail_after(LONGEST):
        async with Client(server, cache=None) as client:
            yield client
    server.live.close()


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
async def test_an_answer_is_of_one_state_of_a_source(ask: Callable[[Client], Awaitable[object]], kettle: Path) -> None:
    expected, found = set(), set()
    for source in SOURCES:
        save_by_rename("src/a.rs", source)(kettle)
        async with connected(kettle) as client:
            expected.add(repr(await ask(client)))
    sources = cycle(SOURCES)
    async with (
        connected(kettle) as client,
        editing(lambda: save_by_rename("src/a.rs", next(sources))(kettle), 3) as report,
    ):
        for _ in range(20):
            found.add(repr(await ask(client)))
            report()
    assert len(expected) == 2 and found <= expected


async def test_a_question_that_fails_because_of_a_change_is_asked_again(kettle: Path) -> None:
    asked = []

    def question(context: object) -> str:
        asked.append(context)
        if len(asked) == 1:
            save_by_rename("spec.md", SPECIFICATION.replace("Heating", "Warming"))(kettle)
            raise KeyError("heating")
        return "warming"

    def fail(context: object) -> str:
        raise KeyError("heating")

    async with open_live_project(kettle) as live:
        assert await live.ask(question) == "warming"
        with pytest.raises(KeyError):
            await live.ask(fail)
    assert len(set(asked)) == 2


MISSING = "first error at .duvet/config.toml:5: spec.md: No such file or directory (os error 2)"
MORE = "list_invalid_citations lists invalid citations."
WARNING = f"1 error in the project; results may be incomplete; {MISSING}; {MORE}"
REFUSED = {"code": "upstream_error", "message": "the project has no requirements"}
TOOLS: dict[str, dict[str, Any]] = {  # Tools that fail while the specification is missing, and their arguments.
    "coverage_summary": {},
    "list_uncited_requirements": {},
    "get_prioritized_requirements": {},
    "search_requirements": {"query": "kettle"},
    "get_requirement": {"reference": "5d4daa0c"},
    "get_requirement_status": {"req_identifier": "5d4daa0c"},
    "get_section": {"reference": "spec#heating"},
}


async def texts_of(client: Client, tool: str) -> list[str]:
    return blocks(await client.call_tool(tool, TOOLS[tool]))


async def test_tools_refuse_while_the_only_specification_is_missing(kettle: Path) -> None:
    async with connected(kettle) as client:
        before = [await texts_of(client, tool) for tool in TOOLS]
        (kettle / "spec.md").unlink()
        for tool in TOOLS:
            (block,) = await texts_of(client, tool)
            error = {**REFUSED, "hint": f"1 error in the project; {MISSING}"}
            assert json.loads(block) == {"status": "error", "error": error}, tool
        (kettle / "spec.md").write_text(SPECIFICATION)
        assert [await texts_of(client, tool) for tool in TOOLS] == before


async def test_tools_warn_while_one_of_two_specifications_is_missing(kettle: Path) -> None:
    ##= man/spec/mcp.md#answers
    ##% If the project has errors, the server MUST mention them in each answer that depends on the project.
    config = CONFIG.replace("[report.json]", '[[specification]]\nsource = "cup.md"\n[report.json]')
    make(kettle, {"cup.md": "# Cup\n\nA cup MUST NOT leak.\n", ".duvet/config.toml": config})
    async with connected(kettle) as client:
        assert len(json.loads((await texts_of(client, "list_uncited_requirements"))[0])) == 3
        (kettle / "spec.md").unlink()
        found = {tool: (await texts_of(client, tool))[1] for tool in TOOLS if not tool.startswith("get_")}
        assert found == {
            "coverage_summary": WARNING,
            "list_uncited_requirements": f"{WARNING} suggest_citation returns the comment that cites a requirement.",
            "search_requirements": f"{WARNING} Nothing found.",
        }
        (kettle / "spec.md").write_text(SPECIFICATION)
        assert len(await texts_of(client, "coverage_summary")) == 1
        # A project without requirements is not an error.
        make(kettle, {".duvet/config.toml": CONFIG, "spec.md": "# Kettle\n", "src/a.rs": ""})
        specifications = [{"id": "spec", "requirements": 0}]
        expected = {"total": {"requirements": 0}, "specifications": specifications}
        assert json.loads((await texts_of(client, "coverage_summary"))[0]) == expected
