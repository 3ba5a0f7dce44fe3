"""What maintainers do with what is known of a project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.upload import UploadRule
from duvet.knowledge.ingest.taking import PATIENCE, Outcome, Wishes, take_in
from duvet.knowledge.knowledge import Rules
from duvet.knowledge.upkeep.content import Content
from duvet.knowledge.upkeep.places import Places, places_of
from duvet.progress import Progress
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.store.errors import MissingError, OlderError
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.records import Run


class Opened(Struct, frozen=True):
    """A project that is about to be taken in, and what tells its trace."""

    project: Project
    catalogue: Callable[[], Catalogue]


class Upkeep:
    """Does it in the thread that asks; any may, and several at once."""

    def __init__(
        self,
        rules: Callable[[], Rules],
        uploads: Callable[[], UploadRule],
        open_project: Callable[[Progress], Opened],
        now: Callable[[], datetime],
        patience: float = PATIENCE,
    ) -> None:
        """A run waits so many seconds for another one."""
        self._rules = rules
        self._uploads = uploads
        self._open = open_project
        self.now = now
        self._patience = patience

    @property
    def places(self) -> Places:
        """Where everything is kept."""
        return places_of(self._rules())

    @property
    def content(self) -> Content:
        """Where files go that are handed in."""
        return Content(self.places, self._uploads())

    def take_in(self, wishes: Wishes, progress: Progress) -> Outcome:
        """Take the project in; DuvetError where that can't be done."""
        rules = self._rules()
        places, wishes = places_of(rules), replace(wishes, patience=self._patience)
        opened = self._open(progress)
        store = _store(rules.path, is_made=not wishes.dry_run)
        try:
            return take_in(
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

    def failed_run(self, run_id: str) -> Run | None:
        """What is recorded of a run that has failed."""
        with closing(open_store(self.places.store)) as store:
            return next((run for run in store.runs() if run.run_id == run_id and not run.success), None)


def _own(places: Places, project: Project) -> tuple[str, ...]:
    """The files that are kept, as paths of the project."""
    top = f"{project.root.rstrip('/')}/"
    return tuple(path.removeprefix(top) for path in places.own)


def _store(path: str, *, is_made: bool) -> Store | None:
    try:
        return open_store(path, create=is_made)
    except (MissingError, OlderError):
        return None
