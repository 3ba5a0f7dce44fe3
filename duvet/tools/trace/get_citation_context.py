"""`get_citation_context`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import unquote

from msgspec import Meta, Struct

from duvet.errors import NotFoundError, QueryError
from duvet.queries.names import nearest_hint
from duvet.queries.places import Place, annotations_in, nearest, place_of, plain_paths, stretches
from duvet.queries.references import Citations
from duvet.queries.references import find as find_reference
from duvet.queries.resources import resource_of
from duvet.queries.snippets import Text
from duvet.text import quoted
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question

_USUAL, _MOST, _WIDEST = 5, 1000, 500


class Input(Struct, frozen=True):
    citation_id: Annotated[str, Meta(description="file:line of a citation, or its full_path")]
    context_lines: Annotated[
        int, Meta(ge=0, le=_MOST, description=f"Lines before and after it; {_USUAL} if not given")
    ] = _USUAL


class Output(Struct, frozen=True):
    file_path: str
    line_number: int
    context: tuple[str, ...]


def context_of(asked: Input, context: Context) -> Answer:
    """The lines around a citation."""
    path, line, text = _found(context, asked.citation_id)
    around = asked.context_lines
    lines = text.lines[max(line - 1 - around, 0) : line + around]
    long = any(len(one) > _WIDEST for one in lines)
    note = f"Lines are cut after {_WIDEST} characters." if long else ""
    return Answer(value=Output(path, line, tuple(one[:_WIDEST] for one in lines)), next_step=note)


def _found(context: Context, wanted: str) -> tuple[str, int, Text]:
    """The file, the first line and the text that a citation stands in."""
    catalogue = context.catalogue
    if resource_of(wanted.strip()):
        found = find_reference(catalogue, wanted)
        if not isinstance(found, Citations):
            raise NotFoundError(f"{quoted(wanted)} is no citation", hint="get_requirement lists the citations of one")
        card = catalogue.citations[found.indexes[0]]
        return card.path, card.line, context.files.text(card.path)
    place = place_of(wanted.strip())
    if place is None:
        raise QueryError(f"{quoted(wanted)} is not file:line", hint="give it as src/main.rs:42")
    return _at(context, place)


def _at(context: Context, place: Place) -> tuple[str, int, Text]:
    ##= man/spec/mcp.md#tools
    ##% `get_citation_context` MUST NOT show lines of a file that holds no citation.
    catalogue, numbers = context.catalogue, _numbers(context, place.path)
    path = catalogue.citations[numbers[0]].path
    text = context.files.text(path)
    found = stretches(catalogue, numbers, text)
    own = [one.first for one in found if one.first <= place.line <= one.last]
    if own:
        return path, own[0], text
    near = ", ".join(f"{path}:{line}" for line in nearest([one.first for one in found], place.line))
    ##= man/spec/mcp.md#tools
    ##% A line without a citation MUST be answered with the citations that are nearest to it in its file.
    raise NotFoundError(f"there is no citation at {path}:{place.line}", hint=f"near are {near}")


def _numbers(context: Context, path: str) -> Sequence[int]:
    """The numbers of the citations in a file."""
    catalogue, root = context.catalogue, context.project.root
    found = annotations_in(catalogue, [*plain_paths(path, root), *plain_paths(unquote(path), root)])
    if not found:
        known = {card.path for card in catalogue.citations}
        hint = nearest_hint(path, sorted(known)) or "list_invalid_citations and get_requirement name citations"
        raise NotFoundError(f"there is no citation in {quoted(path)}", hint=hint)
    return found


GET_CITATION_CONTEXT = Question(
    name="get_citation_context",
    title="Code around a citation",
    description="The lines of code around a citation. Use it to see whether the code does what it cites.",
    input=Input,
    output=Output,
    handler=context_of,
)
