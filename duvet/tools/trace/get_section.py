"""`get_section`"""

from __future__ import annotations

from functools import lru_cache, partial
from string import digits
from typing import Annotated

from msgspec import Meta, Struct, json

from duvet.queries.catalogue import Catalogue
from duvet.queries.references import Citations, Found, Requirements, Spot
from duvet.queries.sections import section_text
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.tools.paging import MOST_BYTES, fitting
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.brief import Brief, brief
from duvet.tools.trace.by_section import requirements_by_section
from duvet.tools.trace.shelf import Shelf

_MOST = 200_000
_SHORT = 100
"""So much of a requirement's text is told where there is no room for all of them: the text of the section has it."""
_NAMED = 8
_MOST_KEPT = 64


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    reference: Annotated[str, Meta(description="spec#section, a full path, or what stands there")]
    offset: Annotated[int, Meta(ge=0, description="The character of the text to begin at")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="Characters of text")] | None = None


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    title: str
    content: str
    full_path: str
    target: str
    requirements: tuple[Brief, ...] | None = None
    next_offset: int | None = None


def get(asked: Input, context: Context) -> Answer:
    """A section with its text, or a part of that, and its requirements."""
    spot = _spot(context.catalogue, context.find(asked.reference))
    card = context.catalogue.specifications[spot.specification]
    kept = context.once(_Kept)
    text = kept.text(spot)
    rows = kept.rows(spot) if not asked.offset else None
    room = max(MOST_BYTES - len(json.encode(rows)), MOST_BYTES // 2)
    content = _part(text, asked.offset, room) if asked.limit is None else text[asked.offset :][: asked.limit]
    end = asked.offset + len(content)
    return Answer(
        value=Output(
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


def _spot(catalogue: Catalogue, found: Found) -> Spot:
    """The section that is meant, or that what is meant stands in."""
    match found:
        case Spot():
            return found
        case Requirements(indexes):
            card = catalogue.requirements[indexes[0]]
            return Spot(card.specification, card.section)
        case Citations(numbers) if catalogue.citations[numbers[0]].is_valid:
            cited = catalogue.citations[numbers[0]]
            return Spot(cited.specification, cited.section)
    raise ToolError(Code.INVALID_REQUEST, "this names no section", _sections(catalogue, found))


def _sections(catalogue: Catalogue, found: Found) -> str:
    number = getattr(found, "specification", None)
    if number is None:
        return "give spec#section"
    card = catalogue.specifications[number]
    more = f" and {len(card.sections) - _NAMED} more" if len(card.sections) > _NAMED else ""
    return f"{card.id} has #{', #'.join(one.id for one in card.sections[:_NAMED])}{more}"


class _Kept:
    """What was read of the last few sections that were asked for: agents read on in one, part by part."""

    def __init__(self, context: Context) -> None:
        self.text = lru_cache(maxsize=_MOST_KEPT)(partial(_text, context))
        self.rows = lru_cache(maxsize=_MOST_KEPT)(partial(_rows, context))


def _text(context: Context, spot: Spot) -> str:
    known = context.once(Shelf).known(spot.specification)
    return section_text(known.sections[known.by_id[spot.section]])


def _rows(context: Context, spot: Spot) -> tuple[Brief, ...]:
    indexes = context.once(requirements_by_section).get((spot.specification, spot.section), [])
    cards = [context.catalogue.requirements[index] for index in indexes]
    rows = [brief(card) for card in cards]
    if len(json.encode(rows)) > MOST_BYTES // 2:
        rows = [brief(card, _SHORT) for card in cards]
    # The text of the section has them all.
    return tuple(fitting(rows, MOST_BYTES // 2))


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
        ##= man/spec/mcp.md#tools
        ##% Of a text, an offset past its end MUST be said to be so.
        return f"Nothing is left: the text has {total} characters, and offset={offset} is past its end."
    ##= man/spec/mcp.md#tools
    ##% A text that is cut MUST be said to be cut, with how to get the rest.
    return f"{end} of {total} characters shown; for more give offset={end}." if end < total else ""


GET_SECTION = Question(
    name="get_section",
    title="Get a section",
    description="The text of a section, and its requirements with their status.",
    input=Input,
    output=Output,
    handler=get,
)
