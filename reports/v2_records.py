"""The records of upstream's second JSON report, in the order in which their fields are written."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

VERSION = "2.0"

LevelName = Literal["AUTO", "MAY", "SHOULD", "MUST"]
KindName = Literal["CITATION", "TEST", "IMPLICATION", "EXCEPTION", "TODO"]
Offset = Annotated[int, Meta(ge=0)]


class Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What every record has in common: nothing unknown is read, and nothing empty is written."""


class ByteRange(Struct, frozen=True, order=True, forbid_unknown_fields=True, gc=False):
    """Bytes of a source, the end excluded."""

    start: Offset
    end: Offset


class Span(Record, frozen=True):
    """One stretch of an inline source."""

    src: str
    start: Offset
    end: Offset


class Ranges(Record, frozen=True):
    """Stretches of an inline source."""

    src: str
    ranges: tuple[ByteRange, ...]


class Location(Record, frozen=True):
    """A line of a linked source."""

    src: str
    line: Offset | None = None


class Repository(Record, frozen=True):
    """Where the linked sources of a package can be read."""

    blob_link: str


class InlineSource(Record, frozen=True):
    """A specification with its text."""

    file_name: str
    contents: str


class LinkedSource(Record, frozen=True):
    """A file that holds annotations."""

    file_name: str
    repository: str | None = None


class SpecificationRecord(Record, frozen=True, kw_only=True):
    """What an inline source is as a whole."""

    source: Span
    title: str | None = None
    format: str
    url: str | None = None


class SectionRecord(Record, frozen=True):
    """A section of a specification."""

    source: Span
    short_name: str
    long_name: str | None = None


class RequirementRecord(Record, frozen=True):
    """A requirement, where it is stated, and what cites each part of it."""

    source: Location
    origin: Ranges
    level: LevelName
    coverage: dict[str, tuple[ByteRange, ...]] = {}


class CiteRecord(Record, frozen=True):
    """An annotation that refers to a specification."""

    source: Location
    target: Ranges
    type: KindName
    # Made by a function, a default is written too.
    level: LevelName = field(default_factory=lambda: "AUTO")
    comment: str | None = None
    feature: str | None = None
    tracking_issue: str | None = None
    tags: tuple[str, ...] = ()


class NotApplicableRecord(Record, frozen=True):
    """Requirements that a package does not owe."""

    target: str
    reason: str
    requirements: Offset
    quote: str | None = None
    owner: str | None = None
    expiry: date | None = None


class Sources(Struct, frozen=True):
    """The sources by id. Extensions are buckets that only their writer knows."""

    inline: dict[str, InlineSource] = {}
    linked: dict[str, LinkedSource] = {}
    extensions: dict[str, Raw] = {}


class Annotations(Struct, frozen=True):
    """What is said of the sources, by id."""

    specification: dict[str, SpecificationRecord] = {}
    section: dict[str, SectionRecord] = {}
    requirement: dict[str, RequirementRecord] = {}
    cite: dict[str, CiteRecord] = {}
    not_applicable: dict[str, NotApplicableRecord] = {}
    """Ours: awslabs duvet keeps it as an extension."""
    extensions: dict[str, Raw] = {}


class Report(Struct, frozen=True):
    """A whole report."""

    issue_links: tuple[str, ...] = ()
    repositories: dict[str, Repository] = {}
    sources: Sources = Sources()
    annotations: Annotations = Annotations()
