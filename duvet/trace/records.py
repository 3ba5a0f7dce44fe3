"""What a trace is made of. An annotation's id is its index in `Trace.annotations`."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Annotation, Level, Problem, Rank, Specification
from duvet.trace.failure import Failure

# What covers a piece of text, as bits; the first six are those of awslabs duvet's JSON.
TODO, EXCEPTION, TEST, IMPLICATION, CITATION, SPEC, EXCUSED = (1 << bit for bit in range(7))
"""EXCUSED is an exception that says why."""

KIND_FLAGS = (SPEC, TEST, CITATION, EXCEPTION, TODO, IMPLICATION)
"""By kind; a tuple, because looking up a member of an enum in a dict costs a call in Python."""

TITLE_LINE = -1
"""The line index of a section's title, which an empty quote refers to."""


class Fit(Rank):
    """How a quote was found."""

    EXACT = 0
    NORMALISED = 1
    ONE_EDIT = 2
    TITLE = 3


class Piece(Struct, frozen=True):
    """The part of a quote that stands on one line: the line's index in its section, and bytes of the file."""

    line: int
    start: int
    end: int


Found = tuple[tuple[Piece, ...], Fit]
"""Where a quote stands, and how it was found."""


class Match(Struct, frozen=True):
    """Where a quote stands, and every annotation that says so."""

    section: int
    pieces: tuple[Piece, ...]
    fit: Fit
    ids: tuple[int, ...]
    flags: int
    level: Level
    stating: tuple[int, ...] = ()
    """Those of the annotations that state a requirement."""


class Segment(Struct, frozen=True):
    """Bytes of a line that the same annotations refer to."""

    start: int
    end: int
    ids: tuple[int, ...]
    flags: int
    level: Level


class Tally(Struct, frozen=True):
    """The bytes of a quoted requirement by what covers them, and the annotations that do."""

    bytes_by_flags: dict[int, int]
    related: tuple[int, ...]

    def covered(self, flags: int) -> int:
        """How many bytes any of these kinds cover."""
        return sum(count for found, count in self.bytes_by_flags.items() if found & flags)

    @property
    def total(self) -> int:
        return sum(self.bytes_by_flags.values())


Lines = dict[int, tuple[Segment, ...]]
"""The lines of a section that something refers to, each cut into segments from end to end."""


class Coverage(Struct, frozen=True):
    """What the annotations of a trace cover in one specification."""

    specification: Specification
    matches: tuple[Match, ...]
    sections: dict[int, Lines]
    tallies: dict[int, Tally]
    """By the id of a requirement's annotation."""


class Trace(Struct, frozen=True):
    """Annotations resolved against specifications, with all that is wrong with them."""

    annotations: tuple[Annotation, ...]
    match_of: tuple[Match | None, ...]
    """By annotation id; None where the annotation refers to nothing."""
    coverages: tuple[Coverage, ...]
    """One for each specification that an annotation refers to, in the order of reports."""
    problems: tuple[Problem, ...]
    failures: dict[int, Failure] = {}
    """By annotation id: why it refers to nothing, or what else there is to say of it."""
