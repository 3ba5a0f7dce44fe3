"""Searches and updates the index of a project; searches continue during an update."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.knowledge.feedback import VoteMeans
from duvet.store.database import StoreError
from duvet.store.location import IngestOptions, KnowledgeSettings, StorePaths, find_store_paths, open_store
from duvet.store.records import IngestRun
from duvet.store.sqlite import Store

if TYPE_CHECKING:
    from duvet.config.service_tables import UploadRule
    from duvet.knowledge.ingest.process import IngestSource, ProgressReporter
    from duvet.knowledge.search import SearchEngine
    from duvet.knowledge.uploads import ContentFolder
    from duvet.queries.embeddings import Embedder


Answer = TypeVar("Answer")


class SharedVectors:
    def __init__(self) -> None:
        self._lock = Lock()
        self._embedders: list[Embedder | None] = []
        self._loaded: tuple[str, Any] | None = None

    def embedder(self, find: Callable[[], Embedder | None]) -> Embedder | None:
        with self._lock:
            if not self._embedders:
                self._embedders.append(find())
            return self._embedders[0]

    def load(self, revision: str, load: Callable[[], Answer]) -> Answer:
        with self._lock:
            if self._loaded is None or self._loaded[0] != revision:
                # Free the old vectors before loading the new ones.
                self._loaded = None
                self._loaded = revision, load()
            found: Answer = self._loaded[1]
            return found


class OpenStore(Struct, dict=True):
    store: Store
    rules: KnowledgeSettings
    shared: SharedVectors

    @cached_property
    def engine(self) -> SearchEngine:
        from duvet.knowledge.search import open_engine

        votes = VoteMeans(find_store_paths(self.rules).feedback) if self.rules.search.feedback else None
        return open_engine(self.store, self.rules, votes, self.shared)


class Knowledge:
    """Several threads can read the index at the same time."""

    def __init__(self, rules: Callable[[], KnowledgeSettings]) -> None:
        self.rules = rules
        self._lock = RLock()
        self._idle: list[OpenStore] = []
        self._shared = SharedVectors()
        self._known: tuple[KnowledgeSettings, tuple[int, int] | None] | None = None

    def ask(self, question: Callable[[OpenStore], Answer]) -> Answer:
        opened, shared = None, None
        try:
            opened, shared = self._take()
            with opened.store.reading():
                answer = question(opened)
        except BaseException as error:
            ##= man/spec/knowledge.md#answers
            ##% If the index is unreadable, `km-` tools that need the index MUST answer `upstream_error`, and work
            ##% again without a restart once the index is repaired.
            if opened is not None:
                opened.store.close()
            if isinstance(error, StoreError):
                self.close()
            raise
        with self._lock:
            if shared is self._shared:
                self._idle.append(opened)
                return answer
        opened.store.close()
        return answer

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._known, self._shared = self._idle, [], None, SharedVectors()
            for opened in idle:
                opened.store.close()

    def _take(self) -> tuple[OpenStore, SharedVectors]:
        rules = self.rules()
        with self._lock:
            try:
                found = os.stat(rules.path)
                file = (found.st_dev, found.st_ino)
            except (OSError, ValueError):
                file = None
            if self._known != (rules, file):
                self.close()
            opened = self._idle.pop() if self._idle else None
            if opened is not None and not opened.store.is_current:
                opened.store.close()
                opened = None
            if opened is None:
                # While an old file is open, no new file can get its inode number.
                opened = OpenStore(open_store(rules.path), rules, self._shared)
                self._known = (rules, file)
            return opened, self._shared


class Maintenance(Struct, frozen=True):
    rules: Callable[[], KnowledgeSettings]
    uploads: Callable[[], UploadRule]
    find_source: Callable[[], IngestSource]
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    patience: float | None = None  # Seconds to wait for another ingest run; None means the default.

    @property
    def places(self) -> StorePaths:
        return find_store_paths(self.rules())

    @property
    def content(self) -> ContentFolder:
        from duvet.knowledge.uploads import ContentFolder

        return ContentFolder(self.places, self.uploads())

    async def ingest(self, options: IngestOptions, report: ProgressReporter) -> IngestRun:
        from duvet.knowledge.ingest.process import IngestRequest, run_ingest_process

        if self.patience is not None:
            options = replace(options, patience=self.patience)
        request = IngestRequest(source=self.find_source(), rules=self.rules(), options=options)
        return await run_ingest_process(request, self.environ, report)

    def find_failed_run(self, run_id: str) -> IngestRun | None:
        with closing(open_store(self.places.store)) as store:
            return next((run for run in store.runs() if run.run_id == run_id and not run.success), None)
