"""Tools that show sections and coverage, and find specifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from string import digits
from typing import Annotated

from msgspec import Meta, Struct, convert, json, structs

from duvet.queries import details, records
from duvet.queries.references import CitationRef, RequirementRef, ResolvedReference, SectionRef, Usage
from duvet.text import join_names, suggest_nearest
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES, ErrorCode, ToolAnswer, ToolError, declare_query, take_fitting_rows
from duvet.tools.trace import citation_checker, invalid_citations, requirements as requirement_tools
from duvet.trace.catalogue import Catalogue, RequirementCard
from duvet.trace.locations import list_known_ids, list_specification_names, match_specifications, require_specification

_MAX_LIMIT = 200_000
_REFERENCE = "The section: spec#section, its full_path, or the full_path of one of its requirements or citations"
_SHORT_TEXT = 100  # Maximum length of a requirement's text if not all fit; the section's text contains the rest.


class CoverageSummaryInput(Struct, frozen=True):
    spec: requirement_tools.SpecArgument | None = None


class CoverageCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str = ""
    level: str = ""
    requirements: int
    done: int = 0
    needs_tests: int = 0
    needs_code: int = 0
    in_progress: int = 0
    to_do: int = 0
    uncited: int = 0
    excepted: int = 0
    not_applicable: int = 0
    percent: int | None = None  # The share of applicable requirements that are done.
    levels: tuple[CoverageCounts, ...] = ()


class CoverageSummaryOutput(Struct, frozen=True, omit_defaults=True):
    total: CoverageCounts
    specifications: tuple[CoverageCounts, ...] = ()


@declare_query("coverage_summary", "Coverage", CoverageSummaryInput, CoverageSummaryOutput)
def summarize_coverage(arguments: CoverageSummaryInput, context: ProjectSnapshot) -> ToolAnswer:
    """Count requirements by state, specification and level; zero counts are omitted. Use it for an overview."""
    if arguments.spec is None:
        return context.once(_summarize_all)
    whole, catalogue = context.once(_count_all), context.catalogue
    ids = {catalogue.specifications[index].id for index in require_specification(catalogue, arguments.spec)}
    (one, *_) = [counts for counts in whole.specifications if counts.id in ids]
    return ToolAnswer(value=CoverageSummaryOutput(one))


def _count_all(context: ProjectSnapshot) -> CoverageSummaryOutput:
    context.check_requirements_known()
    catalogue = context.catalogue
    found: dict[int, list[RequirementCard]] = {index: [] for index in range(len(catalogue.specifications))}
    for card in catalogue.requirements:
        found[card.specification].append(card)
    own = tuple(_count(cards, id=catalogue.specifications[index].id) for index, cards in found.items())
    return CoverageSummaryOutput(_count(catalogue.requirements), own)


def _count(cards: Sequence[RequirementCard], *, id: str = "") -> CoverageCounts:
    levels = [
        {**structs.asdict(one), "level": one.level or requirement_tools.NO_LEVEL}
        for one in details.count_by_level(cards)
    ]
    whole = structs.asdict(details.count_requirements(cards))
    return convert({**whole, "id": id, "levels": levels}, CoverageCounts)


def _summarize_all(context: ProjectSnapshot) -> ToolAnswer:
    whole = context.once(_count_all)
    if len(json.encode(whole)) <= MAX_PAGE_BYTES or not context.page_size:
        return ToolAnswer(value=whole)
    plain = CoverageSummaryOutput(whole.total, tuple(structs.replace(one, levels=()) for one in whole.specifications))
    note = "Set spec to see the levels of one specification."
    if len(json.encode(plain)) <= MAX_PAGE_BYTES:
        return ToolAnswer(value=plain, next_step=note)
    ranked = sorted(
        plain.specifications, key=lambda one: one.done + one.excepted + one.not_applicable - one.requirements
    )
    shown = tuple(take_fitting_rows(ranked, MAX_PAGE_BYTES - 1000))  # The rest is for the total.
    words = f"{len(shown)} of {len(ranked)} specifications shown: those with the most open requirements. {note}"
    return ToolAnswer(value=CoverageSummaryOutput(whole.total, shown), next_step=words)


class GetSectionInput(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description=_REFERENCE)]
    offset: Annotated[int, Meta(ge=0, description="Offset of the first character to return")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MAX_LIMIT, description="Maximum number of characters to return")] | None = None


class GetSectionOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    title: str
    content: str
    full_path: str
    target: str
    requirements: tuple[requirement_tools.RequirementSummary, ...] | None = None
    next_offset: int | None = None


@declare_query("get_section", "Get a section", GetSectionInput, GetSectionOutput)
def get_section(arguments: GetSectionInput, context: ProjectSnapshot) -> ToolAnswer:
    """Return the text of a section and its requirements with their states."""
    offset, limit = arguments.offset, arguments.limit
    section = _find_section(context.catalogue, context.find(arguments.reference, Usage.SECTION))
    card = context.catalogue.specifications[section.specification]
    text, requirements = context.once(_make_section_reader)(section)
    rows = requirements if not offset else None
    room = max(MAX_PAGE_BYTES - len(json.encode(rows)), MAX_PAGE_BYTES // 2)
    content = _cut_text(text, offset, room) if limit is None else text[offset:][:limit]
    end = offset + len(content)
    step = f"The text has {len(text)} characters; for the rest, set offset={end}." if end < len(text) else ""
    if offset >= len(text) and offset:
        step = f"offset={offset} is not inside the text, which has {len(text)} characters."
    return ToolAnswer(
        value=GetSectionOutput(
            id=card.section_names[section.section],
            title=card.titles[section.section],
            content=content,
            full_path=card.section_path(section.section),
            target=card.section_target(section.section),
            requirements=rows,
            next_offset=end if end < len(text) else None,
        ),
        next_step=step,
    )


def _find_section(catalogue: Catalogue, found: ResolvedReference) -> SectionRef:
    match found:
        case SectionRef():
            return found
        case RequirementRef(indexes):
            card = catalogue.requirements[indexes[0]]
            return SectionRef(card.specification, card.section)
        case CitationRef(numbers) if catalogue.citations[numbers[0]].is_valid:
            cited = catalogue.citations[numbers[0]]
            return SectionRef(cited.specification, cited.section)
    hint, number = str(Usage.SECTION), getattr(found, "specification", None)
    if number is not None:
        specification = catalogue.specifications[number]
        sections = [f"#{one.name}" for one in specification.sections]
        hint = f"available in {specification.id}: {join_names(sections, 8)}"
    raise ToolError(ErrorCode.INVALID_REQUEST, "the reference is not a section", hint)


def _make_section_reader(
    context: ProjectSnapshot,
) -> Callable[[SectionRef], tuple[str, tuple[requirement_tools.RequirementSummary, ...]]]:
    @lru_cache(maxsize=64)  # Agents read a section in parts.
    def read(section: SectionRef) -> tuple[str, tuple[requirement_tools.RequirementSummary, ...]]:
        known = context.once(citation_checker.SpecCatalogue).known(section.specification)
        text = records.format_section_text(known.sections[known.by_id[section.section]])
        indexes = context.catalogue.stated.get((section.specification, section.section), ())
        found = records.make_requirement_rows(context.catalogue, indexes)
        rows = [requirement_tools.summarize_requirement(row) for row in found]
        if len(json.encode(rows)) > MAX_PAGE_BYTES // 2:
            rows = [requirement_tools.summarize_requirement(row, _SHORT_TEXT) for row in found]
        return text, tuple(take_fitting_rows(rows, MAX_PAGE_BYTES // 2))

    return read


def _cut_text(text: str, offset: int, room: int) -> str:
    part = text[offset:].encode()[:room].decode(errors="ignore")
    # A digit counts as four bytes, because digits take more tokens.
    while (cost := len(part.encode()) + 3 * sum(map(part.count, digits))) > room:
        part = part[: len(part) * room // cost]
    if offset + len(part) == len(text):
        return part
    return part[: part.rfind("\n") + 1] or part


class ResolveSpecIdInput(Struct, frozen=True):
    url: Annotated[str, Meta(description="The URL, path or name of a specification")]


class ResolveSpecIdOutput(Struct, frozen=True, omit_defaults=True):
    spec_id: str | None = None
    error: str | None = None


@declare_query("resolve_spec_id", "Resolve a specification", ResolveSpecIdInput, ResolveSpecIdOutput)
def resolve_spec_id(arguments: ResolveSpecIdInput, context: ProjectSnapshot) -> ToolAnswer:
    """Return the id of the specification with this URL, path or name. Resource paths contain the id."""
    catalogue = context.catalogue
    found = match_specifications(catalogue, arguments.url, context.project.root)
    if found:
        return ToolAnswer(value=ResolveSpecIdOutput(spec_id=catalogue.specifications[found[0]].id))
    near = suggest_nearest(arguments.url, list_specification_names(catalogue)) or list_known_ids(catalogue)
    output = ResolveSpecIdOutput(error=invalid_citations.SPECIFICATION_NOT_FOUND)
    return ToolAnswer(value=output, next_step=f"{near[:1].upper()}{near[1:]}")
