"""Indexes a project in a separate process, so that a server answers other requests without delay."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct, json
from msgspec.structs import replace

from duvet.errors import DuvetError, QueryError
from duvet.progress import CountedStep, Progress
from duvet.project.project import Options, Project
from duvet.store import database as db, location, records
from duvet.trace.catalogue import CATALOGUE_KEY, Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from anyio.abc import Process

ProgressReporter = Callable[[float, str], Awaitable[None]]  # Called with the amount done and the current step.
_TIME_LIMIT = 2 * 3600.0  # Seconds until a run is cancelled.
_GRACE = 1.0  # Seconds that a cancelled process has to record the cancelled run.
_REPORT_INTERVAL = 0.1  # Seconds between two progress reports of a step.
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|(?:API|ACCESS|PRIVATE)_KEY|_KEY\Z|_PAT(?![A-Z])",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"://[^\s/:@]*:[^\s/@]+@")
_KINDS = {
    kind.__name__: kind
    for kind in (
        *(db.StoreError, db.StoreMissingError, db.StoreFullError, db.StoreBusyError, db.StoreChangedError),
        *(db.StoreVersionError, db.StoreOutdatedError, db.StoreDamagedError, QueryError),
    )
}


class IngestSource(Struct, frozen=True, kw_only=True):
    options: Options = Options()
    today: date | None = None
    has_cache: bool = False
    catalogue_key: str = ""  # The cache key of the catalogue.


class IngestRequest(Struct, frozen=True, kw_only=True):
    source: IngestSource
    rules: location.KnowledgeSettings
    options: location.IngestOptions


class _Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    done: float = 0.0
    step: str = ""
    run: records.IngestRun | None = None
    kind: str = ""  # The type of the error, if it is one of `_KINDS`.
    failure: dict[str, Any] = {}  # The arguments of the error.
    crash: str = ""  # The traceback of an unexpected error.


async def run_ingest_process(
    request: IngestRequest, environ: Mapping[str, str], report: ProgressReporter
) -> records.IngestRun:
    """Cancelling this call cancels the run."""
    from anyio import CancelScope, fail_after, move_on_after

    process = await _start(request.rules.root, environ)
    try:
        with fail_after(_TIME_LIMIT):
            return await _follow(process, request, report)
    except TimeoutError as error:
        hours = f"{_TIME_LIMIT / 3600:g} hours"
        raise DuvetError(f"the ingest run took longer than {hours}", hint="run `duvet ingest` in a shell") from error
    finally:
        with CancelScope(shield=True):
            assert process.stdin
            with suppress(Exception):
                await process.stdin.aclose()
            with move_on_after(2 * _GRACE):
                await process.wait()
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def _start(root: str, environ: Mapping[str, str]) -> Process:
    from subprocess import DEVNULL

    from anyio import open_process

    # The folder of the project is not searched for modules, unless this process does so, too.
    program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    # The process only reads the project, so it needs no tokens of the server or of models.
    known = {
        name: value
        for name, value in environ.items()
        if not _SECRET_NAME.search(name) and not _PASSWORD_IN_URL.search(value)
    }
    try:
        # In a session of its own, the process gets no signals from a terminal.
        return await open_process(
            [sys.executable, "-c", program], stderr=DEVNULL, cwd=root or None, env=known, start_new_session=True
        )
    except OSError as error:
        raise DuvetError(f"the ingest process could not start: {error.strerror}", hint="try again") from error


async def _follow(process: Process, request: IngestRequest, report: ProgressReporter) -> records.IngestRun:
    from anyio import BrokenResourceError

    assert process.stdin and process.stdout
    with suppress(BrokenResourceError):
        await process.stdin.send(json.encode(replace(request, rules=replace(request.rules, root=""))) + b"\n")
    rest = b""
    async for data in process.stdout:
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            message = json.decode(line, type=_Message)
            if message.run is not None:
                return message.run
            if message.failure:
                raise _KINDS.get(message.kind, DuvetError)(**message.failure)
            if message.crash:
                raise RuntimeError(f"the ingest process failed:\n{message.crash}")
            await report(message.done, message.step)
    code = await process.wait()
    reason = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    raise DuvetError(f"the ingest process {reason}", hint="try again")


class CancelledError(BaseException):
    """Raised in the ingest process when nobody waits for the result any longer."""


class _PipeProgress(Progress):
    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._cancelled = Event()
        self._steps = 0
        self._last = 0.0

    def watch(self) -> None:
        while os.read(0, 1):
            pass
        self._cancelled.set()
        time.sleep(_GRACE)
        if sys.platform != "win32":
            import signal

            # This session contains this process and its git processes.
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def begin(self, step: str) -> None:
        self._steps += 1
        self.report(0.0, step)

    def counted(self, step: str, count: int) -> CountedStep:
        self.begin(step)
        return _PipeStep(self, step, count)

    def report(self, share: float, step: str) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        now = time.monotonic()
        if share and now - self._last < _REPORT_INTERVAL:
            return
        self._last = now
        self.send(_Message(done=self._steps + min(share, 0.999), step=step))

    def send(self, message: _Message) -> None:
        try:
            self._pipe.write(json.encode(message) + b"\n")
            self._pipe.flush()
        except OSError as error:
            raise CancelledError from error


class _PipeStep(CountedStep):
    def __init__(self, progress: _PipeProgress, step: str, count: int) -> None:
        super().__init__(progress)
        self._report = progress.report
        self._step = step
        self._count = count
        self._done = 0

    def advance(self, count: int = 1) -> None:
        self._done += count
        share = self._done / self._count if self._count else 0.0
        self._report(share, f"{self._step}: {self._done} of {self._count}")


def main() -> None:
    # Nothing else may write to the pipe.
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(0, "rb", buffering=0, closefd=False) as stream:
        line = stream.readline()
    if not line.endswith(b"\n"):
        return
    progress = _PipeProgress(pipe)
    Thread(target=progress.watch, daemon=True).start()
    with suppress(CancelledError):
        try:
            message = _Message(run=_ingest(json.decode(line, type=IngestRequest), progress))
        except DuvetError as error:
            kind = next((one.__name__ for one in type(error).__mro__ if one.__name__ in _KINDS), "")
            failure = {name: getattr(error, name) for name in ("message", "path", "line", "hint")}
            message = _Message(kind=kind, failure=failure)
        except Exception:  # noqa: BLE001 - it is raised again in the other process
            message = _Message(crash=traceback.format_exc())
        progress.send(message)


def _ingest(request: IngestRequest, progress: Progress) -> records.IngestRun:
    from duvet.knowledge.ingest.run import ingest_project

    root, source, options = os.getcwd(), request.source, request.options
    rules = replace(request.rules, root=root)
    cache = DiskCache(DiskTree(root), os.environ, kept=source.has_cache, today=source.today)
    project = Project(
        root,
        source.options,
        environ=cache.environ,
        tree=cache.tree,
        memory=cache,
        progress=progress,
        today=source.today,
    )
    key = source.catalogue_key
    read_catalogue = partial(cache.compute, CATALOGUE_KEY, Catalogue, key, lambda: project.catalogue, whole_run=True)
    try:
        store = location.open_store(rules.path, create=not options.dry_run)
    except (db.StoreMissingError, db.StoreOutdatedError):
        store = None
    top = f"{root.rstrip('/')}/"
    own = tuple(path.removeprefix(top) for path in location.find_store_paths(rules).own)
    try:
        return ingest_project(project, store, rules.ingest, options, catalogue=read_catalogue, own=own).run
    finally:
        if store is not None:
            store.close()
