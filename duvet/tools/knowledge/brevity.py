"""A search with as much as agents have room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, json
from msgspec.structs import replace

from duvet.knowledge.retrieval.records import GraphContext, Response, Result
from duvet.text import shortened

_BEGINNING = 200
"""Characters of the text of a result for which there is no more room."""
_LENGTHS = (1000, 500)
"""And of one for which there is some."""
_FEW = 3
"""So many relationships, related files and requirements of one for which there is some room."""
_SENTENCE = 160
"""Characters of the text of a requirement there."""


def fitted(response: Response, room: int) -> tuple[Response, int]:
    """The response in about so many bytes of JSON, and how many of its results are not whole: the first ones are, as long
    as there is room."""
    whole = response.results
    shown = [_least(result) for result in whole]
    left = room - _size(replace(response, results=tuple(shown)))
    cut = 0
    for place, result in enumerate(whole):
        size = _size(shown[place])
        for candidate in _briefer(result):
            more = _size(candidate) - size
            if more <= left:
                shown[place], left = candidate, left - more
                break
        cut += shown[place] is not result
    return (replace(response, results=tuple(shown)), cut) if cut else (response, 0)


def _briefer(result: Result) -> Iterator[Result]:
    """The same with less and less of it."""
    yield result
    context = result.graph_context
    brief = replace(result, scoring=replace(result.scoring, signals=UNSET), graph_context=context and _brief(context))
    yield brief
    yield replace(brief, graph_context=context and _empty(context))
    yield from (_least(result, characters) for characters in _LENGTHS)


def _least(result: Result, characters: int = _BEGINNING) -> Result:
    text = result.chunk.text
    beginning = text if len(text) <= characters else f"{text[:characters].rstrip()} …"
    context = result.graph_context
    return Result(
        chunk=replace(result.chunk, text=beginning, symbols=()),
        graph_context=context and _empty(context),
        scoring=replace(result.scoring, signals=UNSET),
    )


def _brief(context: GraphContext) -> GraphContext:
    return replace(
        context,
        primary_node=None,
        relationships=context.relationships[:_FEW],
        related_artifacts=context.related_artifacts[:_FEW],
        requirements=tuple(replace(one, text=shortened(one.text, _SENTENCE)) for one in context.requirements[:_FEW]),
    )


def _empty(context: GraphContext) -> GraphContext:
    return replace(context, primary_node=None, relationships=(), related_artifacts=(), requirements=())


def _size(value: Response | Result | Sequence[Result]) -> int:
    return len(json.encode(value))
