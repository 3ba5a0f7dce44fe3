"""Waits for changes to what a project was read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Event
from types import TracebackType
from typing import Self

from duvet.project import Project
from duvet.watching.answers import Answers
from duvet.watching.followed import Followed
from duvet.watching.notices import Notices


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
        self._followed = Followed(self._answers, self._notices)
        ##= man/spec/watch.md#noticing
        ##% A change that is made while a run is at work MUST NOT be missed.
        self._changed = self._followed.everything()

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
            changed = self._followed.among(events)
        return tuple(sorted(path or "." for path in changed))
