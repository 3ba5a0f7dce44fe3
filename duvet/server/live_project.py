"""The project as it is now, re-read when it has changed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from datetime import date
from itertools import islice
from operator import attrgetter
from threading import Thread
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.project.changes import RecordedAnswers
from duvet.project.project import Project
from duvet.server.backpressure import current_backpressure
from duvet.server.resources.documents import NO_DIGEST, digest_document, find_changed_documents
from duvet.server.staleness import ChangeDetector, open_descriptor
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import Catalogue
from duvet.tree.recorder import RecordedTree

_LONGEST = 2.0
"""Seconds after which a project that changes faster than it can be read is taken as it was before."""
_CALM = 5
"""Milliseconds without a change that are waited for before it is read again."""


class ProjectReading(Struct, frozen=True):
    """A project as it was at one moment, or why it could not be read then."""

    number: int
    """It is of a moment after so many looks had begun."""
    context: ProjectSnapshot | None = None
    error: DuvetError | None = None

    def result(self) -> ProjectSnapshot:
        ##= man/spec/mcp.md#freshness
        ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
        ##% restart.
        if self.context is None:
            assert self.error
            raise _anew(self.error)
        return self.context


class ProjectReader:
    """Reads in one thread at a time; any may ask what is known."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        read: Callable[[Project], Catalogue],
        page_size: int | Callable[[Project], int],
        today: Callable[[], date],
        doubt: ChangeDetector,
        patience: float = _LONGEST,
    ) -> None:
        self._open = open_project
        self._read = read
        self._page_size = page_size
        self._today = today
        self._day = today()
        self._days: dict[str, bool] = {}
        self.doubt = doubt
        self._patience = patience
        self.looks = 0
        """How many have begun."""
        self.last: ProjectReading | None = None
        self._reads = 0
        """How much of what the last one has read beside the trace is followed."""

    def is_current(self) -> bool:
        """Whether nothing has changed since the last reading."""
        return (
            self.last is not None
            and self._reads == _reads_of(self.last)
            and self.doubt.is_silent()
            and (not self._days or self._today() == self._day)
        )

    def renew(self) -> None:
        """Look for changes, and read again if there are any."""
        self.looks += 1
        if self.last is None or self.doubt.changed() or self._days_have_changed() or not self._follows_all(self.last):
            self.last = self._read_anew()
        else:
            self.last = replace(self.last, number=self.looks)

    def _follows_all(self, last: ProjectReading) -> bool:
        """Follow what has been asked for since; whether it is of the same moment."""
        if last.context is None or self._reads == _reads_of(last):
            return True
        self._reads = _reads_of(last)
        return self._follow(last.context.project, recalled=True)

    def _days_have_changed(self) -> bool:
        self._day = self._today()
        return any((day < self._day.isoformat()) is not was for day, was in self._days.items())

    def _read_anew(self) -> ProjectReading:
        """The project at a moment from now on; where it changes all the time, as it was before."""
        give_up = time.monotonic() + self._patience
        while True:
            self.looks += 1
            found, is_whole = self._tried()
            if is_whole:
                return found
            if time.monotonic() > give_up:
                return replace(self.last or found, number=self.looks)
            self.doubt.calm(_CALM)

    def _tried(self) -> tuple[ProjectReading, bool]:
        """One reading, and whether it is of one moment."""
        project, number = None, self.looks
        self._day = self._today()
        try:
            project = self._open()
            context, error = self._context(project), None
        except DuvetError as failure:
            # What was at work is not kept with it.
            context, error = None, _anew(failure)
        found = ProjectReading(number, context, error)
        self._reads = _reads_of(found)
        return found, self._follow(project, recalled=context is not None)

    def _context(self, project: Project) -> ProjectSnapshot:
        # What the server offers doesn't depend on whether there is a trace to be read.
        size = self._size(project)
        context = ProjectSnapshot(project, self._read(project), size)
        if self.last is not None and self.last.context is not None:
            context.renew(self.last.context)
        return context

    def _size(self, project: Project) -> int:
        return self._page_size if isinstance(self._page_size, int) else self._page_size(project)

    def _follow(self, project: Project | None, *, recalled: bool) -> bool:
        self._days = {}
        if project is None:
            self.doubt.forget()
            return True
        if not project.on_disk:
            self.doubt.trust()
            return True
        if isinstance(project.tree, RecordedTree) and project.today is not None:
            self._days = dict(project.tree.record.days)
        # By now it is written, and its folder is no part of the tree.
        return self.doubt.follow(RecordedAnswers(project, recalled=recalled))


def _reads_of(reading: ProjectReading) -> int:
    return reading.context.reads if reading.context else 0


def _anew(error: DuvetError) -> DuvetError:
    """The same, without what was at work when it was raised: that would be kept with it, and each time more of it."""
    ##= man/spec/watch.md#reporting-again
    ##% A process that watches or serves MUST NOT use more memory with each run.
    found = error.__new__(type(error), *error.args)
    found.__dict__.update(error.__dict__)
    return found


Answer = TypeVar("Answer")
ChangeListener = Callable[[ProjectSnapshot, ProjectSnapshot], Awaitable[None]]
"""Hears of the project as it was, and as it is now."""

_TRIES = 20
_TOGETHER = 0.02
"""Seconds within which changes count as one, for those who are told of them."""
_PULSE = 60.0
"""Seconds after which it is looked whether another day has begun."""
_UNTOLD_PULSE = 1.0
"""The same where the system doesn't tell of changes, and files have to be looked at."""


class LiveProject:
    """Knows the project, and notices when it is another. The tree of the project has to be a RecordedTree."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        page_size: int | Callable[[Project], int],
        *,
        read: Callable[[Project], Catalogue] = attrgetter("catalogue"),
        today: Callable[[], date] = date.today,
        doubt: ChangeDetector | None = None,
    ) -> None:
        self._reader = ProjectReader(open_project, read, page_size, today, doubt or ChangeDetector(open_descriptor({})))
        self._renewal: Future[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._told: ProjectSnapshot | None = None
        """What those who are told of changes know."""

    def begin(self) -> None:
        """Read the project before anybody asks."""
        if self._renewal is None and self._reader.last is None:
            self._renew()

    async def context(self) -> ProjectSnapshot:
        """One reading of the project that no edit on disk has outdated; DuvetError where it can't be read."""
        looks = self._reader.looks
        while True:
            last = self._reader.last
            ##= man/spec/mcp.md#freshness
            ##% An answer MUST describe one state of the project, with everything that was written to disk before the
            ##% request.
            if last is not None and (last.number > looks or self._is_current()):
                return last.result()
            await self._renewed()

    async def caught_up(self) -> None:
        """Notice what has changed since the project was read; where it hasn't been, nobody waits for that."""
        if self._reader.last is not None:
            with suppress(DuvetError):
                await self.context()

    async def ask(self, question: Callable[[ProjectSnapshot], Answer]) -> Answer:
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

    async def _context_with_room(self) -> ProjectSnapshot:
        """The project, as soon as the client takes answers; nothing else happens before this one is made up."""
        while True:
            context, left = await self.context(), current_backpressure()
            if left is None or left.is_left:
                return context
            await left.eased()

    async def _is_still(self, context: ProjectSnapshot) -> bool:
        return self._is_current() or await self.context() is context

    def _is_current(self) -> bool:
        return self._renewal is None and self._reader.is_current()

    async def _renewed(self) -> None:
        import asyncio

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

    async def watch(self, changed: ChangeListener) -> None:
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

    async def _tell(self, changed: ChangeListener) -> None:
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


_AT_ONCE = 20


class WatchedResources:
    """What each of them was when its client was told of it last."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._wanted: Counter[str] = Counter()

    @property
    def uris(self) -> set[str]:
        return set(self._digests)

    def add(self, uris: Iterable[str], context: ProjectSnapshot | None) -> None:
        """Somebody wants to be told of these; without a project there is nothing there yet."""
        for uri in uris:
            self._wanted[uri] += 1
            if uri not in self._digests:
                self._digests[uri] = digest_document(context, uri) if context else NO_DIGEST

    def remove(self, uris: Iterable[str]) -> None:
        """They don't any more."""
        for uri in uris:
            self._wanted[uri] -= 1
            if not self._wanted[uri]:
                del self._wanted[uri], self._digests[uri]

    async def changed(self, after: ProjectSnapshot) -> AsyncIterator[str]:
        """Those that are another now, and nobody has been told."""
        from anyio.lowlevel import checkpoint

        rest = iter(tuple(self._digests))
        while part := [uri for uri in islice(rest, _AT_ONCE) if uri in self._digests]:
            found = find_changed_documents({uri: self._digests[uri] for uri in part}, after)
            self._digests.update(found)
            for uri in found:
                yield uri
            # Others want to be answered in between.
            await checkpoint()
