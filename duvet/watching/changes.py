"""Waits for changes to what a project was read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Event
from types import TracebackType
from typing import Self

from duvet.errors import UnreadableError
from duvet.project import Project
from duvet.watching.answers import Answers
from duvet.watching.notices import UNKNOWN, Notices
from duvet.watching.places import Hints, Places


class Changes:
    """Tells when a project would be read otherwise than it was.

    After each reading, `follow` the project; then `wait`. Nothing that changes in between is missed. One thread does
    both, and any thread may `stop` it. The tree of the project has to be a RecordedTree, such as that of a Cache, whose
    `settle` has been called if the run has written anything.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._notices = Notices(environ or {})
        self._stop = Event()
        self._changed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notices.close()

    def stop(self) -> None:
        """End the waiting."""
        self._stop.set()

    def follow(self, project: Project) -> None:
        """From now on, changes are those to what this project was read from."""
        self._answers = Answers(project)
        ##= man/spec/watch.md#noticing
        ##% A change that is made while a run is at work MUST NOT be missed.
        self._changed = self._everything()

    def are_outputs(self, paths: Iterable[str]) -> bool:
        """Whether the project's reading has written all of these itself."""
        return self._answers.tree.written.issuperset(paths)

    def wait(self) -> tuple[str, ...] | None:
        """The paths that have changed, as soon as any has; None once it is stopped."""
        changed, self._changed = self._changed, set()
        while not changed:
            events = self._notices.wait(self._stop)
            if events is None:
                return None
            hints = self._places.hints(events)
            unclear = events is UNKNOWN or hints.whole
            changed = self._everything(anew=True) if unclear else self._among(hints)
        return tuple(sorted(path or "." for path in changed))

    def _among(self, hints: Hints) -> set[str]:
        ##= man/spec/watch.md#noticing
        ##% When a file that a run has read is changed, replaced, renamed or deleted, that MUST be noticed.
        changed = self._answers.altered_among(hints.paths)
        if not hints.listing:
            return changed
        known = len(self._answers.record.folders)
        ##= man/spec/watch.md#noticing
        ##% When a file or folder comes or goes so that patterns match other files, that MUST be noticed.
        changed |= self._answers.listed_otherwise()
        grown = len(self._answers.record.folders) > known
        return self._everything() if grown and not changed else changed

    def _everything(self, *, anew: bool = False) -> set[str]:
        """Ask to hear of all that may change, and only then look at all of it."""
        while True:
            self._listen(anew=anew)
            known = len(self._answers.record.folders)
            changed = self._answers.altered()
            grown = len(self._answers.record.folders) > known or self._places.grown()
            if changed or not grown:
                return changed

    def _listen(self, *, anew: bool) -> None:
        answers = self._answers
        try:
            self._places = Places(answers.record, answers.tree.disk)
        except FileNotFoundError as error:
            raise UnreadableError("the folder is gone", path=answers.tree.disk.at("")) from error
        if anew or self._places.folders != self._notices.folders:
            self._notices.open(self._places.folders)
