"""The frozen records that all packages share."""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rank(IntEnum):
    # Enum's own hash is a Python function, and members are looked up for every annotation.
    __hash__ = int.__hash__

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


class Level(Rank):
    """The level of a requirement, weakest first."""

    AUTO = 0
    MAY = 1
    SHOULD = 2
    MUST = 3


class Kind(Rank):
    """The type of an annotation, in sorting order."""

    SPEC = 0
    TEST = 1
    CITATION = 2
    EXCEPTION = 3
    TODO = 4
    IMPLICATION = 5


class Format(Rank):
    """The format of a specification; AUTO means that duvet detects it from the name and the text."""

    AUTO = 0
    IETF = 1
    MARKDOWN = 2


class Severity(StrEnum):
    """The severity of a problem; errors fail the run."""

    ERROR = "error"
    WARNING = "warning"


class Place(Struct, frozen=True):
    """A range within a line, counted from 1; column 0 stands for the whole line, and line 0 for the whole file."""

    line: int = 0
    column: int = 0
    width: int = 1

    @property
    def end_column(self) -> int:
        return self.column + self.width


class Note(Struct, frozen=True):
    """A label at another place in the problem's file."""

    place: Place
    label: str


class Edit(Struct, frozen=True):
    """The replacement of a range of a file; lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int  # The column after the last replaced character.
    text: str


class Applicability(StrEnum):
    """Safe fixes can be applied without checking the code."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Fix(Struct, frozen=True, omit_defaults=True):
    """Edits that fix a problem in its file."""

    description: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    change: str = ""  # The new quote with the changed words marked.
    doubt: str = ""  # Why the fix is unsafe.


class Problem(Struct, frozen=True):
    """An error or warning: what is wrong, where, and how to fix it."""

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
        return (self.path, self.place.line, self.place.column, self.code, self.message)


def sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.sort_key))


class Source(Struct, frozen=True, array_like=True):
    """The position of an annotation in its file, as character offsets."""

    # Not three pairs, because the cache may load a hundred thousand of these records.
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
        """The range of the quote; empty if the annotation refers to the section's title."""
        return (self.quote_start, self.quote_end)


class Annotation(Struct, frozen=True, omit_defaults=True):
    """A comment, or an entry in a requirement file."""

    path: str
    line: int
    kind: Kind
    target: str
    quote: str
    level: Level = Level.AUTO
    format: Format = Format.AUTO
    reason: str = ""  # The reason; for a requirement in a requirement file, its original text, including line ends.
    feature: str = ""
    tracking_issue: str = ""
    tags: tuple[str, ...] = ()
    blob_link: str | None = None
    from_file: bool = False  # True if it is from a requirement file, not from a comment.
    source: Source = Source()
    name: str = ""  # The id that the specification gives the requirement, such as `FR-001`.


class RequirementForm(Struct, frozen=True):
    any_case: bool = False  # Whether keywords in lower case count.
    needs_id: bool = False  # Whether exactly the texts with an id are requirements.
    ids: str = ""  # A pattern for more ids, besides the built-in forms.


class Statement(Struct, frozen=True, array_like=True):
    """A requirement; ranges count characters of the plain text of its section."""

    level: Level
    text: str
    ranges: tuple[tuple[int, int], ...]  # The words that have to be quoted; context such as a lead-in is left out.
    name: str = ""  # The id that people gave it, such as `FR-001`.
    lead: str = ""  # The introduction of its list, with which the text begins.


class Uncounted(Struct, frozen=True, array_like=True):
    reason: str  # Such as `lower-case keyword` or `no id`.
    text: str
    start: int  # The byte of the file at which it begins.


class PlainText(Struct, frozen=True, array_like=True):
    text: str  # Line feeds separate blocks; within a block, line ends become spaces.
    offsets: tuple[int, ...]  # The first character of each run.
    starts: tuple[int, ...]  # The first byte of each run in the file.
    ends: tuple[int, ...]
    code: tuple[tuple[int, int], ...] = ()  # The characters of each code span.
    statements: tuple[Statement, ...] = ()
    uncounted: tuple[Uncounted, ...] = ()

    def quote(self, start: int, end: int) -> str:
        parts, at = [], start
        for low, high in self.code[max(0, bisect_right(self.code, (start, start)) - 1) :]:
            if low >= end:
                break
            if start <= low and high <= end and "`" not in self.text[low:high]:
                parts += [self.text[at:low], "`", self.text[low:high], "`"]
                at = high
        return " ".join("".join([*parts, self.text[at:end]]).split())

    def words_between(self, low: int, high: int) -> str:
        parts: list[str] = []
        index = max(bisect_right(self.starts, low) - 1, 0)
        while index < len(self.starts) and self.starts[index] < high:
            last = self.offsets[index + 1] if index + 1 < len(self.offsets) else len(self.text)
            text, start, end = self.text[self.offsets[index] : last], self.starts[index], self.ends[index]
            data = text.rstrip("\n").encode()
            if len(data) == end - start:
                text = data[max(low - start, 0) : max(high - start, 0)].decode(errors="ignore")
            elif start < end <= low:
                text = ""
            parts.append(text)
            index += 1
        return " ".join("".join(parts).split())

    def byte_at(self, character: int) -> int:
        index = bisect_right(self.offsets, character) - 1
        if index < 0:
            return self.starts[0] if self.starts else 0
        first = self.offsets[index]
        last = self.offsets[index + 1] if index + 1 < len(self.offsets) else len(self.text)
        shift = character - first
        if last - first != self.ends[index] - self.starts[index] and not self.text.isascii():
            shift = len(self.text[first:character].encode())
        return min(self.starts[index] + shift, self.ends[index])


RESOURCE_SCHEME = "duvet://"  # The start of the URIs of resources.
BREADCRUMB_SIGN = " \u203a "  # Between the titles of a breadcrumb.
NUMBER_SIGN = "~"  # Between a path of headings and the number of one of the sections with that path.


class Section(Struct, frozen=True):
    """A part of a specification; offsets count bytes in the specification's file."""

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
    anchors: tuple[str, ...] = ()
    """The ids of the parent sections and of the section, without the numbers that make them unique; empty if duvet reads
    no heading paths, as with awslabs duvet's schema."""
    qualified: str = ""  # The shortest path of anchors that names this section alone; empty if the id does.

    @property
    def name(self) -> str:
        """The name to write in targets, which is unique in the specification."""
        return self.qualified or self.id

    @property
    def breadcrumb(self) -> str:
        is_numbered = bool(self.anchors) and self.id != self.anchors[-1]
        path, sign, number = self.qualified.partition(NUMBER_SIGN)
        above = path.count("/") or (is_numbered and not sign)
        title = f"{self.title}{sign}{number}"
        return BREADCRUMB_SIGN.join([*self.path[-above:], title]) if above else title


class NamedSection(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def anchors(self) -> tuple[str, ...]: ...

    @property
    def qualified(self) -> str: ...


def index_section_names(sections: Iterable[NamedSection]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for index, section in enumerate(sections):
        names = {section.id, *section.anchors[-1:]}
        if section.qualified:
            names.add(section.qualified)
        for name in names:
            found.setdefault(name, []).append(index)
    return {name: tuple(indexes) for name, indexes in found.items()}


class Locator(Struct, frozen=True, eq=False):
    """The identity of a specification: a normalised URL or a path, and a format."""

    name: str
    is_url: bool = False
    format: Format = Format.AUTO
    written: str = ""  # The path as it was written, such as `docs/./s.md`; it does not count for the identity.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Locator) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def _identity(self) -> tuple[str, bool, Format]:
        return self.name, self.is_url, self.format


class Specification(Struct, frozen=True, dict=True):
    """A document with its sections."""

    id: str
    name: str
    locator: Locator
    url: str  # The canonical URL, or the path in the project.
    path: str  # The file with the text.
    format: Format
    title: str  # The title that awslabs duvet shows; empty for IETF text.
    description: str
    data: bytes
    sections: tuple[Section, ...]
    form: RequirementForm | None = None  # None if it is read as awslabs duvet reads it.
    is_configured: bool = False  # False if only annotations name it.

    @cached_property
    def by_id(self) -> dict[str, int]:
        return {section.id: index for index, section in enumerate(self.sections)}

    @cached_property
    def by_name(self) -> dict[str, tuple[int, ...]]:
        return index_section_names(self.sections)

    @cached_property
    def by_path(self) -> dict[tuple[str, ...], tuple[int, ...]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for index, section in enumerate(self.sections):
            found.setdefault(section.anchors, []).append(index)
        return {path: tuple(indexes) for path, indexes in found.items()}


class ExtractedSentence(Struct, frozen=True):
    level: Level
    pieces: tuple[str, ...]  # The sentence line by line, each line trimmed.
    name: str = ""  # The id at its head, such as `FR-001`.
