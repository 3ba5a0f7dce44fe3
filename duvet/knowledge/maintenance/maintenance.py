"""Maintenance operations of one project: ingest, backup, upload, feedback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.settings import UploadRule
from duvet.knowledge.ingest.run import INGEST_PATIENCE, IngestOptions, IngestOutcome, ingest_project
from duvet.knowledge.maintenance.uploads import ContentFolder
from duvet.knowledge.settings import KnowledgeSettings, StorePaths, find_store_paths
from duvet.progress import Progress
from duvet.project.project import Project
from duvet.store.errors import StoreMissingError, StoreOutdatedError
from duvet.store.location import open_store
from duvet.store.protocol import Store
from duvet.store.records import IngestRun
from duvet.trace.catalogue import Catalogue


class OpenedProject(Struct, frozen=True):
    """A project that is about to be taken in, and what tells its trace."""

    project: Project
    catalogue: Callable[[], Catalogue]


class Maintenance:
    """Does it in the thread that asks; any may, and several at once."""

    def __init__(
        self,
        rules: Callable[[], KnowledgeSettings],
        uploads: Callable[[], UploadRule],
        open_project: Callable[[Progress], OpenedProject],
        now: Callable[[], datetime],
        patience: float = INGEST_PATIENCE,
    ) -> None:
        """A run waits so many seconds for another one."""
        self._rules = rules
        self._uploads = uploads
        self._open = open_project
        self.now = now
        self._patience = patience

    @property
    def places(self) -> StorePaths:
        """Where everything is kept."""
        return find_store_paths(self._rules())

    @property
    def content(self) -> ContentFolder:
        """Where files go that are handed in."""
        return ContentFolder(self.places, self._uploads())

    def take_in(self, wishes: IngestOptions, progress: Progress) -> IngestOutcome:
        """Take the project in; DuvetError where that can't be done."""
        rules = self._rules()
        places, wishes = find_store_paths(rules), replace(wishes, patience=self._patience)
        opened = self._open(progress)
        store = _store(rules.path, is_made=not wishes.dry_run)
        try:
            return ingest_project(
                opened.project,
                store,
                rules.ingest,
                wishes,
                catalogue=opened.catalogue,
                own=_own(places, opened.project),
            )
        finally:
            if store is not None:
                store.close()

    def failed_run(self, run_id: str) -> IngestRun | None:
        """What is recorded of a run that has failed."""
        with closing(open_store(self.places.store)) as store:
            return next((run for run in store.runs() if run.run_id == run_id and not run.success), None)


def _own(places: StorePaths, project: Project) -> tuple[str, ...]:
    """The files that are kept, as paths of the project."""
    top = f"{project.root.rstrip('/')}/"
    return tuple(path.removeprefix(top) for path in places.own)


def _store(path: str, *, is_made: bool) -> Store | None:
    try:
        return open_store(path, create=is_made)
    except (StoreMissingError, StoreOutdatedError):
        return None
