"""The records that every part of duvet shares. They are frozen: data flows one way."""

from __future__ import annotations

from bisect import bisect_right
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


class Fix(Struct, frozen=True, omit_defaults=True):
    """Edits that fix a problem in its file."""

    description: str
    edits: tuple[Edit, ...]
    change: str = ""  # The new quote with the differing words marked.


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


class RequirementForm(Struct, frozen=True):
    """The form of the requirements in a Markdown specification."""

    any_case: bool = False  # Whether keywords in lower case count.
    needs_id: bool = False  # Whether everything with an id is a requirement, and nothing else.
    ids: str = ""  # A pattern for ids beside the usual ones.


class Statement(Struct, frozen=True, array_like=True):
    """A requirement as a section states it; ranges count characters of the section's plain text."""

    level: Level
    text: str
    ranges: tuple[tuple[int, int], ...]  # The words that have to be quoted; context such as a lead-in is left out.
    name: str = ""  # The id that people gave it, such as `FR-001`.
    lead: str = ""  # The sentence above its list that the text begins with.


class Uncounted(Struct, frozen=True, array_like=True):
    """A sentence with a keyword that is not a requirement."""

    reason: str  # `lower-case keyword` or `no id`
    text: str
    start: int  # The byte of the file at which it begins.


class PlainText(Struct, frozen=True, array_like=True):
    """The words of a Markdown section without its markup.

    A blank stands for a line end within a block, and a line feed between two blocks. Each run is a stretch of the text
    that the file contains as it is; a character that the file writes in another way is a run of its own.
    """

    text: str
    offsets: tuple[int, ...]  # The first character of each run.
    starts: tuple[int, ...]  # The first byte of each run in the file.
    ends: tuple[int, ...]
    code: tuple[tuple[int, int], ...] = ()  # The characters of each code span.
    statements: tuple[Statement, ...] = ()
    uncounted: tuple[Uncounted, ...] = ()

    def quote(self, start: int, end: int) -> str:
        """Return a stretch of the text on one line, with code as people write it."""
        parts, at = [], start
        for low, high in self.code[max(0, bisect_right(self.code, (start, start)) - 1) :]:
            if low >= end:
                break
            if start <= low and high <= end and "`" not in self.text[low:high]:
                parts += [self.text[at:low], "`", self.text[low:high], "`"]
                at = high
        return " ".join("".join([*parts, self.text[at:end]]).split())

    def byte_at(self, character: int) -> int:
        """Return the byte of the file at which a character begins; behind the last one, where that ends."""
        index = bisect_right(self.offsets, character) - 1
        if index < 0:
            return self.starts[0] if self.starts else 0
        written = self.text[self.offsets[index] : character]
        shift = len(written) if written.isascii() else len(written.encode())
        return min(self.starts[index] + shift, self.ends[index])


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
    plain: PlainText | None = None  # The words of a Markdown section, in our own schema.


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
    form: RequirementForm | None = None  # None if it is read as awslabs duvet reads it.

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The index of each section by its id."""
        return {section.id: index for index, section in enumerate(self.sections)}


class ExtractedSentence(Struct, frozen=True):
    """A normative sentence found in a section."""

    level: Level
    pieces: tuple[str, ...]  # The sentence line by line, each line trimmed.
    name: str = ""  # The id at its head, such as `FR-001`.
