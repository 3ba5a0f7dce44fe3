"""Detects changes in the project, reads it again, and sets the caller of the current request."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import date
from operator import attrgetter
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct, structs

from duvet.errors import DuvetError
from duvet.project.changes import FollowedReading
from duvet.project.project import Project
from duvet.server.resources.documents import NO_DIGEST, digest_document, find_changed_documents
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import Catalogue
from duvet.tree import file_events
from duvet.tree.recorder import RecordedTree

if TYPE_CHECKING:
    from duvet.server.stdio.session import CountingSendStream


# By default, the process at the other end of the pipes, which has all scopes.
_CALLER: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039 - it is immutable
current_caller = _CALLER.get
# The output of the server, which delays answers while the client has too many unread ones; None if each answer has a
# separate connection.
backpressure: ContextVar[CountingSendStream | None] = ContextVar("backpressure", default=None)


@contextmanager
def set_caller(caller: Caller) -> Iterator[None]:
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


_PATIENCE = 2.0  # Seconds of continuous change after which the last reading is used.
_CALM_MILLISECONDS = 5  # Milliseconds without a change before the project is read again.
_ATTEMPTS = 20
_COALESCE_SECONDS = 0.02  # Changes within this many seconds are reported together.
_DAY_CHECK_SECONDS = 60.0
_POLL_SECONDS = 1.0  # Seconds between two checks if the system doesn't report changes.
_DIGESTS_PER_TURN = 20
Answer = TypeVar("Answer")
ChangeListener = Callable[[ProjectSnapshot, ProjectSnapshot], Awaitable[None]]  # Gets the old and the new reading.


class ProjectReading(Struct, frozen=True):
    number: int  # The number of checks that had begun before this reading.
    context: ProjectSnapshot | None = None
    error: DuvetError | None = None  # Why there is no context.


class ProjectReader:
    """Only `is_current` is thread-safe."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        page_size: int | Callable[[Project], int],
        *,
        read: Callable[[Project], Catalogue] = attrgetter("catalogue"),
        today: Callable[[], date] = date.today,
        detector: ChangeDetector | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        self._open = open_project
        self._read = read
        self._page_size = page_size
        self._today = today
        self._day = today()
        self._days: dict[str, bool] = {}  # Days that the reading depends on, and whether each was in the past.
        self.detector = detector or ChangeDetector(open_descriptor({}))
        self._patience = patience
        self.checks = 0  # The number of checks that have begun.
        self.last: ProjectReading | None = None
        self._followed_reads = 0  # The number of files that were read later and are watched, too.

    def is_current(self) -> bool:
        last = self.last
        return (
            last is not None
            and (last.context is None or self._followed_reads == last.context.read_count)
            and self.detector.is_silent()
            and (not self._days or self._today() == self._day)
        )

    def renew(self) -> None:
        self.checks += 1
        last, self._day = self.last, self._today()
        if (
            last is None
            or self.detector.has_changed()
            or any((day < self._day.isoformat()) is not was_past for day, was_past in self._days.items())
        ):
            self.last = self._read_again()
            return
        is_same = True
        if last.context is not None and self._followed_reads != last.context.read_count:
            # Watch the files that tools have read since, too.
            self._followed_reads = last.context.read_count
            is_same = self._follow(last.context.project, recalled=True)
        self.last = structs.replace(last, number=self.checks) if is_same else self._read_again()

    def _read_again(self) -> ProjectReading:
        deadline = time.monotonic() + self._patience
        while True:
            self.checks += 1
            project, context, error = None, None, None
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
            self._followed_reads = context.read_count if context else 0
            if self._follow(project, recalled=context is not None):
                return ProjectReading(self.checks, context, error)
            if time.monotonic() > deadline:
                return structs.replace(self.last or ProjectReading(self.checks, context, error), number=self.checks)
            self.detector.wait_for_calm(_CALM_MILLISECONDS)

    def _follow(self, project: Project | None, *, recalled: bool) -> bool:
        self._days = {}
        if project is None or not project.on_disk:
            self.detector.stop(is_changed=project is None)
            return True
        if isinstance(project.tree, RecordedTree) and project.today is not None:
            self._days = dict(project.tree.record.days)
        return self.detector.follow(project, recalled=recalled)


def _copy_error(error: DuvetError) -> DuvetError:
    # A traceback would keep frames alive, and grow with each raise.
    ##= man/spec/watch.md#reporting-again
    ##% The memory use of `duvet report --watch` and of the server MUST NOT grow with the number of runs.
    copy = error.__new__(type(error), *error.args)
    copy.__dict__.update(error.__dict__)
    return copy


class LiveProject:
    def __init__(self, reader: ProjectReader) -> None:
        self._reader = reader
        self._renewal: Future[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._reported: ProjectSnapshot | None = None  # The last reading that was reported to listeners.

    def begin(self) -> None:
        if self._renewal is None and self._reader.last is None:
            self._start_renewal()

    async def context(self) -> ProjectSnapshot:
        checks = self._reader.checks
        while True:
            last = self._reader.last
            ##= man/spec/mcp.md#freshness
            ##% The server MUST compute each answer from one state of the project that includes all files written before
            ##% the request.
            if last is not None and (last.number > checks or (self._renewal is None and self._reader.is_current())):
                break
            await asyncio.wrap_future(self._renewal or self._start_renewal())
        if last.context is None:
            ##= man/spec/mcp.md#freshness
            ##% While the project cannot be read, the server MUST give the reason in its answer to each request that
            ##% needs the project, and recover without a restart.
            assert last.error
            raise _copy_error(last.error)
        return last.context

    async def catch_up(self) -> None:
        if self._reader.last is None and self._renewal is None:
            self._start_renewal()
            return
        with suppress(DuvetError):
            await self.context()

    async def ask(self, question: Callable[[ProjectSnapshot], Answer]) -> Answer:
        for attempt in reversed(range(_ATTEMPTS)):
            context, unread = await self.context(), backpressure.get()
            while unread is not None and not unread.has_room:
                await unread.wait_until_read()
                # No other task runs between this and the question.
                context = await self.context()
            try:
                answer = question(context)
            except Exception:
                # A file that was missing may exist again.
                if not attempt or await self.context() is context:
                    raise
            else:
                if await self.context() is context:
                    break
        return answer

    def _start_renewal(self) -> Future[None]:
        renewal = self._renewal = Future[None]()
        renewal.set_running_or_notify_cancel()
        # A daemon thread, so that the process doesn't wait for it at exit.
        Thread(target=self._renew, args=(renewal,), name="duvet reads", daemon=True).start()
        return renewal

    def _renew(self, renewal: Future[None]) -> None:
        try:
            self._reader.renew()
            if self._reported is None and self._reader.last:
                self._reported = self._reader.last.context
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            self._renewal = None
            renewal.set_exception(error)
        else:
            self._renewal = None
            renewal.set_result(None)
        for listener in self._listeners:
            listener()

    async def watch(self, changed: ChangeListener, renewed: Callable[[], Awaitable[None]]) -> None:
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
                    before, last = self._reported, self._reader.last
                    if before and last and last.context and last.context is not before:
                        self._reported = last.context
                        await changed(before, last.context)
                    await news.wait()
                    news.clear()
        finally:
            self._listeners.remove(notify)

    async def _read_on_changes(self) -> None:
        while True:
            # Requests report failures; this task must survive them.
            with suppress(Exception):
                await self.context()
            detector = self._reader.detector
            if detector.handle is None:
                await anyio.sleep(_POLL_SECONDS)
                continue
            with anyio.move_on_after(_POLL_SECONDS if detector.linked else _DAY_CHECK_SECONDS):
                await anyio.wait_readable(detector.handle)
            await anyio.sleep(_COALESCE_SECONDS)

    def close(self) -> None:
        self._reader.detector.close()


class WatchedResources:
    def __init__(self) -> None:
        self._digests: dict[str, str] = {}  # Of the subscribed resources, as last reported.
        self._subscribers: Counter[str] = Counter()

    @property
    def uris(self) -> set[str]:
        return set(self._digests)

    def add(self, uris: Iterable[str], context: ProjectSnapshot | None) -> None:
        for uri in uris:
            self._subscribers[uri] += 1
            if uri not in self._digests:
                self._digests[uri] = digest_document(context, uri) if context else NO_DIGEST

    def remove(self, uris: Iterable[str]) -> None:
        for uri in uris:
            self._subscribers[uri] -= 1
            if not self._subscribers[uri]:
                del self._subscribers[uri], self._digests[uri]

    async def find_changes(self, after: ProjectSnapshot) -> AsyncIterator[str]:
        watched = tuple(self._digests)
        for start in range(0, len(watched), _DIGESTS_PER_TURN):
            uris = [uri for uri in watched[start : start + _DIGESTS_PER_TURN] if uri in self._digests]
            changes = find_changed_documents({uri: self._digests[uri] for uri in uris}, after)
            self._digests.update(changes)
            for uri in changes:
                yield uri
            # Other requests are answered in between.
            await checkpoint()


_MAX_ATTEMPTS = 5
_ANYTHING = {""}


class ChangeDetector:
    """Only `is_silent` is thread-safe."""

    def __init__(
        self, descriptor: file_events.InotifyDescriptor | None, mounted: file_events.MountTable | None = None
    ) -> None:
        self._descriptor = descriptor
        self._mounts = mounted
        self.linked: set[str] = set()  # Files with several hard links; the system doesn't report all changes to them.
        self._retired: file_events.InotifyDescriptor | None = None
        self._followed: FollowedReading | None = None
        self._changed = _ANYTHING

    @property
    def handle(self) -> int | None:
        """A descriptor that becomes readable when a file changes; None if every check reads the disk."""
        return self._descriptor.handle if self._descriptor else None

    def is_silent(self) -> bool:
        """Return True if nothing can have changed; read the disk only for files with several hard links."""
        if self._descriptor is None or self._changed or not self._descriptor.is_silent():
            return False
        followed, linked = self._followed, self.linked
        return not (linked and followed and followed.find_changes_among(linked))

    def wait_for_calm(self, milliseconds: int) -> None:
        for _ in range(_MAX_ATTEMPTS):
            if self._descriptor is None or self._descriptor.is_silent(milliseconds):
                return
            self.has_changed()

    def has_changed(self) -> bool:
        followed = self._followed
        if followed is not None and not self._changed:
            self._changed = self._find_changes(followed, lambda: self._find_touched(followed))
        return bool(self._changed)

    def _find_touched(self, followed: FollowedReading) -> set[str]:
        events = self._descriptor.read() if self._descriptor else file_events.UNKNOWN_EVENTS
        written = followed.find_affected_paths(events) or set()
        return written | followed.find_changes(events) | followed.find_changes_among(self.linked)

    def stop(self, *, is_changed: bool) -> None:
        self._followed, self._changed, self.linked = None, _ANYTHING if is_changed else set(), set()

    def follow(self, project: Project, *, recalled: bool) -> bool:
        """Return whether the reading shows a single state of the project."""
        before = self._followed.record if self._followed else None
        watched_before = self._descriptor.folders if self._descriptor and self._followed else set()
        followed = self._followed = FollowedReading(project, self._descriptor, recalled=recalled)
        self._changed = self._find_changes(followed, followed.find_all_changes)
        if self._descriptor is not None:
            self._mounts = self._mounts or file_events.read_mounts()
            if self._mounts.are_blind(followed.folders):
                self._retire()
            else:
                self.linked = set(followed.find_hard_linked_files(before, self.linked))
        events = self._descriptor.read() if self._descriptor else file_events.UNKNOWN_EVENTS
        touched = followed.find_affected_paths(events)
        self._changed |= self._find_changes(followed, lambda: followed.find_changes(events))
        # If only one file has changed since the reading began, the reading is consistent: it has the old or the new file.
        is_only_one = touched is not None and len(touched | self._changed) == 1
        return not self._changed or (is_only_one and followed.folders <= watched_before)

    def _find_changes(self, followed: FollowedReading, find: Callable[[], set[str]]) -> set[str]:
        for _ in range(_MAX_ATTEMPTS):
            if self._descriptor is None:
                return followed.find_changes_on_disk()
            try:
                return find()
            except FileNotFoundError:
                # A folder was just removed.
                find = followed.find_all_changes
            except OSError:
                self._retire()
                return followed.find_changes_on_disk()
        return _ANYTHING

    def _retire(self) -> None:
        # Keep the descriptor open, because a thread may be waiting for it.
        self._retired, self._descriptor = self._descriptor, None
        if self._retired:
            with suppress(OSError):
                self._retired.open(set())

    def close(self) -> None:
        for descriptor in filter(None, (self._descriptor, self._retired)):
            descriptor.close()
        self._descriptor = self._retired = None


def open_descriptor(environ: Mapping[str, str]) -> file_events.InotifyDescriptor | None:
    if sys.platform != "linux" or file_events.wants_polling(environ):
        return None
    try:
        return file_events.InotifyDescriptor()
    except OSError:
        return None
