"""Reads a project again and again, each time as it is at one moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import DuvetError
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.server.doubt import Doubt
from duvet.tools.context import Context
from duvet.tree.recorded import RecordedTree
from duvet.watching.answers import Answers

_LONGEST = 2.0
"""Seconds after which a project that changes faster than it can be read is taken as it was before."""
_CALM = 5
"""Milliseconds without a change that are waited for before it is read again."""


class Reading(Struct, frozen=True):
    """A project as it was at one moment, or why it could not be read then."""

    number: int
    """It is of a moment after so many looks had begun."""
    context: Context | None = None
    error: DuvetError | None = None

    def result(self) -> Context:
        ##= man/spec/mcp.md#freshness
        ##% While the project can't be read, each request MUST be answered with the reason, and with what is in it once
        ##% it can be.
        if self.context is None:
            assert self.error
            raise _anew(self.error)
        return self.context


class Reader:
    """Reads in one thread at a time; any may ask what is known."""

    def __init__(
        self,
        open_project: Callable[[], Project],
        read: Callable[[Project], Catalogue],
        page_size: int | Callable[[Project], int],
        today: Callable[[], date],
        doubt: Doubt,
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
        self.last: Reading | None = None
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

    def _follows_all(self, last: Reading) -> bool:
        """Follow what has been asked for since; whether it is of the same moment."""
        ##= man/spec/pages.md#freshness
        ##% An edit of a page that was written to disk before a request MUST be in its answer.
        if last.context is None or self._reads == _reads_of(last):
            return True
        self._reads = _reads_of(last)
        return self._follow(last.context.project, recalled=True)

    def _days_have_changed(self) -> bool:
        ##= man/spec/mcp.md#freshness
        ##% When a day is over on which something expires, that MUST be noticed.
        self._day = self._today()
        return any((day < self._day.isoformat()) is not was for day, was in self._days.items())

    def _read_anew(self) -> Reading:
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

    def _tried(self) -> tuple[Reading, bool]:
        """One reading, and whether it is of one moment."""
        project, number = None, self.looks
        self._day = self._today()
        try:
            project = self._open()
            context, error = self._context(project), None
        except DuvetError as failure:
            # What was at work is not kept with it.
            context, error = None, _anew(failure)
        found = Reading(number, context, error)
        self._reads = _reads_of(found)
        return found, self._follow(project, recalled=context is not None)

    def _context(self, project: Project) -> Context:
        # What the server offers doesn't depend on whether there is a trace to be read.
        size = self._size(project)
        context = Context(project, self._read(project), size)
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
        ##= man/spec/mcp.md#freshness
        ##% What the server keeps for later runs MUST NOT be taken for a change.
        # By now it is written, and its folder is no part of the tree.
        return self.doubt.follow(Answers(project, recalled=recalled))


def _reads_of(reading: Reading) -> int:
    return reading.context.reads if reading.context else 0


def _anew(error: DuvetError) -> DuvetError:
    """The same, without what was at work when it was raised: that would be kept with it, and each time more of it."""
    ##= man/spec/mcp.md#freshness
    ##% The memory of a server MUST NOT grow with the number of readings.
    found = error.__new__(type(error), *error.args)
    found.__dict__.update(error.__dict__)
    return found
