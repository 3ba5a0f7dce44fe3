"""The records that every part of duvet shares. They are frozen: data flows one way."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from functools import cached_property

from msgspec import Struct


class Rank(IntEnum):
    """An enumeration whose members have an order."""

    # Enum's own hash is a Python function, and members are looked up for every annotation.
    __hash__ = int.__hash__

    @property
    def words(self) -> str:
        """The name as people write it: `in progress`."""
        return self.name.lower().replace("_", " ")


class Level(Rank):
    """The level of a requirement, weakest first."""

    AUTO = 0
    MAY = 1
    SHOULD = 2
    MUST = 3


class Kind(Rank):
    """The type of an annotation, in the order in which annotations sort."""

    SPEC = 0
    TEST = 1
    CITATION = 2
    EXCEPTION = 3
    TODO = 4
    IMPLICATION = 5


class Format(Rank):
    """The format of a specification; AUTO is resolved when its text is read."""

    AUTO = 0
    IETF = 1
    MARKDOWN = 2


class Severity(StrEnum):
    """The severity of a problem; errors fail the run."""

    ERROR = "error"
    WARNING = "warning"


class Place(Struct, frozen=True):
    """A range within one line of a file, counted in characters from 1; column 0 is the whole line."""

    line: int = 0
    column: int = 0
    width: int = 1

    @property
    def end_column(self) -> int:
        return self.column + self.width


class Note(Struct, frozen=True):
    """A label for another place in the file that has the problem."""

    place: Place
    label: str


class Edit(Struct, frozen=True):
    """A replacement of a range of a file; lines and columns are counted in characters from 1."""

    line: int
    column: int
    end_line: int
    end_column: int  # The column of the first character that is kept.
    text: str


class Applicability(StrEnum):
    """Whether a fix may be applied without a look at the code."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Fix(Struct, frozen=True, omit_defaults=True):
    """Edits that fix a problem in its file."""

    description: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    change: str = ""  # The new quote with the differing words marked.
    doubt: str = ""  # Why the fix is unsafe.


class Problem(Struct, frozen=True):
    """An error or a warning: what is wrong, where, and what to do about it."""

    code: str
    message: str
    path: str = ""
    place: Place = Place()
    label: str = ""
    hint: str = ""
    severity: Severity = Severity.ERROR
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    is_private: bool = False  # True if the line may contain secrets, so that it must not be shown.

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """The key that sorts problems by path and place, not by the phase that found them."""
        return (self.path, self.place.line, self.place.column, self.code, self.message)


class Source(Struct, frozen=True, array_like=True):
    """The position of an annotation in its file: offsets in characters, for order and diagnostics."""

    # Not three pairs: a hundred thousand of these are read from the cache at once.
    target_start: int = 0
    target_end: int = 0
    text_start: int = 0
    text_end: int = 0
    quote_start: int = 0
    quote_end: int = 0

    @property
    def target(self) -> tuple[int, int]:
        return (self.target_start, self.target_end)

    @property
    def text(self) -> tuple[int, int]:
        return (self.text_start, self.text_end)

    @property
    def quote(self) -> tuple[int, int]:
        """The characters of the quote; none if the annotation refers to the section's title."""
        return (self.quote_start, self.quote_end)


class Annotation(Struct, frozen=True, omit_defaults=True):
    """A comment, or an entry of a requirement file."""

    path: str
    line: int
    kind: Kind
    target: str
    quote: str
    level: Level = Level.AUTO
    format: Format = Format.AUTO
    reason: str = ""  # The reason; for a requirement of a requirement file its text as written, line ends included.
    feature: str = ""
    tracking_issue: str = ""
    tags: tuple[str, ...] = ()
    blob_link: str | None = None
    from_file: bool = False  # True if it is from a requirement file, not from a comment.
    source: Source = Source()
    name: str = ""  # The id that the specification gives the requirement, such as `FR-001`.


class Section(Struct, frozen=True):
    """A part of a specification. Offsets count bytes in the specification's file."""

    id: str
    title: str
    heading: tuple[int, int]  # The bytes of the whole title in the file.
    full_title: str  # Those bytes as text; a heading over several lines contains line ends.
    lines: tuple[str, ...]
    starts: tuple[int, ...]  # The offset of each line.
    breaks: frozenset[int] = frozenset()
    """Indexes of lines before which a list item begins or ends: no sentence crosses them."""
    path: tuple[str, ...] = ()  # The titles of the sections above it, outermost first.


class Locator(Struct, frozen=True):
    """The identity of a specification: a normalised URL or a path, read in a format."""

    name: str
    is_url: bool = False
    format: Format = Format.AUTO


class Specification(Struct, frozen=True, dict=True):
    """A document and its sections."""

    id: str
    name: str
    locator: Locator
    url: str  # The canonical URL, or the path in the project.
    path: str  # The file with the text.
    format: Format
    title: str  # What awslabs duvet shows as title; empty for IETF text.
    description: str
    data: bytes
    sections: tuple[Section, ...]

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The index of each section by its id."""
        return {section.id: index for index, section in enumerate(self.sections)}


class ExtractedSentence(Struct, frozen=True):
    """A normative sentence found in a section."""

    level: Level
    pieces: tuple[str, ...]  # The sentence line by line, each line trimmed.
    name: str = ""  # The id at its head, such as `FR-001`.
