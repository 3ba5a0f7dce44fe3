"""Who waits for an answer, and who doesn't"""

from __future__ import annotations

import threading
from threading import Event, Thread

import anyio
from anyio import to_thread

from duvet.knowledge.index import OpenStore
from duvet.tools.call_context import Caller
from tests.unit.tools.knowledge.made import CALLS, Asking


def test_nobody_else_waits(known: Asking) -> None:
    """While one question is answered, the loop goes on."""
    begun, may_end = Event(), Event()

    def slow(here: OpenStore) -> str:
        begun.set()
        assert may_end.wait(30)
        return here.store.revision

    slowly = Thread(target=known.knowledge.ask, args=(slow,))
    slowly.start()
    assert begun.wait(30)

    async def ask() -> list[str]:
        order: list[str] = []

        async def one(tool: str) -> None:
            await known.desk.call(tool, CALLS.get(tool, {}), Caller())
            order.append(tool)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "km-coverage-summary")
            tasks.start_soon(one, "km-help")
            while "km-help" not in order:
                await anyio.lowlevel.checkpoint()
            order.append("free")
            may_end.set()
        return order

    assert anyio.run(ask) == ["km-help", "free", "km-coverage-summary"]
    slowly.join()


def test_who_waits_needs_no_thread(known: Asking) -> None:
    """There are few of these, and what is read from standard input needs one, too."""
    begun, may_end = Event(), Event()

    def slow(here: OpenStore) -> str:
        begun.set()
        assert may_end.wait(30)
        return here.store.revision

    async def ask() -> tuple[float, bool]:
        default = to_thread.current_default_thread_limiter()
        async with anyio.create_task_group() as tasks:
            slowly = Thread(target=known.knowledge.ask, args=(slow,))
            slowly.start()
            assert begun.wait(30)
            for _ in range(2 * int(default.total_tokens)):
                tasks.start_soon(known.desk.call, "km-coverage-summary", {}, Caller())
            await anyio.wait_all_tasks_blocked()
            taken, is_free = default.borrowed_tokens, False
            if default.available_tokens:
                is_free = await to_thread.run_sync(lambda: True)
            may_end.set()
        slowly.join()
        return taken, is_free

    assert anyio.run(ask) == (0, True)


def test_of_many_threads_one_asks_at_a_time(known: Asking) -> None:
    seen: list[tuple[str, int]] = []
    counts: list[int] = []
    others_come = Event()

    def question(here: OpenStore) -> int:
        seen.append(("begins", threading.get_ident()))
        assert others_come.wait(30)
        # Each gives the others a chance to come in.
        found = {len(here.store.artifacts()) for _ in range(100)}
        seen.append(("ends", threading.get_ident()))
        return found.pop()

    def ask() -> None:
        if len(seen):
            others_come.set()
        counts.append(known.knowledge.ask(question))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
        while not seen:
            pass
    for thread in threads:
        thread.join()
    assert counts == [8] * 8
    assert all(begun == ("begins", ended[1]) for begun, ended in zip(seen[::2], seen[1::2], strict=True))
