"""The project as it is now, for a process that lives on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from datetime import date
from operator import attrgetter
from threading import Thread
from typing import TypeVar

from duvet.errors import DuvetError
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.server.doubt import Doubt, descriptor
from duvet.server.reader import Reader
from duvet.server.room import room
from duvet.tools.context import Context

Answer = TypeVar("Answer")
Told = Callable[[Context, Context], Awaitable[None]]
"""Hears of the project as it was, and as it is now."""

_TRIES = 20
_TOGETHER = 0.02
"""Seconds within which changes count as one, for those who are told of them."""
_PULSE = 60.0
"""Seconds after which it is looked whether another day has begun."""
_UNTOLD_PULSE = 1.0
"""The same where the system doesn't tell of changes, and files have to be looked at."""


class Live:
    """Knows the project, and notices when it is another. The tree of the project has to be a RecordedTree."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        page_size: int | Callable[[Project], int],
        *,
        read: Callable[[Project], Catalogue] = attrgetter("catalogue"),
        today: Callable[[], date] = date.today,
        doubt: Doubt | None = None,
    ) -> None:
        self._reader = Reader(open_project, read, page_size, today, doubt or Doubt(descriptor({})))
        self._renewal: Future[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._told: Context | None = None
        """What those who are told of changes know."""

    def begin(self) -> None:
        """Read the project before anybody asks."""
        if self._renewal is None and self._reader.last is None:
            self._renew()

    async def context(self) -> Context:
        """One reading of the project that no edit on disk has outdated; DuvetError where it can't be read."""
        looks = self._reader.looks
        while True:
            last = self._reader.last
            ##= man/spec/mcp.md#freshness
            ##% What was written to disk before a request MUST be in its answer.
            if last is not None and (last.number > looks or self._is_current()):
                return last.result()
            await self._renewed()

    async def caught_up(self) -> None:
        """Notice what has changed since the project was read; where it hasn't been, nobody waits for that."""
        if self._reader.last is not None:
            with suppress(DuvetError):
                await self.context()

    async def ask(self, question: Callable[[Context], Answer]) -> Answer:
        """What the project answers, of which nothing has changed while it was asked."""
        for attempt in reversed(range(_TRIES)):
            context = await self._context_with_room()
            try:
                answer = question(context)
            except Exception:
                # What is not there any more can't be found; and it may be there again.
                if not attempt or await self._is_still(context):
                    raise
            else:
                if await self._is_still(context):
                    break
        return answer

    async def _context_with_room(self) -> Context:
        """The project, as soon as the client takes answers; nothing else happens before this one is made up."""
        while True:
            context, left = await self.context(), room()
            if left is None or left.is_left:
                return context
            await left.eased()

    async def _is_still(self, context: Context) -> bool:
        return self._is_current() or await self.context() is context

    def _is_current(self) -> bool:
        return self._renewal is None and self._reader.is_current()

    async def _renewed(self) -> None:
        import asyncio

        ##= man/spec/mcp.md#freshness
        ##% Requests at the same time MUST share one reading.
        await asyncio.wrap_future(self._renewal or self._renew())

    def _renew(self) -> Future[None]:
        renewal = self._renewal = Future[None]()
        renewal.set_running_or_notify_cancel()
        # One that nobody waits for when the process ends.
        Thread(target=self._work, args=(renewal,), name="duvet reads", daemon=True).start()
        return renewal

    def _work(self, renewal: Future[None]) -> None:
        failure: BaseException | None = None
        try:
            self._reader.renew()
            if self._told is None and self._reader.last:
                self._told = self._reader.last.context
        except BaseException as error:  # noqa: BLE001 - handed over
            failure = error
        self._renewal = None
        if failure is None:
            renewal.set_result(None)
        else:
            renewal.set_exception(failure)
        for listener in self._listeners:
            listener()

    async def watch(self, changed: Told) -> None:
        """Tell of each change, until cancelled."""
        import asyncio

        import anyio

        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def heard() -> None:
            # The loop may have ended.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(news.set)

        self._listeners.append(heard)
        try:
            # As long as nobody has asked anything, there is nothing to tell.
            while self._reader.last is None:
                await news.wait()
                news.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(self._look_out)
                while True:
                    await self._tell(changed)
                    await news.wait()
                    news.clear()
        finally:
            self._listeners.remove(heard)

    async def _tell(self, changed: Told) -> None:
        """Tell what is new in the last reading. What could be read before is compared with what can be read again."""
        last, before = self._reader.last, self._told
        if before is not None and last is not None and last.context is not None and last.context is not before:
            self._told = last.context
            await changed(before, last.context)

    async def _look_out(self) -> None:
        """Read again whenever the system tells of something."""
        import anyio

        while True:
            # Whoever asks is told of failures; who only looks out must outlive them.
            with suppress(Exception):
                await self.context()
            handle = self._reader.doubt.handle
            if handle is None:
                await anyio.sleep(_UNTOLD_PULSE)
                continue
            with anyio.move_on_after(_UNTOLD_PULSE if self._reader.doubt.looks else _PULSE):
                await anyio.wait_readable(handle)
            await anyio.sleep(_TOGETHER)

    def close(self) -> None:
        """Let go of what the system lends; questions are answered still."""
        self._reader.doubt.close()
