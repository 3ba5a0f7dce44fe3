"""The current state of the project, read again after changes."""

from __future__ import annotations

import asyncio
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

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct, structs

from duvet.errors import DuvetError
from duvet.project.changes import RecordedAnswers
from duvet.project.project import Project
from duvet.server import staleness
from duvet.server.caller import current_backpressure
from duvet.server.resources.documents import NO_DIGEST, digest_document, find_changed_documents
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import Catalogue
from duvet.tree.recorder import RecordedTree

_PATIENCE = 2.0  # Seconds of continuous change after which the last reading is used.
_CALM_MILLISECONDS = 5  # Milliseconds without a change before the project is read again.
_ATTEMPTS = 20
_COALESCE_SECONDS = 0.02  # Changes within this many seconds are reported together.
_DAY_CHECK_SECONDS = 60.0
_POLL_SECONDS = 1.0  # Seconds between two checks if the system doesn't report changes.
_DIGESTS_PER_TURN = 20
Answer = TypeVar("Answer")
ChangeListener = Callable[[ProjectSnapshot, ProjectSnapshot], Awaitable[None]]
"""Called with the previous and the current reading."""


class ProjectReading(Struct, frozen=True):
    number: int  # The number of checks that had begun before that moment.
    context: ProjectSnapshot | None = None
    error: DuvetError | None = None

    def result(self) -> ProjectSnapshot:
        ##= man/spec/mcp.md#freshness
        ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
        ##% restart.
        if self.context is None:
            assert self.error
            raise _copy_error(self.error)
        return self.context

    @property
    def reads(self) -> int:
        return self.context.reads if self.context else 0


class ProjectReader:
    """Reads the project in one thread at a time; only `is_current` is thread-safe."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        read: Callable[[Project], Catalogue],
        page_size: int | Callable[[Project], int],
        today: Callable[[], date],
        detector: staleness.ChangeDetector,
        patience: float = _PATIENCE,
    ) -> None:
        self._open = open_project
        self._read = read
        self._page_size = page_size
        self._today = today
        self._day = today()
        self._days: dict[str, bool] = {}  # Days that the reading depends on, and whether each was in the past.
        self.detector = detector
        self._patience = patience
        self.checks = 0  # The number of checks that have begun.
        self.last: ProjectReading | None = None
        self._followed_reads = 0  # The number of files that were read later and are watched, too.

    def is_current(self) -> bool:
        return (
            self.last is not None
            and self._followed_reads == self.last.reads
            and self.detector.is_silent()
            and (not self._days or self._today() == self._day)
        )

    def renew(self) -> None:
        self.checks += 1
        last = self.last
        if last is None or self.detector.changed() or self._have_days_passed() or not self._follow_later_reads(last):
            self.last = self._read_again()
        else:
            self.last = structs.replace(last, number=self.checks)

    def _have_days_passed(self) -> bool:
        self._day = self._today()
        return any((day < self._day.isoformat()) is not was_past for day, was_past in self._days.items())

    def _follow_later_reads(self, last: ProjectReading) -> bool:
        """Watch files that tools read later; return whether they belong to the same state of the project."""
        if last.context is None or self._followed_reads == last.reads:
            return True
        self._followed_reads = last.reads
        return self._follow(last.context.project, recalled=True)

    def _read_again(self) -> ProjectReading:
        """Read the project until it stops changing, or until a time limit."""
        deadline = time.monotonic() + self._patience
        while True:
            self.checks += 1
            reading, is_of_one_moment = self._try_reading()
            if is_of_one_moment:
                return reading
            if time.monotonic() > deadline:
                return structs.replace(self.last or reading, number=self.checks)
            self.detector.wait_for_calm(_CALM_MILLISECONDS)

    def _try_reading(self) -> tuple[ProjectReading, bool]:
        project, number = None, self.checks
        context, error = None, None
        self._day = self._today()
        try:
            project = self._open()
            # The configuration is valid even if the trace can't be read.
            page_size = self._page_size if isinstance(self._page_size, int) else self._page_size(project)
            context = ProjectSnapshot(project, self._read(project), page_size)
            if self.last is not None and self.last.context is not None:
                context.renew(self.last.context)
        except DuvetError as failure:
            context, error = None, _copy_error(failure)
        reading = ProjectReading(number, context, error)
        self._followed_reads = reading.reads
        return reading, self._follow(project, recalled=context is not None)

    def _follow(self, project: Project | None, *, recalled: bool) -> bool:
        self._days = {}
        if project is None:
            self.detector.forget()
            return True
        if not project.on_disk:
            self.detector.trust()
            return True
        if isinstance(project.tree, RecordedTree) and project.today is not None:
            self._days = dict(project.tree.record.days)
        return self.detector.follow(RecordedAnswers(project, recalled=recalled))


def _copy_error(error: DuvetError) -> DuvetError:
    """Return the error without its traceback, which would keep frames alive and grow with each raise."""
    ##= man/spec/watch.md#reporting-again
    ##% The memory use of `duvet report --watch` and of the server MUST NOT grow with the number of runs.
    copy = error.__new__(type(error), *error.args)
    copy.__dict__.update(error.__dict__)
    return copy


class LiveProject:
    """Caches a reading of the project, and detects when it is outdated; requires a RecordedTree."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        page_size: int | Callable[[Project], int],
        *,
        read: Callable[[Project], Catalogue] = attrgetter("catalogue"),
        today: Callable[[], date] = date.today,
        detector: staleness.ChangeDetector | None = None,
    ) -> None:
        detector = detector or staleness.ChangeDetector(staleness.open_descriptor({}))
        self._reader = ProjectReader(open_project, read, page_size, today, detector)
        self._renewal: Future[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._reported: ProjectSnapshot | None = None  # The last reading that was reported to listeners.

    def begin(self) -> None:
        if self._renewal is None and self._reader.last is None:
            self._start_renewal()

    async def context(self) -> ProjectSnapshot:
        """Return a snapshot of the current files; raise DuvetError if the project can't be read."""
        checks = self._reader.checks
        while True:
            last = self._reader.last
            ##= man/spec/mcp.md#freshness
            ##% An answer MUST describe one state of the project, which includes all files written before the request.
            if last is not None and (last.number > checks or self._is_current()):
                return last.result()
            await asyncio.wrap_future(self._renewal or self._start_renewal())

    async def catch_up(self) -> None:
        """Check for changes, unless the project has not been read yet."""
        if self._reader.last is not None:
            with suppress(DuvetError):
                await self.context()

    async def ask(self, question: Callable[[ProjectSnapshot], Answer]) -> Answer:
        """Return `question(snapshot)`; ask again, at most a few times, if the project changed meanwhile."""
        for attempt in reversed(range(_ATTEMPTS)):
            context = await self._context_with_room()
            try:
                answer = question(context)
            except Exception:
                # A file that was missing may exist again.
                if not attempt or await self._is_still(context):
                    raise
            else:
                if await self._is_still(context):
                    break
        return answer

    async def _context_with_room(self) -> ProjectSnapshot:
        """Return a snapshot once there is room for an answer; no other task runs between check and return."""
        while True:
            context, unread = await self.context(), current_backpressure()
            if unread is None or unread.has_room:
                return context
            await unread.wait_until_read()

    async def _is_still(self, context: ProjectSnapshot) -> bool:
        return self._is_current() or await self.context() is context

    def _is_current(self) -> bool:
        return self._renewal is None and self._reader.is_current()

    def _start_renewal(self) -> Future[None]:
        renewal = self._renewal = Future[None]()
        renewal.set_running_or_notify_cancel()
        # A daemon thread, so that the process doesn't wait for it at exit.
        Thread(target=self._renew, args=(renewal,), name="duvet reads", daemon=True).start()
        return renewal

    def _renew(self, renewal: Future[None]) -> None:
        failure: BaseException | None = None
        try:
            self._reader.renew()
            if self._reported is None and self._reader.last:
                self._reported = self._reader.last.context
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            failure = error
        self._renewal = None
        if failure is None:
            renewal.set_result(None)
        else:
            renewal.set_exception(failure)
        for listener in self._listeners:
            listener()

    async def watch(self, changed: ChangeListener, renewed: Callable[[], Awaitable[None]]) -> None:
        """Report readings and changes of the project until cancelled."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def notify() -> None:
            # The loop may be closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(news.set)

        self._listeners.append(notify)
        try:
            # There is nothing to report before the first question.
            while self._reader.last is None:
                await news.wait()
                news.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(self._read_on_changes)
                while True:
                    await renewed()
                    await self._report(changed)
                    await news.wait()
                    news.clear()
        finally:
            self._listeners.remove(notify)

    async def _report(self, changed: ChangeListener) -> None:
        last, before = self._reader.last, self._reported
        if before is not None and last is not None and last.context is not None and last.context is not before:
            self._reported = last.context
            await changed(before, last.context)

    async def _read_on_changes(self) -> None:
        while True:
            # Requests report failures; this task must survive them.
            with suppress(Exception):
                await self.context()
            detector = self._reader.detector
            if detector.handle is None:
                await anyio.sleep(_POLL_SECONDS)
                continue
            with anyio.move_on_after(_POLL_SECONDS if detector.needs_polling else _DAY_CHECK_SECONDS):
                await anyio.wait_readable(detector.handle)
            await anyio.sleep(_COALESCE_SECONDS)

    def close(self) -> None:
        """Stop change notifications; the project can still be read."""
        self._reader.detector.close()


class WatchedResources:
    """The subscribed resources, with the digest of each as last reported."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._subscribers: Counter[str] = Counter()

    @property
    def uris(self) -> set[str]:
        return set(self._digests)

    def add(self, uris: Iterable[str], context: ProjectSnapshot | None) -> None:
        """Add a subscription; without a project, the resources count as missing."""
        for uri in uris:
            self._subscribers[uri] += 1
            if uri not in self._digests:
                self._digests[uri] = digest_document(context, uri) if context else NO_DIGEST

    def remove(self, uris: Iterable[str]) -> None:
        for uri in uris:
            self._subscribers[uri] -= 1
            if not self._subscribers[uri]:
                del self._subscribers[uri], self._digests[uri]

    async def changed(self, after: ProjectSnapshot) -> AsyncIterator[str]:
        """Yield the resources that changed since they were last reported."""
        rest = iter(tuple(self._digests))
        while part := [uri for uri in islice(rest, _DIGESTS_PER_TURN) if uri in self._digests]:
            changes = find_changed_documents({uri: self._digests[uri] for uri in part}, after)
            self._digests.update(changes)
            for uri in changes:
                yield uri
            # Other requests are answered in between.
            await checkpoint()
