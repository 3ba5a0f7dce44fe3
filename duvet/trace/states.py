"""How far a requirement is, in the words that people use, and why one is not owed at all."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from duvet.model import Rank


class Status(Rank):
    """What a requirement has got so far, worst first."""

    NOT_STARTED = 0
    IN_PROGRESS = 1
    NEEDS_TESTS = 2
    DONE = 3


class State(Rank):
    """The finer state behind a status, worst first."""

    UNCITED = 0
    TO_DO = 1
    MISSING_IMPLEMENTATION = 2
    PARTIAL = 3
    MISSING_TEST = 4
    EXCEPTION = 5
    IMPLIED = 6
    COMPLETE = 7
    NOT_APPLICABLE = 8

    @property
    def status(self) -> Status:
        return _STATUS_OF[self]

    @property
    def meaning(self) -> str:
        """A sentence that says why."""
        return _MEANING_OF[self]


_STATUS_OF = {
    State.UNCITED: Status.NOT_STARTED,
    State.TO_DO: Status.NOT_STARTED,
    State.MISSING_IMPLEMENTATION: Status.IN_PROGRESS,
    State.PARTIAL: Status.IN_PROGRESS,
    State.MISSING_TEST: Status.NEEDS_TESTS,
    State.EXCEPTION: Status.DONE,
    State.IMPLIED: Status.DONE,
    State.COMPLETE: Status.DONE,
    State.NOT_APPLICABLE: Status.DONE,
}
_MEANING_OF = {
    State.UNCITED: "Nothing refers to it.",
    State.TO_DO: "Nothing but a note to do it refers to it.",
    State.MISSING_IMPLEMENTATION: "A test refers to it, but no implementation.",
    State.PARTIAL: "Something refers to a part of it, and nothing to the rest.",
    State.MISSING_TEST: "It is implemented, or excepted without a reason, but no test refers to it.",
    State.EXCEPTION: "It is excepted, with a reason, and is not counted as done.",
    State.IMPLIED: "It holds without code or a test of its own.",
    State.COMPLETE: "All of it is implemented and tested.",
    State.NOT_APPLICABLE: "The configuration says that it is not owed; it is not counted at all.",
}


class NotApplicable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requirements that are not owed, as an entry of the configuration says."""

    target: str
    """A specification, or a section of one."""
    quote: str = ""
    """The one requirement of the section that is meant."""
    reason: str
    owner: str = ""
    expiry: date | None = None
    """The last day on which that holds."""
    has_expired: bool = False
    """Whether that day is over, so that the requirements are owed."""
    requirements: int
    """How many are meant."""
