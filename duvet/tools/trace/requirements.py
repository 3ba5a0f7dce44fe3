"""Tools about requirements: get, status, search, uncited, prioritized."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct, json
from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.model import Level
from duvet.queries.details import make_detail
from duvet.queries.full_text import RequirementIndex
from duvet.queries.gaps import Gap, RequirementFilter, find_gaps, select_requirements
from duvet.queries.priority import Priority, compute_priority, prioritize_requirements
from duvet.queries.records import CitationWithCode, RequirementDetail, format_level
from duvet.queries.references import (
    CitationRef,
    RequirementRef,
    ResolvedReference,
    find_requirements_by_id,
    resolve_reference,
)
from duvet.queries.search import SearchHits, SearchQuery, describe_answer, find_hits, suggest_similar
from duvet.text import quote_text, shorten_text
from duvet.tools.context import ProjectSnapshot
from duvet.tools.paging import (
    MAX_PAGE_BYTES,
    MAX_PAGE_ROWS,
    PageRequest,
    describe_rest,
    make_result_page,
    take_fitting_rows,
)
from duvet.tools.tool import ErrorCode, QueryTool, ToolAnswer, ToolError
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, CitationCard, RequirementCard
from duvet.trace.names import parse_resource
from duvet.trace.records import Status

SpecArgument = Annotated[str, Meta(description="Only of this specification: id, name, URL or path")]
LevelWord = Literal["MUST", "SHOULD", "MAY", "unspecified"]
StatusWord = Literal["not started", "in progress", "needs tests", "done"]

NO_LEVEL = "unspecified"
_STATUSES = {status.words: status for status in Status}


class ListArguments(Struct, frozen=True, kw_only=True):
    """Which part of a list is asked for."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_ROWS)] | None = None
    cursor: Annotated[str, Meta(description="next_cursor of the answer before")] | None = None


class RequirementArguments(ListArguments, frozen=True, kw_only=True):
    """Which requirements are."""

    spec: SpecArgument | None = None
    level: LevelWord | None = None


def make_filter(asked: RequirementArguments, status: str | None = None) -> RequirementFilter:
    """What the requirements have to be."""
    return RequirementFilter(
        specifications=(asked.spec,) if asked.spec is not None else (),
        levels=(parse_level_word(asked.level),) if asked.level else (),
        statuses=(_STATUSES[status],) if status else (),
    )


def parse_level_word(word: LevelWord) -> Level:
    return Level.AUTO if word == NO_LEVEL else Level[word]


class RequirementSummary(Struct, frozen=True):
    """A requirement in a few words."""

    identifier: str
    level: str
    status: str
    text: str


def summarize_requirement(card: RequirementCard, most: int | None = None) -> RequirementSummary:
    """The requirement with so many characters of its text at most."""
    text = card.text if most is None else shorten_text(card.text, most)
    return RequirementSummary(card.id[:SHORT_ID_DIGITS], format_level(card.level) or NO_LEVEL, card.status.words, text)


_SHORT = 160
"""So much of the text of neighbours is told."""
_FEW = 10
"""So many places are told, of citations that nobody would read."""


class GetRequirementInput(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description="Id, full path, or file:line of a citation")]


class RequirementPlace(Struct, frozen=True):
    """One of several places of a requirement."""

    full_path: str
    status: str


class RequirementCitation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A citation of it."""

    id: str
    comment_text: str
    reason: str | None = None
    warning: str | None = None
    context_lines: tuple[str, ...] | None = None


class GetRequirementOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    identifier: str
    id: str
    full_path: str
    text: str
    level: str
    status: str
    state: str
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


def get_requirement(asked: GetRequirementInput, context: ProjectSnapshot) -> ToolAnswer:
    """All there is to know about one requirement."""
    meant = _requirements(context.catalogue, context.find(asked.reference))
    found = make_detail(context.material(), meant)
    assert isinstance(found, RequirementDetail)
    whole = _whole(found)
    room = MAX_PAGE_BYTES - len(json.encode(whole))
    cited = _fitting(found.citations, room)
    by_type: dict[str, list[RequirementCitation]] = {}
    for one, told in zip(found.citations, cited, strict=False):
        by_type.setdefault(one.type, []).append(told)
    step = _next_step(found, len(cited))
    return ToolAnswer(value=replace(whole, citations=by_type), next_step=step)


def _requirements(catalogue: Catalogue, found: ResolvedReference) -> RequirementRef:
    """The one requirement that is meant, or that is cited where a citation is meant."""
    if isinstance(found, RequirementRef):
        return found
    if not isinstance(found, CitationRef):
        raise ToolError(ErrorCode.INVALID_REQUEST, "this names no requirement", "give an id; get_section lists them")
    indexes = {index for number in found.indexes for index in catalogue.citations[number].requirements}
    ids = sorted({catalogue.ids[index] for index in indexes})
    if len(ids) == 1:
        return RequirementRef(tuple(index for index, id in enumerate(catalogue.ids) if id == ids[0]))
    if not ids:
        raise _none_cited(catalogue.citations[found.indexes[0]])
    hint = f"give one of these ids: {', '.join(id[:SHORT_ID_DIGITS] for id in ids[:_FEW])}"
    raise ToolError(ErrorCode.NOT_FOUND, f"{len(ids)} requirements are cited there", hint)


def _none_cited(card: CitationCard) -> ToolError:
    """What there is to say of a citation that leads to no requirement."""
    if not card.is_valid:
        hint = "mend it first: validate_citation tells what it should say"
        return ToolError(ErrorCode.NOT_FOUND, f"the citation at {card.id} is invalid: {card.remark}", hint)
    hint = f"get_section has the requirements of {card.target}"
    return ToolError(ErrorCode.NOT_FOUND, f"the citation at {card.id} is of no requirement", hint)


def _whole(found: RequirementDetail) -> GetRequirementOutput:
    """Everything but its citations."""
    places = tuple(RequirementPlace(one.full_path, one.status) for one in found.places[:_FEW])
    return GetRequirementOutput(
        identifier=found.identifier,
        id=found.id,
        full_path=found.full_path,
        text=found.text,
        level=found.level or NO_LEVEL,
        status=found.status,
        state=found.state,
        reason=found.status_reason,
        excuse=found.excuse.reason if found.excuse else None,
        section=found.section,
        section_title=found.section_title,
        target=found.target,
        file_path=found.file_path,
        line_number=found.line_number,
        url=found.url,
        places=places if len(places) > 1 else None,
        neighbours=tuple(
            RequirementSummary(one.identifier, one.level or NO_LEVEL, one.status, shorten_text(one.text, _SHORT))
            for one in found.neighbours
        ),
        citation_count=len(found.citations),
        citations={},
    )


def _fitting(citations: Sequence[CitationWithCode], room: int) -> list[RequirementCitation]:
    """The citations with the code around them, or without it, or so many as there is room for."""
    ##= man/spec/mcp.md#tools
    ##% The server MUST limit lists, texts and the details of a requirement to about 4,000 tokens unless `limit` asks
    ##% for more, and say how to get the rest.
    told = [_cited(one) for one in citations]
    if len(json.encode(told)) > room:
        told = [replace(one, context_lines=None) for one in told]
    if len(json.encode(told)) > room:
        told = [replace(one, comment_text=one.comment_text.partition("\n")[0]) for one in told]
    return list(take_fitting_rows(told, room))


def _cited(one: CitationWithCode) -> RequirementCitation:
    return RequirementCitation(
        id=one.id,
        comment_text=one.comment_text,
        reason=one.reason,
        warning=one.warning,
        context_lines=one.context_lines,
    )


def _next_step(found: RequirementDetail, shown: int) -> str:
    """What to do for it, and how to get at what is left out."""
    count = len(found.citations)
    rest = (
        f"{shown} of {count} citations shown; for all read duvet://{found.full_path}/citations."
        if shown < count
        else ""
    )
    step = _STEPS.get(found.status, "")
    return " ".join(filter(None, [step, rest]))


_STEPS = {
    "not started": "Implement it; suggest_citation writes the comment.",
    "in progress": "Cite the rest of it; suggest_citation writes the comment.",
    "needs tests": "Write a test; suggest_citation with type=test writes the comment.",
}

GET_REQUIREMENT = QueryTool(
    name="get_requirement",
    title="Get a requirement",
    description="All about one requirement: text, level, status and why, places, citations with code, neighbours.",
    input=GetRequirementInput,
    output=GetRequirementOutput,
    handler=get_requirement,
)


_Item = TypeVar("_Item")


class ListedRequirement(Struct, frozen=True):
    """A requirement in a list."""

    identifier: str
    full_path: str
    text: str


def make_listed_requirement(catalogue: Catalogue, index: int) -> ListedRequirement:
    return ListedRequirement(
        catalogue.ids[index][:SHORT_ID_DIGITS],
        make_requirement_path(catalogue, index),
        catalogue.requirements[index].text,
    )


def make_requirement_path(catalogue: Catalogue, index: int) -> str:
    """Where a requirement stands among all resources."""
    card = catalogue.requirements[index]
    return catalogue.specifications[card.specification].requirement_path(card.section, catalogue.ids[index])


def filter_requirements(catalogue: Catalogue, indexes: Sequence[int], wanted: RequirementFilter) -> Sequence[int]:
    """Those of the requirements that pass, in their order."""
    if wanted == RequirementFilter():
        return indexes
    allowed = set(select_requirements(catalogue, wanted))
    return [index for index in indexes if index in allowed]


def make_list_answer(
    context: ProjectSnapshot,
    name: str,
    asked: ListArguments,
    items: Sequence[_Item],
    *,
    key: Callable[[_Item], str],
    row: Callable[[_Item], Struct],
    notes: Sequence[str] = (),
) -> ToolAnswer:
    """The part of a list that is asked for, from the tool of that name; the notes come before how to get more."""
    question = (name, replace(asked, limit=None, cursor=None))
    rows, page = make_result_page(
        items, PageRequest(question, asked.cursor, asked.limit, context.page_size), key=key, row=row
    )
    words = [*notes, describe_rest(len(rows), page)]
    return ToolAnswer(value=rows, page=page, next_step=" ".join(filter(None, words)))


def make_requirement_list_answer(
    context: ProjectSnapshot, name: str, asked: ListArguments, indexes: Sequence[int], notes: Sequence[str] = ()
) -> ToolAnswer:
    """The same for requirements."""
    catalogue = context.catalogue
    return make_list_answer(
        context,
        name,
        asked,
        indexes,
        key=lambda index: make_requirement_path(catalogue, index),
        row=lambda index: make_listed_requirement(catalogue, index),
        notes=notes,
    )


_DIGITS = re.compile(r"[0-9a-fA-F]{1,64}\Z")


class GetRequirementStatusInput(Struct, frozen=True):
    req_identifier: Annotated[str, Meta(description="First 4 or more digits of its id, or its full_path")]


class StatusPlace(Struct, frozen=True):
    """A place of a requirement that stands in several."""

    full_path: str
    status: str


class GetRequirementStatusOutput(Struct, frozen=True, omit_defaults=True):
    status: str
    places: tuple[StatusPlace, ...] = ()


def get_requirement_status(asked: GetRequirementStatusInput, context: ProjectSnapshot) -> ToolAnswer:
    """The status of a requirement, and of each place where it stands if these are several."""
    catalogue = context.catalogue
    indexes = _meant(catalogue, asked.req_identifier.strip())
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst status and list all places.
    status = min(catalogue.requirements[index].status for index in indexes)
    places = tuple(
        StatusPlace(make_requirement_path(catalogue, one), catalogue.requirements[one].status.words) for one in indexes
    )
    return ToolAnswer(
        value=GetRequirementStatusOutput(status.words, places if len(places) > 1 else ()),
        next_step=_NEXT.get(status, ""),
    )


def _meant(catalogue: Catalogue, wanted: str) -> Sequence[int]:
    if _DIGITS.match(wanted):
        return find_requirements_by_id(catalogue, wanted)
    try:
        found = resolve_reference(catalogue, wanted)
    except NotFoundError as error:
        if parse_resource(wanted):
            raise
        raise _no_requirement(wanted) from error
    if not isinstance(found, RequirementRef):
        raise _no_requirement(wanted)
    return found.indexes


def _no_requirement(wanted: str) -> NotFoundError:
    hint = "give the first 4 or more digits of its id, or its full_path; search_requirements finds both"
    return NotFoundError(f"{quote_text(wanted)} is no requirement", hint=hint)


_NEXT = {
    Status.NOT_STARTED: "Nothing implements it: suggest_citation writes the comment for the code that will.",
    Status.IN_PROGRESS: "get_requirement shows what cites it so far.",
    Status.NEEDS_TESTS: 'It is implemented; cite it in a test, with suggest_citation and the type "test".',
}

GET_REQUIREMENT_STATUS = QueryTool(
    name="get_requirement_status",
    title="Status of a requirement",
    description='How far a requirement has got: "done", "needs tests", "in progress" or "not started". Ask again once you '
    "have cited it.",
    input=GetRequirementStatusInput,
    output=GetRequirementStatusOutput,
    handler=get_requirement_status,
)


_NAME = "search_requirements"


class SearchRequirementsInput(RequirementArguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description='Words, "a phrase", an id, file:line or spec#section')]
    status: StatusWord | None = None


def search_requirements(asked: SearchRequirementsInput, context: ProjectSnapshot) -> ToolAnswer:
    """What is found, the best first."""
    question = SearchQuery(asked.query, make_filter(asked, asked.status))
    found = find_hits(context.catalogue, question, lambda: context.once(_index), context.files)
    return make_requirement_list_answer(context, _NAME, asked, found.indexes, [*_notes(context, asked.query, found)])


def _index(context: ProjectSnapshot) -> RequirementIndex:
    return RequirementIndex(context.catalogue, context.memory)


def _notes(context: ProjectSnapshot, query: str, found: SearchHits) -> Iterator[str]:
    ##= man/spec/mcp.md#tools
    ##% The first block of a result MUST be the JSON of the answer and nothing else, and a second block MAY add the next
    ##% step or a note.
    for note in describe_answer(found):
        yield f"{note[:1].upper()}{note[1:]}."
    if not found.indexes:
        hint = suggest_similar(context.catalogue, query, context.files)
        yield f"Nothing found; {hint}" if hint else "Nothing found."


SEARCH_REQUIREMENTS = QueryTool(
    name=_NAME,
    title="Search requirements",
    description="Requirements by the words in them, or by what names them, the best first. Use it to find out which "
    "requirement some code is about.",
    input=SearchRequirementsInput,
    output=tuple[ListedRequirement, ...],
    handler=search_requirements,
)


_LIST_UNCITED_REQUIREMENTS_NAME = "list_uncited_requirements"


class ListUncitedRequirementsInput(RequirementArguments, frozen=True, kw_only=True):
    pass


def list_uncited_requirements(asked: ListUncitedRequirementsInput, context: ProjectSnapshot) -> ToolAnswer:
    """The requirements that nothing but a todo refers to."""
    indexes = filter_requirements(context.catalogue, context.once(_uncited), make_filter(asked))
    note = "suggest_citation writes the comment for one of them." if indexes else "Nothing is uncited here."
    return make_requirement_list_answer(context, _LIST_UNCITED_REQUIREMENTS_NAME, asked, indexes, [note])


def _uncited(context: ProjectSnapshot) -> tuple[int, ...]:
    return find_gaps(context.catalogue, RequirementFilter(), Gap.CITATION).indexes


LIST_UNCITED_REQUIREMENTS = QueryTool(
    name=_LIST_UNCITED_REQUIREMENTS_NAME,
    title="Uncited requirements",
    description="Requirements that no code cites yet, in the order of the specifications. Use it for an audit.",
    input=ListUncitedRequirementsInput,
    output=tuple[ListedRequirement, ...],
    handler=list_uncited_requirements,
)


_GET_PRIORITIZED_REQUIREMENTS_NAME = "get_prioritized_requirements"


class GetPrioritizedRequirementsInput(RequirementArguments, frozen=True, kw_only=True):
    status: Literal["partially_implemented", "not_started", "fully_implemented"] | None = None


class PrioritizedRequirement(Struct, frozen=True):
    """A requirement with what decides about its rank."""

    full_path: str
    level: str
    status: str
    todo_count: int


def get_prioritized_requirements(asked: GetPrioritizedRequirementsInput, context: ProjectSnapshot) -> ToolAnswer:
    """All requirements, most urgent first."""
    catalogue, ranked = context.catalogue, context.once(_ranked)
    indexes = filter_requirements(catalogue, list(ranked), make_filter(asked))
    if asked.status:
        indexes = [index for index in indexes if _class(ranked[index]) == asked.status]
    note = "get_requirement tells all about one of them." if indexes else "No requirement is like that."
    return make_list_answer(
        context,
        _GET_PRIORITIZED_REQUIREMENTS_NAME,
        asked,
        indexes,
        key=lambda index: make_requirement_path(catalogue, index),
        row=lambda index: _row(make_requirement_path(catalogue, index), ranked[index]),
        notes=[note],
    )


def _ranked(context: ProjectSnapshot) -> dict[int, Priority]:
    """The indexes of all requirements, most urgent first, with what decides about that."""
    ##= man/spec/mcp.md#tools
    ##% `get_prioritized_requirements` MUST rank all requirements, including those that are done.
    catalogue = context.catalogue
    ranked = prioritize_requirements(catalogue, RequirementFilter(), finished=True)
    return {index: compute_priority(catalogue, catalogue.requirements[index]) for index in ranked}


def _class(priority: Priority) -> str:
    return priority.priority_class.name.lower()


def _row(path: str, priority: Priority) -> PrioritizedRequirement:
    return PrioritizedRequirement(path, format_level(priority.level) or NO_LEVEL, _class(priority), priority.todos)


GET_PRIORITIZED_REQUIREMENTS = QueryTool(
    name=_GET_PRIORITIZED_REQUIREMENTS_NAME,
    title="What to work on next",
    description="All requirements, most urgent first: by level, then what has been begun, then todos. Use it to choose what "
    "to work on; what is done comes last in its level.",
    input=GetPrioritizedRequirementsInput,
    output=tuple[PrioritizedRequirement, ...],
    handler=get_prioritized_requirements,
)


def group_requirements_by_section(context: ProjectSnapshot) -> Mapping[tuple[int, str], list[int]]:
    """The indexes of requirements by the index of their specification and the id of their section, in order."""
    found: dict[tuple[int, str], list[int]] = {}
    for index, card in enumerate(context.catalogue.requirements):
        found.setdefault((card.specification, card.section), []).append(index)
    return found
