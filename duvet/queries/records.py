"""Rows and details in the results of queries, links, and counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent
from typing import Any

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.model import Level, Place, Problem, Section, Severity
from duvet.rules import Rule
from duvet.text import format_count, shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, RequirementCard
from duvet.trace.records import NO_REQUIREMENTS_HINT, NotApplicable, State, Total, compute_level_totals


class RequirementRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    identifier: str  # The first digits of the id (the BLAKE3 of the text in hex).
    name: str = ""  # The id that the specification gives it, such as `FR-001`.
    full_path: str
    specification: str
    section: str
    section_title: str
    target: str
    level: str | None
    status: str
    text: str
    file_path: str
    line_number: int


def make_requirement_row(catalogue: Catalogue, card: RequirementCard) -> RequirementRow:
    return RequirementRow(**make_row_fields(catalogue, card))


def make_requirement_rows(catalogue: Catalogue, indexes: Iterable[int]) -> tuple[RequirementRow, ...]:
    return tuple(make_requirement_row(catalogue, catalogue.requirements[index]) for index in indexes)


def make_row_fields(catalogue: Catalogue, card: RequirementCard) -> dict[str, Any]:
    specification, id = catalogue.specifications[card.specification], card.id
    section = specification.section_names.get(card.section, card.section)
    return {
        "identifier": id[:SHORT_ID_DIGITS],
        "name": card.name,
        "full_path": specification.requirement_path(card.section, id),
        "specification": specification.id,
        "section": section,
        "section_title": specification.titles.get(card.section, ""),
        "target": f"{specification.locator}#{section}",
        "level": format_level(card.level),
        "status": card.state.words,
        "text": card.text,
        "file_path": specification.path,
        "line_number": card.line,
    }


def format_level(level: Level) -> str | None:
    return level.name if level else None


# Only the HTML version of an RFC has anchors for its sections.
_RFC_AS_TEXT = re.compile(r"\A(https://www\.rfc-editor\.org/rfc/rfc\d+)\.txt\Z")
_SAFE_IN_FRAGMENTS = "/!$&'()*+,;=:@?-._~"


def make_fragment_link(anchor: str) -> str:
    return f"#{_quote_part(anchor, _SAFE_IN_FRAGMENTS)}"


def keep_web_url(url: str | None) -> str:
    """Return an HTTP or HTTPS URL unchanged; empty for any other URL, such as `javascript:`."""
    ##= man/spec/page.md#safety
    ##% The report MUST NOT link to anything except itself and web pages.
    return url if url is not None and url.lower().startswith(("http://", "https://")) else ""


def make_blob_url(base: str | None, path: str) -> str:
    """Return the URL of a source file without a line number; empty if there is no base URL."""
    found = keep_web_url(base)
    return f"{found.rstrip('/')}/{_quote_part(path)}" if found else ""


def make_issue_url(base: str | None, id: str) -> str:
    """Return the URL of an issue, given as a number or a URL; empty for a number without a valid `base`."""
    found = keep_web_url(base)
    return keep_web_url(id) or (f"{found.rstrip('/')}/{_quote_part(id.removeprefix('#'))}" if found else "")


def make_published_url(url: str, section: str | None = None) -> str:
    """Return the URL of a specification or section; empty if it has none."""
    page = _RFC_AS_TEXT.sub(r"\1", keep_web_url(url))
    if section is None or not page:
        return page
    return "" if page.endswith(".txt") else page + make_fragment_link(section)


def _quote_part(text: str, safe: str = "/") -> str:
    # A file name that is not valid Unicode gives a dead link, which is harmless.
    from urllib.parse import quote

    return quote(text, safe=safe, errors="replace")


class CitationWithCode(Struct, frozen=True, kw_only=True):
    id: str  # `file:line`.
    full_path: str | None  # The path of its resource, below the first requirement that it refers to.
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
    warning: str | None
    comment_text: str  # The lines of the comment without indentation.
    context_start: int  # The number of the first line.
    context_lines: tuple[str, ...]
    url: str | None
    issue_url: str | None


class CitationDetail(CitationWithCode, frozen=True, kw_only=True):
    requirements: tuple[RequirementRow, ...]


class FileDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="file"):
    file_path: str
    url: str | None
    citations: tuple[CitationDetail, ...]


class RequirementDetail(RequirementRow, frozen=True, kw_only=True, tag_field="kind", tag="requirement"):
    """A requirement with all places where it occurs, described at the place with the worst state."""

    id: str  # The BLAKE3 of its text in hex.
    specification_name: str
    status_reason: str
    not_implemented: tuple[str, ...]  # The words that need code.
    not_tested: tuple[str, ...]  # The words that need tests.
    excuse: NotApplicable | None  # Present if the configuration makes the requirement not applicable.
    url: str | None  # The URL of its section.
    places: tuple[RequirementRow, ...]
    citations: tuple[CitationWithCode, ...]
    neighbours: tuple[RequirementRow, ...]  # The requirements right before and after it in its section.
    cited_together: tuple[RequirementRow, ...]  # Other requirements of the same citations.


class RequirementCounts(Struct, frozen=True, kw_only=True):
    """Numbers of requirements; excepted and not applicable ones don't count as done."""

    requirements: int
    uncited: int
    to_do: int
    in_progress: int
    needs_code: int
    needs_tests: int
    excepted: int
    done: int
    not_applicable: int
    applicable: int
    percent: int | None  # The share of applicable requirements that are done.


class LevelCounts(RequirementCounts, frozen=True, kw_only=True):
    level: str | None


class SectionRow(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    full_path: str
    numbers: RequirementCounts


class SectionDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="section"):
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
    numbers: RequirementCounts
    requirements: tuple[RequirementRow, ...]
    citations: tuple[CitationWithCode, ...]  # The citations of its title, and of sentences that are not requirements.


class SpecificationDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="specification"):
    id: str
    name: str
    url: str
    description: str
    full_path: str
    target: str  # The part of its targets before `#`.
    file_path: str
    numbers: RequirementCounts
    levels: tuple[LevelCounts, ...]
    sections: tuple[SectionRow, ...]


Detail = RequirementDetail | SectionDetail | SpecificationDetail | FileDetail


def count_requirements(found: Iterable[RequirementCard]) -> RequirementCounts:
    return RequirementCounts(**_make_fields(compute_level_totals(found)[-1]))


def count_by_level(found: Iterable[RequirementCard]) -> tuple[LevelCounts, ...]:
    """Return the counts for each level that occurs, strongest first."""
    levels = [(total.level, total) for total in compute_level_totals(found) if total.level is not None]
    return tuple(LevelCounts(level=format_level(level), **_make_fields(total)) for level, total in levels)


def _make_fields(total: Total) -> dict[str, Any]:
    by_state = {state.name.lower(): count for state, count in zip(State, total.counts, strict=True)}
    return {**by_state, **{name: getattr(total, name) for name in ("requirements", "applicable", "percent")}}


def format_section_text(section: Section) -> str:
    """Return the text of a section without its title, common indentation and page headers."""
    return dedent("\n".join(section.lines)).strip("\n")


NO_REQUIREMENTS = "the project has no requirements"


def list_errors(catalogue: Catalogue) -> tuple[Problem, ...]:
    return tuple(problem for problem in catalogue.problems if problem.severity is Severity.ERROR)


def describe_error_count(catalogue: Catalogue) -> str:
    return f"{format_count(len(list_errors(catalogue)), 'error')} in the project"


def describe_incompleteness(catalogue: Catalogue, step: str = "") -> str:
    """Return a warning that errors may make results incomplete, with the next step; empty if there are no errors."""
    return f"{describe_error_count(catalogue)}; results may be incomplete{step}" if list_errors(catalogue) else ""


def describe_error_notice(catalogue: Catalogue) -> str:
    return describe_incompleteness(catalogue, "; run `duvet validate` to list them")


def require_requirements(catalogue: Catalogue) -> Catalogue:
    """Return the catalogue unchanged; raise NotFoundError if it contains no requirements."""
    if catalogue.requirements:
        return catalogue
    if list_errors(catalogue):
        hint = f"{describe_error_count(catalogue)}; run `duvet validate` to list them"
    elif not catalogue.specifications:
        hint = "add a specification with `duvet init --specification URL|FILE`"
    else:
        hint = NO_REQUIREMENTS_HINT
    raise NotFoundError(NO_REQUIREMENTS, hint=hint)


def make_gate_problem(row: RequirementRow, rule: Rule, message: str) -> Problem:
    hint = ": ".join(filter(None, (row.target, row.name, shorten_text(row.text))))
    return rule.problem(message, row.file_path, Place(row.line_number), hint=hint)
