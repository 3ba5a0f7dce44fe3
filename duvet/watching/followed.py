"""What a reading was made from, together with who tells of changes to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from duvet.errors import UnreadableError
from duvet.watching.answers import Answers
from duvet.watching.notices import UNKNOWN, Event
from duvet.watching.places import Hints, Places


class Teller(Protocol):
    """Hears of what happens in folders."""

    folders: set[str]

    def open(self, folders: set[str]) -> None:
        """Hear of these folders from now on, and of no others."""


class Followed:
    """The answers of one reading, and what becomes of them."""

    def __init__(self, answers: Answers, teller: Teller) -> None:
        self.answers = answers
        self._teller = teller

    @property
    def folders(self) -> set[str]:
        """Where everything is that it is about."""
        return self._places.folders

    def about(self, events: Iterable[Event]) -> set[str] | None:
        """What of it these events are about, changed or not; None where that can't be told."""
        if events is UNKNOWN:
            return None
        hints = self._places.hints(events)
        if hints.whole:
            return None
        return {path for path in hints.paths if self.answers.record.knows(path)}

    def among(self, events: Iterable[Event]) -> set[str]:
        """What has changed, as far as these events are about it."""
        hints = self._places.hints(events)
        unclear = events is UNKNOWN or hints.whole
        return self.everything(anew=True) if unclear else self._hinted(hints)

    def _hinted(self, hints: Hints) -> set[str]:
        ##= man/spec/watch.md#noticing
        ##% When a file that a run has read is changed, replaced, renamed or deleted, that MUST be noticed.
        changed = self.answers.altered_among(hints.paths)
        if not hints.listing:
            return changed
        known = len(self.answers.record.folders)
        ##= man/spec/watch.md#noticing
        ##% When a file or folder comes or goes so that patterns match other files, that MUST be noticed.
        changed |= self.answers.listed_otherwise()
        grown = len(self.answers.record.folders) > known
        return self.everything() if grown and not changed else changed

    def everything(self, *, anew: bool = False) -> set[str]:
        """Ask to hear of all that may change, and only then look at all of it."""
        while True:
            self._listen(anew=anew)
            known = len(self.answers.record.folders)
            changed = self.answers.altered()
            grown = len(self.answers.record.folders) > known or self._places.grown()
            if changed or not grown:
                return changed

    def _listen(self, *, anew: bool) -> None:
        answers = self.answers
        try:
            self._places = Places(answers.record, answers.tree.disk)
        except FileNotFoundError as error:
            raise UnreadableError("the folder is gone", path=answers.tree.disk.at("")) from error
        if anew or self._places.folders != self._teller.folders:
            self._teller.open(self._places.folders)
