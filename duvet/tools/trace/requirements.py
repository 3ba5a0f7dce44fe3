"""Tools that show, search and list requirements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, convert, json, structs

from duvet import errors
from duvet.queries import details, gaps, records, references, search
from duvet.text import quote_text, shorten_text
from duvet.tools import tool
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ErrorCode, ToolAnswer, ToolError, declare_query
from duvet.trace import locations
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, State

_CLASSES = ["partially_implemented", "not_started", "fully_implemented"]
SpecArgument = Annotated[str, Meta(description="Only this specification: id, name, URL or path")]
NO_LEVEL = "unspecified"
# Other spellings are accepted, too. The schema lists the preferred ones.
LevelWord = Annotated[str, Meta(extra_json_schema={"enum": ["MUST", "SHOULD", "MAY", NO_LEVEL]})]
StatusWord = Annotated[str, Meta(extra_json_schema={"enum": [state.words for state in State]})]
_MAX_PLACES = 10  # Maximum number of listed places of a requirement, and of listed requirements of a citation.
_IMPLEMENT = "Implement it; suggest_citation returns the comment to paste."
_STEPS = {
    "uncited": _IMPLEMENT,
    "to do": _IMPLEMENT,
    "in progress": "Cite the rest of it, or give its exception a reason; suggest_citation returns the comment to paste.",
    "needs code": "Implement it and cite it in the code; suggest_citation returns the comment to paste.",
    "needs tests": "Write a test; suggest_citation with type=test returns the comment to paste.",
}
_Item = TypeVar("_Item")
_DIGITS = re.compile(r"[0-9a-fA-F]{1,64}\Z")
_NEXT = {
    State.UNCITED: "Nothing cites it: implement it, and paste the comment from suggest_citation.",
    State.TO_DO: "Only todos cite it: implement it, and paste the comment from suggest_citation.",
    State.IN_PROGRESS: "get_requirement shows what cites it so far.",
    State.NEEDS_CODE: "Tests cite it, but not all of it is cited in code: paste the comment from suggest_citation.",
    State.NEEDS_TESTS: "Code cites it, but not all of it is cited in tests: write a test, and paste the comment from suggest_citation with type=test.",
}


class ListArguments(Struct, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=tool.MAX_PAGE_ROWS)] | None = None
    cursor: Annotated[str, Meta(description="next_cursor of the previous answer")] | None = None


class RequirementArguments(ListArguments, frozen=True, kw_only=True):
    spec: SpecArgument | None = None
    level: LevelWord | None = None

    def __post_init__(self) -> None:
        if self.level is not None and records.parse_level(self.level) is None:
            _refuse_choice("level", self.level)


class StatusArguments(RequirementArguments, frozen=True, kw_only=True):
    status: StatusWord | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.status is not None and records.fold_word(self.status) not in records.STATES_BY_WORD:
            _refuse_choice("status", self.status)


def _refuse_choice(name: str, value: str) -> None:
    # The message that msgspec gives for an invalid choice.
    raise ValueError(f"Invalid enum value '{shorten_text(value)}' - at `$.{name}`")


def make_filter(arguments: RequirementArguments) -> records.RequirementFilter:
    level = None if arguments.level is None else records.parse_level(arguments.level)
    status = arguments.status if isinstance(arguments, StatusArguments) else None
    return records.RequirementFilter(
        specifications=(arguments.spec,) if arguments.spec is not None else (),
        levels=() if level is None else (level,),
        states=() if status is None else records.STATES_BY_WORD[records.fold_word(status)],
    )


class RequirementSummary(Struct, frozen=True, omit_defaults=True):
    identifier: str
    level: str
    status: str
    text: str
    name: str = ""


def summarize_requirement(row: records.RequirementRow, most: int | None = None) -> RequirementSummary:
    text = row.text if most is None else shorten_text(row.text, most)
    return RequirementSummary(row.identifier, row.level or NO_LEVEL, row.status, text, row.name)


class GetRequirementInput(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description="Id or name of a requirement, or file:line of a citation")]


class RequirementPlace(Struct, frozen=True):
    full_path: str
    status: str


class RequirementCitation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    comment_text: str
    reason: str | None = None
    warning: str | None = None
    context_lines: tuple[str, ...] | None = None


class GetRequirementOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    identifier: str
    name: str = ""
    id: str
    full_path: str
    text: str
    level: str
    status: str
    reason: str
    excuse: str | None = None
    section: str
    section_title: str
    target: str
    file_path: str
    line_number: int
    url: str | None = None
    places: tuple[RequirementPlace, ...] | None = None
    neighbours: tuple[RequirementSummary, ...] = ()
    citation_count: int
    citations: dict[str, list[RequirementCitation]]


@declare_query("get_requirement", "Get a requirement", GetRequirementInput, GetRequirementOutput)
def get_requirement(arguments: GetRequirementInput, context: ProjectSnapshot) -> ToolAnswer:
    """Return a requirement: text, level, state with its reason, places, citations with code, neighbours."""
    requirement = _find_requirement(context.catalogue, context.find(arguments.reference, references.Usage.REQUIREMENT))
    found = details.make_detail(context.read_citations(), context.project.specification, requirement)
    assert isinstance(found, details.RequirementDetail)
    count = len(found.citations)
    values = {
        **structs.asdict(found),
        "level": found.level or NO_LEVEL,
        "reason": found.status_reason,
        "excuse": found.excuse.reason if found.excuse else None,
        "places": found.places[:_MAX_PLACES] if len(found.places) > 1 else None,
        "neighbours": [summarize_requirement(one, 160) for one in found.neighbours],
        "citation_count": count,
        "citations": {},
    }
    whole = convert(values, GetRequirementOutput, from_attributes=True)
    room = tool.MAX_PAGE_BYTES - len(json.encode(whole))
    citations = [convert(one, RequirementCitation, from_attributes=True) for one in found.citations]
    # If not all of them fit, the code is left out first, and then all but the first line of comments.
    if len(json.encode(citations)) > room:
        citations = [structs.replace(one, context_lines=None) for one in citations]
    if len(json.encode(citations)) > room:
        citations = [structs.replace(one, comment_text=one.comment_text.partition("\n")[0]) for one in citations]
    citations = list(tool.take_fitting_rows(citations, room))
    by_type: dict[str, list[RequirementCitation]] = {}
    for one, shown in zip(found.citations, citations, strict=False):
        by_type.setdefault(one.type, []).append(shown)
    rest = f"{len(citations)} of {count} citations shown; for all, read duvet://{found.full_path}/citations."
    notes = [_STEPS.get(found.status, ""), rest if len(citations) < count else ""]
    return ToolAnswer(value=structs.replace(whole, citations=by_type), next_step=" ".join(filter(None, notes)))


def _find_requirement(catalogue: Catalogue, found: references.ResolvedReference) -> references.RequirementRef:
    if isinstance(found, references.RequirementRef):
        return found
    if not isinstance(found, references.CitationRef):
        hint = "use an id from get_section or search_requirements"
        if isinstance(found, references.SectionRef):
            stated = catalogue.stated.get((found.specification, found.section), ())
            ids = [catalogue.ids[index][:SHORT_ID_DIGITS] for index in stated[:_MAX_PLACES]]
            hint = f"use the id of a requirement in this section: {', '.join(ids)}" if ids else hint
        raise ToolError(ErrorCode.INVALID_REQUEST, "the reference is not a requirement", hint)
    indexes = {index for number in found.indexes for index in catalogue.citations[number].requirements}
    ids = sorted({catalogue.ids[index] for index in indexes})
    if len(ids) == 1:
        return references.RequirementRef(tuple(index for index, id in enumerate(catalogue.ids) if id == ids[0]))
    if ids:
        hint = f"use one of these ids: {', '.join(id[:SHORT_ID_DIGITS] for id in ids[:_MAX_PLACES])}"
        raise ToolError(ErrorCode.NOT_FOUND, f"the citation cites {len(ids)} requirements", hint)
    card = catalogue.citations[found.indexes[0]]
    if card.is_valid:
        hint = f"find the requirements of {card.target} with get_section"
        raise ToolError(ErrorCode.NOT_FOUND, f"the citation at {card.id} quotes no requirement", hint)
    hint = "fix it first; validate_citation shows the nearest correction"
    raise ToolError(ErrorCode.NOT_FOUND, f"the citation at {card.id} is invalid: {card.remark}", hint)


class ListedRequirement(Struct, frozen=True, omit_defaults=True):
    identifier: str
    full_path: str
    text: str
    name: str = ""


def make_requirement_path(catalogue: Catalogue, index: int) -> str:
    card = catalogue.requirements[index]
    return catalogue.specifications[card.specification].requirement_path(card.section, catalogue.ids[index])


def filter_requirements(catalogue: Catalogue, indexes: Sequence[int], arguments: RequirementArguments) -> Sequence[int]:
    if (filter := make_filter(arguments)) == records.RequirementFilter():
        return indexes
    allowed = set(records.select_requirements(catalogue, filter))
    return [index for index in indexes if index in allowed]


def make_list_answer(
    context: ProjectSnapshot,
    name: str,
    arguments: ListArguments,
    items: Sequence[_Item],
    *,
    key: Callable[[_Item], str],
    row: Callable[[_Item], Struct],
    notes: Sequence[str] = (),
    page_size: int | None = None,
) -> ToolAnswer:
    question = (name, structs.replace(arguments, limit=None, cursor=None))
    size = context.page_size if page_size is None else page_size
    request = tool.PageRequest(question, arguments.cursor, arguments.limit, size)
    rows, page = tool.make_result_page(items, request, key=key, row=row)
    more = f"{len(rows)} of {page.total} shown; for more, set cursor={page.next_cursor} or a higher limit."
    words = [*notes, more if page.next_cursor else ""]
    return ToolAnswer(value=rows, page=page, next_step=" ".join(filter(None, words)))


def make_requirement_list_answer(
    context: ProjectSnapshot, name: str, arguments: ListArguments, indexes: Sequence[int], notes: Sequence[str] = ()
) -> ToolAnswer:
    catalogue = context.catalogue
    find_path = partial(make_requirement_path, catalogue)

    def make_row(index: int) -> ListedRequirement:
        card, id = catalogue.requirements[index], catalogue.ids[index][:SHORT_ID_DIGITS]
        return ListedRequirement(id, find_path(index), card.text, card.name)

    return make_list_answer(context, name, arguments, indexes, key=find_path, row=make_row, notes=notes)


class GetRequirementStatusInput(Struct, frozen=True):
    req_identifier: Annotated[str, Meta(description="The requirement: its id (4 or more digits), name or full_path")]


class GetRequirementStatusOutput(Struct, frozen=True, omit_defaults=True):
    status: str
    places: tuple[RequirementPlace, ...] = ()


@declare_query(
    "get_requirement_status", "State of a requirement", GetRequirementStatusInput, GetRequirementStatusOutput
)
def get_requirement_status(arguments: GetRequirementStatusInput, context: ProjectSnapshot) -> ToolAnswer:
    """Return the state of a requirement, such as "needs tests" or "done". Call it again after you have cited the requirement."""
    catalogue, identifier, cause = context.catalogue, arguments.req_identifier.strip(), None
    indexes: Sequence[int] = ()
    if _DIGITS.match(identifier) and identifier not in catalogue.named:
        indexes = references.find_requirements_by_id(catalogue, identifier, context.files)
    else:
        try:
            found = references.resolve_reference(catalogue, identifier, context.files)
            indexes = found.indexes if isinstance(found, references.RequirementRef) else ()
        except errors.NotFoundError as error:
            if locations.parse_resource(identifier):
                raise
            cause = error
    if not indexes:
        hint = "find its id or full_path with search_requirements; the first 4 digits of an id are enough if they are unique"
        raise errors.NotFoundError(f"{quote_text(identifier)} is not a requirement", hint=hint) from cause
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst of its states and list all places.
    state = min(catalogue.requirements[index].state for index in indexes)
    places = tuple(
        RequirementPlace(make_requirement_path(catalogue, one), catalogue.requirements[one].state.words)
        for one in indexes
    )
    output = GetRequirementStatusOutput(state.words, places if len(places) > 1 else ())
    return ToolAnswer(value=output, next_step=_NEXT.get(state, ""))


class SearchRequirementsInput(StatusArguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description='Keywords, "a phrase", an id, file:line or spec#section')]


@declare_query("search_requirements", "Search requirements", SearchRequirementsInput, tuple[ListedRequirement, ...])
def search_requirements(arguments: SearchRequirementsInput, context: ProjectSnapshot) -> ToolAnswer:
    """Search requirements by keyword, phrase, id, file:line or spec#section; best match first. Use it to find the
    requirement behind some code."""
    question = search.SearchQuery(arguments.query, make_filter(arguments))
    found = search.find_hits(context.catalogue, question, lambda: context.once(_open_index), context.files)
    notes = [f"{note[:1].upper()}{note[1:]}." for note in search.describe_answer(found)]
    if not found.indexes:
        hint = references.suggest_similar(context.catalogue, arguments.query, context.files)
        notes.append(f"Nothing found; {hint}" if hint else "Nothing found.")
    return make_requirement_list_answer(context, "search_requirements", arguments, found.indexes, notes)


def _open_index(context: ProjectSnapshot) -> search.RequirementIndex:
    return search.RequirementIndex(context.catalogue, context.project.memory)


@declare_query("list_uncited_requirements", "Uncited requirements", RequirementArguments, tuple[ListedRequirement, ...])
def list_uncited_requirements(arguments: RequirementArguments, context: ProjectSnapshot) -> ToolAnswer:
    """List the requirements that are uncited or `to do`, in document order. Use it for an audit."""
    indexes = filter_requirements(context.catalogue, context.once(_find_uncited), arguments)
    note = (
        "suggest_citation returns the comment that cites a requirement."
        if indexes
        else "No matching requirement is uncited or `to do`."
    )
    return make_requirement_list_answer(context, "list_uncited_requirements", arguments, indexes, [note])


def _find_uncited(context: ProjectSnapshot) -> tuple[int, ...]:
    return gaps.find_gaps(context.catalogue, records.RequirementFilter(), gaps.Gap.CITATION).indexes


class GetPrioritizedRequirementsInput(StatusArguments, frozen=True, kw_only=True):
    status: Annotated[str, Meta(extra_json_schema={"enum": _CLASSES})] | None = None


class PrioritizedRequirement(Struct, frozen=True, omit_defaults=True):
    full_path: str
    level: str
    status: str
    todo_count: int
    name: str = ""


@declare_query(
    "get_prioritized_requirements",
    "What to work on next",
    GetPrioritizedRequirementsInput,
    tuple[PrioritizedRequirement, ...],
)
def get_prioritized_requirements(arguments: GetPrioritizedRequirementsInput, context: ProjectSnapshot) -> ToolAnswer:
    """List all requirements, most urgent first: by level, then by progress (started, not started, done), then by TODO
    count. Use it to choose what to work on."""
    catalogue, ranked = context.catalogue, context.once(_rank)
    indexes = filter_requirements(catalogue, list(ranked), arguments)
    find_path = partial(make_requirement_path, catalogue)

    def make_row(index: int) -> PrioritizedRequirement:
        priority, name = ranked[index], catalogue.requirements[index].name
        level, status = records.format_level(priority.level) or NO_LEVEL, priority.priority_class.name.lower()
        return PrioritizedRequirement(find_path(index), level, status, priority.todos, name)

    notes = ["get_requirement returns the details of a requirement." if indexes else "No requirement matches."]
    name = "get_prioritized_requirements"
    return make_list_answer(context, name, arguments, indexes, key=find_path, row=make_row, notes=notes)


def _rank(context: ProjectSnapshot) -> dict[int, gaps.Priority]:
    catalogue = context.catalogue
    ranked = gaps.prioritize_requirements(catalogue, records.RequirementFilter(), finished=True)
    return {index: gaps.compute_priority(catalogue, catalogue.requirements[index]) for index in ranked}
