"""All there is to say of one thing; the names are those of the server's resources."""

from __future__ import annotations

from msgspec import Struct

from duvet.queries.rows import RequirementRow
from duvet.trace.states import NotApplicable


class Citation(Struct, frozen=True, kw_only=True):
    """An annotation with the code around it."""

    id: str
    """`file:line`."""
    full_path: str | None
    """Where it stands among all resources, below the first requirement that it refers to."""
    file_path: str
    line_number: int
    type: str
    target: str
    specification: str | None
    section: str | None
    section_title: str | None
    quote: str
    reason: str | None
    feature: str | None
    tracking_issue: str | None
    valid: bool
    error: str | None
    """Why it is not valid."""
    warning: str | None
    comment_text: str
    """Its lines without their indentation."""
    context_start: int
    """The number of the first line of the context."""
    context_lines: tuple[str, ...]
    url: str | None
    issue_url: str | None


class CitationDetail(Citation, frozen=True, kw_only=True):
    """An annotation with the requirements that it refers to."""

    requirements: tuple[RequirementRow, ...]


class FileDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="file"):
    """Annotations of a file: all of them, or those at one place."""

    file_path: str
    url: str | None
    citations: tuple[CitationDetail, ...]


class RequirementDetail(RequirementRow, frozen=True, kw_only=True, tag_field="kind", tag="requirement"):
    """A requirement in its worst place, with all of its places."""

    id: str
    """The hex BLAKE3 of its text."""
    specification_name: str
    status_reason: str
    excuse: NotApplicable | None
    """What the configuration says where it is not applicable."""
    url: str | None
    """Where its section can be read."""
    places: tuple[RequirementRow, ...]
    citations: tuple[Citation, ...]
    neighbours: tuple[RequirementRow, ...]
    """Those right before and after it in its section."""
    cited_together: tuple[RequirementRow, ...]
    """Others that the same citations refer to."""


class Numbers(Struct, frozen=True, kw_only=True):
    """How many requirements there are; what is excepted or not applicable is not done."""

    requirements: int
    not_started: int
    in_progress: int
    needs_tests: int
    done: int
    excepted: int
    not_applicable: int
    applicable: int
    percent: int | None
    """How many of the applicable ones are done."""


class LevelNumbers(Numbers, frozen=True, kw_only=True):
    """How many there are of one level."""

    level: str | None
    """None where none is stated."""


class SectionRow(Struct, frozen=True, kw_only=True):
    """A section in a list."""

    id: str
    title: str
    full_path: str
    numbers: Numbers


class SectionDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="section"):
    """A section with its text."""

    id: str
    title: str
    content: str
    full_path: str
    specification: str
    specification_name: str
    target: str
    file_path: str
    line_number: int
    url: str | None
    numbers: Numbers
    requirements: tuple[RequirementRow, ...]
    citations: tuple[Citation, ...]
    """Those of its title, and of what is no requirement."""


class SpecificationDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="specification"):
    """A specification with its sections."""

    id: str
    name: str
    url: str
    description: str
    full_path: str
    target: str
    """What targets call it."""
    file_path: str
    numbers: Numbers
    levels: tuple[LevelNumbers, ...]
    sections: tuple[SectionRow, ...]


Detail = RequirementDetail | SectionDetail | SpecificationDetail | FileDetail
