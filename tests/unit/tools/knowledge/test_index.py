import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Event, Thread

import anyio
import pytest
from anyio import to_thread
from msgspec.structs import replace

from duvet.knowledge.index import OpenStore
from duvet.store.location import open_store
from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from tests.unit.knowledge.stored_project import RUN, STORE, fill
from tests.unit.store.store_files import by_hand
from tests.unit.tools.knowledge.knowledge_calls import CALLS, STATUS, Asking
from tests.unit.tools.tool_calls import FILES, Fixed, context_of


def set_version(path: Path, version: int) -> None:
    with by_hand(path) as connection:
        connection.execute(f"PRAGMA user_version={version}")


def replace_with_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_with_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


DAMAGED = "the index is damaged, or this file is not a duvet index"
INGEST = "index the project with km-ingest-trigger or `duvet ingest`, then try again"
UPDATE = "update duvet, or start over: remove store.db"
ANOTHER = "set `store.path` to another file; if this file was an index, remove store.db, and run `duvet ingest`"
FAULTS: list[tuple[Callable[[Path], object], str, str]] = [
    (lambda path: set_version(path, 1), "an older version of duvet created this index with schema 1", INGEST),
    (lambda path: set_version(path, 99), "a newer version of duvet created this index with schema 99", UPDATE),
    (lambda path: path.write_bytes(b"no database at all, but text " * 500), DAMAGED, "run `duvet ingest --full`"),
    (replace_with_folder, DAMAGED, ANOTHER),
    (replace_with_link, "the index must not be behind a symbolic link", "remove the link"),
]


def test_a_missing_store_is_an_upstream_error_until_it_is_made(tmp_path: Path) -> None:
    known = Asking(tmp_path)
    for tool, arguments in CALLS.items():
        message = "this project is not indexed yet"
        assert known.refusal(tool, **arguments) == ("upstream_error", message, INGEST)
        assert known.refusal(tool, "shell", **arguments) == ("upstream_error", message, "run `duvet ingest` first")
    assert known.value(STATUS) == {"status": "not_found"}
    assert known.value(STATUS, profile="scheduled") == {"status": "not_found", "profile": "scheduled"}
    assert list(tmp_path.iterdir()) == []
    # A store without a run has no reports.
    (tmp_path / STORE).parent.mkdir(parents=True)
    open_store(str(tmp_path / STORE), create=True).close()
    for tool in ("km-coverage-summary", "km-lifecycle-report"):
        assert known.refusal(tool)[:2] == ("upstream_error", "this project is not indexed yet")
    assert known.value("km-graph-search", term="kettle")["results"] == []
    assert known.value(STATUS) == {"status": "not_found"}
    fill(tmp_path)
    assert known.value(STATUS)["run_id"] == "r1"
    known.knowledge.close()


def test_a_replaced_or_repaired_store_is_read(known: Asking, tmp_path: Path) -> None:
    whole = known.file.read_bytes()
    first_page = int.from_bytes(whole[16:18])
    known.file.write_bytes(whole[:first_page].ljust(len(whole), b"\0"))
    assert "the index is damaged" in known.refusal("km-coverage-summary")[1]
    file = known.file.stat().st_ino
    known.file.write_bytes(whole)
    assert known.file.stat().st_ino == file
    assert known.value(STATUS)["run_id"] == "r1"
    shutil.rmtree(known.file.parent)
    assert known.refusal("km-coverage-summary")[1] == "this project is not indexed yet"
    fill(known.folder, [replace(RUN, run_id="r2")])
    assert known.value(STATUS)["run_id"] == "r2"
    # Changed settings and services apply to the next question.
    other = Asking(fill(tmp_path / "elsewhere", [replace(RUN, run_id="r9")]))
    known.knowledge.rules = other.knowledge.rules
    assert known.value(STATUS)["run_id"] == "r9"
    known.desk = ToolDispatcher(Registry(known.desk.registry.every_pack), Fixed(context_of(FILES)))
    assert known.refusal("km-coverage-summary")[0] == "upstream_error"


def test_one_question_sees_one_run(known: Asking) -> None:
    runs = iter(range(2, 99))

    def question(here: OpenStore) -> tuple[str, int]:
        run = here.store.runs(limit=1)[0].run_id
        other = open_store(str(known.file), create=True)
        with other.writing() as writing:
            for path in other.artifacts():
                writing.remove(path)
            writing.put_run(replace(RUN, run_id=f"r{next(runs)}"))
        other.close()
        return run, len(here.store.artifacts())

    assert [known.knowledge.ask(question) for _ in range(2)] == [("r1", 8), ("r2", 0)]


def test_threads_ask_the_index_at_the_same_time(known: Asking) -> None:
    all_ask = Barrier(8, timeout=30)
    counts: list[int] = []

    def question(here: OpenStore) -> int:
        all_ask.wait()
        return len({len(here.store.artifacts()) for _ in range(100)} & {8})

    threads = [Thread(target=lambda: counts.append(known.knowledge.ask(question))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 8


@pytest.mark.parametrize(("damage", "told", "what_to_do"), FAULTS)
def test_a_store_that_cannot_be_read_is_an_upstream_error_until_it_is_restored(
    tmp_path: Path, damage: Callable[[Path], object], told: str, what_to_do: str
) -> None:
    ##= man/spec/knowledge.md#answers
    ##% If the index is unreadable, `km-` tools that need the index MUST answer `upstream_error`, and work again
    ##% without a restart once the index is repaired.
    known = Asking(fill(tmp_path / "project"))
    whole = shutil.copytree(known.file.parent, tmp_path / "whole")
    damage(known.file)
    for tool, arguments in {**CALLS, STATUS: {}}.items():
        code, message, hint = known.refusal(tool, **arguments)
        assert code == "upstream_error" and message.startswith(f"store.db: {told}"), message
        assert hint.startswith(what_to_do) and str(tmp_path) not in message + hint
    shutil.rmtree(known.file.parent)
    shutil.copytree(whole, known.file.parent)
    for tool, arguments in {**CALLS, STATUS: {}}.items():
        assert known.value(tool, **arguments)["status"] == "ok"
    known.knowledge.close()


def test_calls_that_wait_for_the_index_need_no_thread(known: Asking) -> None:
    """The few threads are also needed for reading standard input."""
    begun, may_end = Event(), Event()

    def read_slowly(here: OpenStore) -> str:
        begun.set()
        assert may_end.wait(30)
        return here.store.revision

    async def ask() -> tuple[float, bool]:
        default = to_thread.current_default_thread_limiter()
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * int(default.total_tokens)):
                tasks.start_soon(known.desk.call, "km-coverage-summary", {}, Caller())
            await anyio.wait_all_tasks_blocked()
            taken, is_free = default.borrowed_tokens, False
            if default.available_tokens:
                is_free = await to_thread.run_sync(lambda: True)
            may_end.set()
        return taken, is_free

    slowly = Thread(target=known.knowledge.ask, args=(read_slowly,))
    slowly.start()
    assert begun.wait(30)
    assert anyio.run(ask) == (0, True)
    slowly.join()
