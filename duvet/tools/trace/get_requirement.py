"""`get_requirement`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct, json
from msgspec.structs import replace

from duvet.queries.catalogue import SHOWN, Catalogue, CitationCard
from duvet.queries.detailing import detail_of
from duvet.queries.details import Citation, RequirementDetail
from duvet.queries.references import Citations, Found, Requirements
from duvet.text import shortened
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.tools.paging import MOST_BYTES, fitting
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import NO_LEVEL
from duvet.tools.trace.brief import Brief

_SHORT = 160
"""So much of the text of neighbours is told."""
_FEW = 10
"""So many places are told, of citations that nobody would read."""


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description="Id, full path, or file:line of a citation")]


class Place(Struct, frozen=True):
    """One of several places of a requirement."""

    full_path: str
    status: str


class Cited(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A citation of it."""

    id: str
    comment_text: str
    reason: str | None = None
    warning: str | None = None
    context_lines: tuple[str, ...] | None = None


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    places: tuple[Place, ...] | None = None
    neighbours: tuple[Brief, ...] = ()
    citation_count: int
    citations: dict[str, list[Cited]]


def get(asked: Input, context: Context) -> Answer:
    """All there is to know about one requirement."""
    meant = _requirements(context.catalogue, context.find(asked.reference))
    found = detail_of(context.material(), meant)
    assert isinstance(found, RequirementDetail)
    whole = _whole(found)
    room = MOST_BYTES - len(json.encode(whole))
    cited = _fitting(found.citations, room)
    by_type: dict[str, list[Cited]] = {}
    for one, told in zip(found.citations, cited, strict=False):
        by_type.setdefault(one.type, []).append(told)
    step = _next_step(found, len(cited))
    return Answer(value=replace(whole, citations=by_type), next_step=step)


def _requirements(catalogue: Catalogue, found: Found) -> Requirements:
    """The one requirement that is meant, or that is cited where a citation is meant."""
    if isinstance(found, Requirements):
        return found
    if not isinstance(found, Citations):
        raise ToolError(Code.INVALID_REQUEST, "this names no requirement", "give an id; get_section lists them")
    indexes = {index for number in found.indexes for index in catalogue.citations[number].requirements}
    ids = sorted({catalogue.ids[index] for index in indexes})
    if len(ids) == 1:
        return Requirements(tuple(index for index, id in enumerate(catalogue.ids) if id == ids[0]))
    if not ids:
        raise _none_cited(catalogue.citations[found.indexes[0]])
    hint = f"give one of these ids: {', '.join(id[:SHOWN] for id in ids[:_FEW])}"
    raise ToolError(Code.NOT_FOUND, f"{len(ids)} requirements are cited there", hint)


def _none_cited(card: CitationCard) -> ToolError:
    """What there is to say of a citation that leads to no requirement."""
    if not card.is_valid:
        hint = "mend it first: validate_citation tells what it should say"
        return ToolError(Code.NOT_FOUND, f"the citation at {card.id} is invalid: {card.remark}", hint)
    hint = f"get_section has the requirements of {card.target}"
    return ToolError(Code.NOT_FOUND, f"the citation at {card.id} is of no requirement", hint)


def _whole(found: RequirementDetail) -> Output:
    """Everything but its citations."""
    places = tuple(Place(one.full_path, one.status) for one in found.places[:_FEW])
    return Output(
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
            Brief(one.identifier, one.level or NO_LEVEL, one.status, shortened(one.text, _SHORT))
            for one in found.neighbours
        ),
        citation_count=len(found.citations),
        citations={},
    )


def _fitting(citations: Sequence[Citation], room: int) -> list[Cited]:
    """The citations with the code around them, or without it, or so many as there is room for."""
    ##= man/spec/mcp.md#tools
    ##% All about one requirement MUST fit into about 4,000 tokens, with as many of its citations as there is room for.
    told = [_cited(one) for one in citations]
    if len(json.encode(told)) > room:
        told = [replace(one, context_lines=None) for one in told]
    if len(json.encode(told)) > room:
        told = [replace(one, comment_text=one.comment_text.partition("\n")[0]) for one in told]
    return list(fitting(told, room))


def _cited(one: Citation) -> Cited:
    return Cited(
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

GET_REQUIREMENT = Question(
    name="get_requirement",
    title="Get a requirement",
    description="All about one requirement: text, level, status and why, places, citations with code, neighbours.",
    input=Input,
    output=Output,
    handler=get,
)
