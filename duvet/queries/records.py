"""Filters for lists of requirements, the rows of these lists, and links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.model import Kind, Level, Place, Problem, Section, Severity
from duvet.text import format_count, shorten_text
from duvet.trace.catalogue import NO_REQUIREMENTS_HINT, SHORT_ID_DIGITS, Catalogue, RequirementCard, State

if TYPE_CHECKING:
    from duvet.rules import Rule

LEVELS_BY_WORD = {"must": Level.MUST, "should": Level.SHOULD, "may": Level.MAY, "none": Level.AUTO}
"""Levels, by their names in options and arguments."""

LEVEL_SYNONYMS = {"unspecified": "none", "other": "none", "auto": "none"}

##= man/spec/trace.md#commands
##% duvet MUST accept old names of options, commands, states and levels, and print the new name with `--verbose`.
STATES_BY_WORD: dict[str, tuple[State, ...]] = {
    **{state.words.replace(" ", "-"): (state,) for state in State},
    "todo": (State.TO_DO,),
    # The names in former versions, and the classes of `get_prioritized_requirements`.
    "not-started": (State.UNCITED, State.TO_DO),
    "missing-implementation": (State.NEEDS_CODE,),
    "partial": (State.IN_PROGRESS,),
    "missing-test": (State.NEEDS_TESTS,),
    "exception": (State.EXCEPTED,),
    "implied": (State.DONE,),
    "complete": (State.DONE,),
    "partially-implemented": (State.IN_PROGRESS, State.NEEDS_CODE, State.NEEDS_TESTS),
    "fully-implemented": (State.EXCEPTED, State.DONE, State.NOT_APPLICABLE),
}
"""States, by their names in options and arguments as `fold_word` returns them."""


def fold_word(word: str) -> str:
    return re.sub(r"[\s_-]+", "-", word.strip().lower())


def parse_level(word: str) -> Level | None:
    name = fold_word(word)
    return LEVELS_BY_WORD.get(LEVEL_SYNONYMS.get(name, name))


class RequirementFilter(Struct, frozen=True):
    """Filters for requirements; the values of one filter are alternatives, and an empty filter selects all."""

    specifications: tuple[str, ...] = ()  # By id, name, URL or path.
    sections: tuple[str, ...] = ()
    """Sections by id, number or title, or as `spec#section`; a section of an IETF document includes its subsections."""
    levels: tuple[Level, ...] = ()
    states: tuple[State, ...] = ()
    kinds: tuple[Kind, ...] = ()  # The annotation types; a requirement must have an annotation of at least one of them.


def select_requirements(catalogue: Catalogue, filters: RequirementFilter) -> list[int]:
    """Raise NotFoundError for an unknown or ambiguous name."""
    found = list(enumerate(catalogue.requirements))
    if filters.specifications or filters.sections:
        from duvet.trace.locations import find_requirements_in, require_specification
    if filters.specifications:
        named = {index for name in filters.specifications for index in require_specification(catalogue, name)}
        found = [(index, one) for index, one in found if one.specification in named]
    if filters.sections:
        chosen: set[int] = set()
        for name in filters.sections:
            spec, _, section = name.rpartition("#")
            specs = (spec,) if spec else filters.specifications
            numbers = [number for one in specs for number in require_specification(catalogue, one)]
            chosen.update(
                find_requirements_in(catalogue, section, numbers if specs else range(len(catalogue.specifications)))
            )
        found = [(index, one) for index, one in found if index in chosen]
    if filters.levels:
        found = [(index, one) for index, one in found if one.level in filters.levels]
    if filters.states:
        found = [(index, one) for index, one in found if one.state in filters.states]
    if filters.kinds:
        having = {number for number, one in enumerate(catalogue.citations) if one.kind in filters.kinds}
        found = [(index, one) for index, one in found if not having.isdisjoint(one.citations)]
    return [index for index, _ in found]


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
    ##= man/spec/page.md#safety
    ##% The report MUST NOT link to anything except itself and web pages.
    return url if url is not None and url.lower().startswith(("http://", "https://")) else ""


def make_blob_url(base: str | None, path: str) -> str:
    found = keep_web_url(base)
    return f"{found.rstrip('/')}/{_quote_part(path)}" if found else ""


def make_issue_url(base: str | None, id: str) -> str:
    found = keep_web_url(base)
    return keep_web_url(id) or (f"{found.rstrip('/')}/{_quote_part(id.removeprefix('#'))}" if found else "")


def make_published_url(url: str, section: str | None = None) -> str:
    page = _RFC_AS_TEXT.sub(r"\1", keep_web_url(url))
    if section is None or not page:
        return page
    return "" if page.endswith(".txt") else page + make_fragment_link(section)


def _quote_part(text: str, safe: str = "/") -> str:
    # A file name that is not valid Unicode gives a dead link, which is harmless.
    from urllib.parse import quote

    return quote(text, safe=safe, errors="replace")


def format_section_text(section: Section) -> str:
    return dedent("\n".join(section.lines)).strip("\n")


NO_REQUIREMENTS = "the project has no requirements"


def list_errors(catalogue: Catalogue) -> tuple[Problem, ...]:
    return tuple(problem for problem in catalogue.problems if problem.severity is Severity.ERROR)


def describe_error_count(catalogue: Catalogue) -> str:
    return f"{format_count(len(list_errors(catalogue)), 'error')} in the project"


def describe_incompleteness(catalogue: Catalogue, step: str = "") -> str:
    return f"{describe_error_count(catalogue)}; results may be incomplete{step}" if list_errors(catalogue) else ""


def describe_error_notice(catalogue: Catalogue) -> str:
    return describe_incompleteness(catalogue, "; run `duvet validate` for details")


def require_requirements(catalogue: Catalogue) -> Catalogue:
    if catalogue.requirements:
        return catalogue
    if list_errors(catalogue):
        hint = f"{describe_error_count(catalogue)}; run `duvet validate` for details"
    elif not catalogue.specifications:
        hint = "add a specification with `duvet init --specification URL|FILE`"
    else:
        hint = NO_REQUIREMENTS_HINT
    raise NotFoundError(NO_REQUIREMENTS, hint=hint)


def make_gate_problem(row: RequirementRow, rule: Rule, message: str) -> Problem:
    hint = ": ".join(filter(None, (row.target, row.name, shorten_text(row.text))))
    return rule.problem(message, row.file_path, Place(row.line_number), hint=hint)
