"""`get_citation_context`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple
from urllib.parse import unquote

from msgspec import Meta, Struct

from duvet.errors import NotFoundError, QueryError
from duvet.queries.names import nearest_hint
from duvet.queries.places import Place, annotations_in, nearest, place_of, plain_paths, stretches
from duvet.queries.references import Citations
from duvet.queries.references import find as find_reference
from duvet.queries.resources import resource_of
from duvet.queries.snippets import Text, last_line
from duvet.text import quoted
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.unread import Stretch, unread

_USUAL, _MOST, _WIDEST = 5, 1000, 500


class Input(Struct, frozen=True):
    citation_id: Annotated[str, Meta(description="file:line of a citation, or its full_path")]
    context_lines: (
        Annotated[
            int, Meta(ge=0, le=_MOST, description=f"Lines before and after its first; else {_USUAL} around all of it")
        ]
        | None
    ) = None


class Output(Struct, frozen=True):
    file_path: str
    line_number: int
    context: tuple[str, ...]


class _Cited(NamedTuple):
    """The lines of a citation in its file."""

    path: str
    lines: Stretch
    text: Text


def context_of(asked: Input, context: Context) -> Answer:
    """The lines around a citation."""
    path, (first, last), text = _found(context, asked.citation_id)
    around = asked.context_lines
    # Who asks for no number wants to see the code, however long the comment is.
    end = last + _USUAL if around is None else first + around
    start = first - 1 - (_USUAL if around is None else around)
    lines = text.lines[max(start, 0) : end]
    long = any(len(one) > _WIDEST for one in lines)
    note = f"Lines are cut after {_WIDEST} characters." if long else ""
    return Answer(value=Output(path, first, tuple(one[:_WIDEST] for one in lines)), next_step=note)


def _found(context: Context, wanted: str) -> _Cited:
    catalogue = context.catalogue
    if resource_of(wanted.strip()):
        found = find_reference(catalogue, wanted)
        if not isinstance(found, Citations):
            raise NotFoundError(f"{quoted(wanted)} is no citation", hint="get_requirement lists the citations of one")
        card = catalogue.citations[found.indexes[0]]
        text = context.files.text(card.path)
        return _Cited(card.path, Stretch(card.line, last_line(text, card)), text)
    place = place_of(wanted.strip())
    if place is None:
        raise QueryError(f"{quoted(wanted)} is not file:line", hint="give it as src/main.rs:42")
    return _at(context, place)


def _at(context: Context, place: Place) -> _Cited:
    found = _cited_in(context, place.path)
    own = _holding(found, place.line)
    if not own:
        ##= man/spec/mcp.md#tools
        ##% A comment that can't be read MUST be listed with its first line, at each line of which `get_citation_context`
        ##% finds it.
        unread = _unread_in(context, place.path)
        own, found = _holding(unread, place.line), [*found, *unread]
    ##= man/spec/mcp.md#tools
    ##% `get_citation_context` MUST NOT show lines of a file that holds no citation.
    if not found:
        raise _no_citation(context, place.path)
    if own:
        return own[0]
    path = found[0].path
    near = ", ".join(f"{path}:{line}" for line in nearest([one.lines.first for one in found], place.line))
    ##= man/spec/mcp.md#tools
    ##% A line without a citation MUST be answered with the citations that are nearest to it in its file.
    raise NotFoundError(f"there is no citation at {path}:{place.line}", hint=f"near are {near}")


def _holding(found: Sequence[_Cited], line: int) -> list[_Cited]:
    return [one for one in found if one.lines.first <= line <= one.lines.last]


def _cited_in(context: Context, path: str) -> list[_Cited]:
    """The citations in a file."""
    catalogue = context.catalogue
    numbers = annotations_in(catalogue, _spellings(context, path))
    if not numbers:
        return []
    known = catalogue.citations[numbers[0]].path
    text = context.files.text(known)
    return [_Cited(known, Stretch(one.first, one.last), text) for one in stretches(catalogue, numbers, text)]


def _unread_in(context: Context, path: str) -> list[_Cited]:
    """What would be citations in a file, but can't be read."""
    paths, files = _spellings(context, path), context.files
    return [_Cited(one.path, one.lines, files.text(one.path)) for one in context.once(unread) if one.path in paths]


def _spellings(context: Context, path: str) -> list[str]:
    root = context.project.root
    return [*plain_paths(path, root), *plain_paths(unquote(path), root)]


def _no_citation(context: Context, path: str) -> NotFoundError:
    known = {card.path for card in context.catalogue.citations}
    hint = nearest_hint(path, sorted(known)) or "list_invalid_citations and get_requirement name citations"
    return NotFoundError(f"there is no citation in {quoted(path)}", hint=hint)


GET_CITATION_CONTEXT = Question(
    name="get_citation_context",
    title="Code around a citation",
    description="The lines of code around a citation. Use it to see whether the code does what it cites.",
    input=Input,
    output=Output,
    handler=context_of,
)
