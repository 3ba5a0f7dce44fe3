"""The trace pack, with its tools about specifications and sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from string import digits
from typing import Annotated, Any

from msgspec import Meta, Struct, json
from msgspec.structs import replace

from duvet.queries.records import RequirementCounts, count_by_level, count_requirements, format_section_text
from duvet.queries.references import CitationRef, RequirementRef, ResolvedReference, SectionRef
from duvet.tools.context import ProjectSnapshot
from duvet.tools.paging import MAX_PAGE_BYTES, take_fitting_rows
from duvet.tools.tool import ErrorCode, Pack, QueryTool, ToolAnswer, ToolError, check_requirements_known
from duvet.tools.trace.citation_checker import SpecCatalogue
from duvet.tools.trace.citations import GET_CITATION_CONTEXT, SUGGEST_CITATION, VALIDATE_CITATION, VALIDATE_CITATIONS
from duvet.tools.trace.invalid_citations import LIST_INVALID_CITATIONS, SPECIFICATION_NOT_FOUND
from duvet.tools.trace.requirements import (
    GET_PRIORITIZED_REQUIREMENTS,
    GET_REQUIREMENT,
    GET_REQUIREMENT_STATUS,
    LIST_UNCITED_REQUIREMENTS,
    NO_LEVEL,
    SEARCH_REQUIREMENTS,
    RequirementSummary,
    SpecArgument,
    group_requirements_by_section,
    summarize_requirement,
)
from duvet.trace.catalogue import Catalogue, RequirementCard
from duvet.trace.names import (
    list_known_ids,
    list_specification_names,
    match_specifications,
    require_specification,
    suggest_nearest,
)


class CoverageSummaryInput(Struct, frozen=True):
    spec: SpecArgument | None = None


class CoverageCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many requirements there are, and how far they have got; what is left out is none."""

    id: str = ""
    level: str = ""
    requirements: int
    done: int = 0
    needs_tests: int = 0
    in_progress: int = 0
    not_started: int = 0
    excepted: int = 0
    not_applicable: int = 0
    percent: int | None = None
    """Of the applicable ones, done."""
    levels: tuple[CoverageCounts, ...] = ()


class CoverageSummaryOutput(Struct, frozen=True, omit_defaults=True):
    total: CoverageCounts
    specifications: tuple[CoverageCounts, ...] = ()


def summarize_coverage(asked: CoverageSummaryInput, context: ProjectSnapshot) -> ToolAnswer:
    """The numbers of all specifications, or of one."""
    whole = context.once(_whole)
    if asked.spec is None:
        return context.once(_answer)
    catalogue = context.catalogue
    ids = {catalogue.specifications[index].id for index in require_specification(catalogue, asked.spec)}
    (one, *_) = [counts for counts in whole.specifications if counts.id in ids]
    return ToolAnswer(value=CoverageSummaryOutput(one))


def _whole(context: ProjectSnapshot) -> CoverageSummaryOutput:
    check_requirements_known(context)
    catalogue = context.catalogue
    found: dict[int, list[RequirementCard]] = {index: [] for index in range(len(catalogue.specifications))}
    for card in catalogue.requirements:
        found[card.specification].append(card)
    own = tuple(_counts(cards, id=catalogue.specifications[index].id) for index, cards in found.items())
    return CoverageSummaryOutput(_counts(catalogue.requirements), own)


def _counts(cards: Sequence[RequirementCard], *, id: str = "") -> CoverageCounts:
    levels = tuple(_fields(one, level=one.level or NO_LEVEL) for one in count_by_level(cards))
    return _fields(count_requirements(cards), id=id, levels=levels)


def _fields(found: RequirementCounts, **more: Any) -> CoverageCounts:
    names = set(CoverageCounts.__struct_fields__) & set(RequirementCounts.__struct_fields__)
    return CoverageCounts(**{name: getattr(found, name) for name in names}, **more)


def _answer(context: ProjectSnapshot) -> ToolAnswer:
    """The whole, made shorter until it may be said."""
    whole = context.once(_whole)
    if _fits(whole) or not context.page_size:
        return ToolAnswer(value=whole)
    plain = CoverageSummaryOutput(whole.total, tuple(replace(one, levels=()) for one in whole.specifications))
    note = "Give spec for the levels of one specification."
    if _fits(plain):
        return ToolAnswer(value=plain, next_step=note)
    shown = _shown(plain.specifications)
    words = f"{len(shown)} of {len(plain.specifications)} specifications shown, those with most left to do. {note}"
    return ToolAnswer(value=CoverageSummaryOutput(whole.total, shown), next_step=words)


def _shown(found: Iterable[CoverageCounts]) -> tuple[CoverageCounts, ...]:
    """As many as may be, those with most left to do first."""
    left, shown = MAX_PAGE_BYTES - _TOTAL, []
    for one in sorted(found, key=lambda one: one.done + one.excepted + one.not_applicable - one.requirements):
        left -= len(json.encode(one)) + 1
        if left < 0:
            break
        shown.append(one)
    return tuple(shown)


_TOTAL = 1000
"""More bytes than the numbers of all of them take."""


def _fits(found: CoverageSummaryOutput) -> bool:
    return len(json.encode(found)) <= MAX_PAGE_BYTES


COVERAGE_SUMMARY = QueryTool(
    name="coverage_summary",
    title="Coverage",
    description="How many requirements are done, by specification and level; what is left out is 0. Use it for an overview.",
    input=CoverageSummaryInput,
    output=CoverageSummaryOutput,
    handler=summarize_coverage,
)


_MOST = 200_000
_SHORT = 100
"""So much of a requirement's text is told where there is no room for all of them: the text of the section has it."""
_NAMED = 8
_MOST_KEPT = 64


class GetSectionInput(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description="spec#section, a full path, or what stands there")]
    offset: Annotated[int, Meta(ge=0, description="The character of the text to begin at")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="Characters of text")] | None = None


class GetSectionOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    title: str
    content: str
    full_path: str
    target: str
    requirements: tuple[RequirementSummary, ...] | None = None
    next_offset: int | None = None


def get_section(asked: GetSectionInput, context: ProjectSnapshot) -> ToolAnswer:
    """A section with its text, or a part of that, and its requirements."""
    spot = _spot(context.catalogue, context.find(asked.reference))
    card = context.catalogue.specifications[spot.specification]
    kept = context.once(_Kept)
    text = kept.text(spot)
    rows = kept.rows(spot) if not asked.offset else None
    room = max(MAX_PAGE_BYTES - len(json.encode(rows)), MAX_PAGE_BYTES // 2)
    content = _part(text, asked.offset, room) if asked.limit is None else text[asked.offset :][: asked.limit]
    end = asked.offset + len(content)
    return ToolAnswer(
        value=GetSectionOutput(
            id=spot.section,
            title=card.titles[spot.section],
            content=content,
            full_path=card.section_path(spot.section),
            target=f"{card.locator}#{spot.section}",
            requirements=rows,
            next_offset=end if end < len(text) else None,
        ),
        next_step=_next_step(asked.offset, end, len(text)),
    )


def _spot(catalogue: Catalogue, found: ResolvedReference) -> SectionRef:
    """The section that is meant, or that what is meant stands in."""
    match found:
        case SectionRef():
            return found
        case RequirementRef(indexes):
            card = catalogue.requirements[indexes[0]]
            return SectionRef(card.specification, card.section)
        case CitationRef(numbers) if catalogue.citations[numbers[0]].is_valid:
            cited = catalogue.citations[numbers[0]]
            return SectionRef(cited.specification, cited.section)
    raise ToolError(ErrorCode.INVALID_REQUEST, "this names no section", _sections(catalogue, found))


def _sections(catalogue: Catalogue, found: ResolvedReference) -> str:
    number = getattr(found, "specification", None)
    if number is None:
        return "give spec#section"
    card = catalogue.specifications[number]
    more = f" and {len(card.sections) - _NAMED} more" if len(card.sections) > _NAMED else ""
    return f"{card.id} has #{', #'.join(one.id for one in card.sections[:_NAMED])}{more}"


class _Kept:
    """What was read of the last few sections that were asked for: agents read on in one, part by part."""

    def __init__(self, context: ProjectSnapshot) -> None:
        self.text = lru_cache(maxsize=_MOST_KEPT)(partial(_text, context))
        self.rows = lru_cache(maxsize=_MOST_KEPT)(partial(_rows, context))


def _text(context: ProjectSnapshot, spot: SectionRef) -> str:
    known = context.once(SpecCatalogue).known(spot.specification)
    return format_section_text(known.sections[known.by_id[spot.section]])


def _rows(context: ProjectSnapshot, spot: SectionRef) -> tuple[RequirementSummary, ...]:
    indexes = context.once(group_requirements_by_section).get((spot.specification, spot.section), [])
    cards = [context.catalogue.requirements[index] for index in indexes]
    rows = [summarize_requirement(card) for card in cards]
    if len(json.encode(rows)) > MAX_PAGE_BYTES // 2:
        rows = [summarize_requirement(card, _SHORT) for card in cards]
    # The text of the section has them all.
    return tuple(take_fitting_rows(rows, MAX_PAGE_BYTES // 2))


def _part(text: str, offset: int, room: int) -> str:
    """What fits, up to the end of a line."""
    part = text[offset:].encode()[:room].decode(errors="ignore")
    while part and _cost(part) > room:
        part = part[: len(part) * room // _cost(part)]
    if offset + len(part) == len(text):
        return part
    return part[: part.rfind("\n") + 1] or part


def _cost(text: str) -> int:
    """What agents pay for a text, in bytes of one that is made of words: dumps of octets are dearer."""
    return len(text.encode()) + 3 * sum(map(text.count, digits))


def _next_step(offset: int, end: int, total: int) -> str:
    if offset >= total and offset:
        return f"Nothing is left: the text has {total} characters, and offset={offset} is past its end."
    return f"{end} of {total} characters shown; for more give offset={end}." if end < total else ""


GET_SECTION = QueryTool(
    name="get_section",
    title="Get a section",
    description="The text of a section, and its requirements with their status.",
    input=GetSectionInput,
    output=GetSectionOutput,
    handler=get_section,
)


class ResolveSpecIdInput(Struct, frozen=True):
    url: Annotated[str, Meta(description="URL, path or name of a specification")]


class ResolveSpecIdOutput(Struct, frozen=True, omit_defaults=True):
    spec_id: str | None = None
    error: str | None = None


def resolve_spec_id(asked: ResolveSpecIdInput, context: ProjectSnapshot) -> ToolAnswer:
    """The id of the specification that is called so."""
    catalogue = context.catalogue
    found = match_specifications(catalogue, asked.url, context.project.root)
    if found:
        return ToolAnswer(value=ResolveSpecIdOutput(spec_id=catalogue.specifications[found[0]].id))
    ##= man/spec/mcp.md#tools
    ##% `resolve_spec_id` MUST resolve every spelling of an RFC's URL to the same specification, and answer for an
    ##% unknown URL with an `error` and the nearest names.
    near = suggest_nearest(asked.url, list_specification_names(catalogue)) or list_known_ids(catalogue)
    return ToolAnswer(
        value=ResolveSpecIdOutput(error=SPECIFICATION_NOT_FOUND), next_step=f"{near[:1].upper()}{near[1:]}"
    )


RESOLVE_SPEC_ID = QueryTool(
    name="resolve_spec_id",
    title="Resolve a specification",
    description="The id of the specification at a URL, in any of its spellings. Ids stand in paths of resources.",
    input=ResolveSpecIdInput,
    output=ResolveSpecIdOutput,
    handler=resolve_spec_id,
)


TRACE = Pack(
    "trace",
    (
        VALIDATE_CITATION,
        SEARCH_REQUIREMENTS,
        GET_REQUIREMENT_STATUS,
        LIST_UNCITED_REQUIREMENTS,
        LIST_INVALID_CITATIONS,
        GET_CITATION_CONTEXT,
        RESOLVE_SPEC_ID,
        GET_PRIORITIZED_REQUIREMENTS,
        VALIDATE_CITATIONS,
        GET_REQUIREMENT,
        GET_SECTION,
        SUGGEST_CITATION,
        COVERAGE_SUMMARY,
    ),
)
