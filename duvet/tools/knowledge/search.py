"""`km-search`, with results shortened to fit an agent's context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, json
from msgspec.structs import replace

from duvet.knowledge.search_query import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
    GraphContext,
    SearchRequest,
    SearchResponse,
    SearchResult,
    compute_result_limit,
    parse_search_request,
)
from duvet.text import shorten_text
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import TOOL_LABELS, ask_knowledge, compute_row_budget
from duvet.tools.tool import ArgumentShortcut, Tool, ToolAnswer

_BEGINNING = 200
"""Characters of the text of a result for which there is no more room."""
_LENGTHS = (1000, 500)
"""And of one for which there is some."""
_FEW = 3
"""So many relationships, related files and requirements of one for which there is some room."""
_SENTENCE = 160
"""Characters of the text of a requirement there."""


def fit_response(response: SearchResponse, room: int) -> tuple[SearchResponse, int]:
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


def _briefer(result: SearchResult) -> Iterator[SearchResult]:
    """The same with less and less of it."""
    yield result
    context = result.graph_context
    brief = replace(result, scoring=replace(result.scoring, signals=UNSET), graph_context=context and _brief(context))
    yield brief
    yield replace(brief, graph_context=context and _empty(context))
    yield from (_least(result, characters) for characters in _LENGTHS)


def _least(result: SearchResult, characters: int = _BEGINNING) -> SearchResult:
    text = result.chunk.text
    beginning = text if len(text) <= characters else f"{text[:characters].rstrip()} …"
    context = result.graph_context
    return SearchResult(
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
        requirements=tuple(replace(one, text=shorten_text(one.text, _SENTENCE)) for one in context.requirements[:_FEW]),
    )


def _empty(context: GraphContext) -> GraphContext:
    return replace(context, primary_node=None, relationships=(), related_artifacts=(), requirements=())


def _size(value: SearchResponse | SearchResult | Sequence[SearchResult]) -> int:
    return len(json.encode(value))


FEEDBACK_TOOL = "km-feedback-submit"
"""The tool that takes votes."""
_PROMPT = f"{FEEDBACK_TOOL} takes your vote on a result, by the request_id here and its chunk_id"


async def search_everything(asked: SearchRequest, ctx: CallContext) -> ToolAnswer:
    """The pieces of files that match best."""
    found = await ask_knowledge(ctx, lambda known: known.engine.search(asked))
    found = await add_feedback_hint(found, ctx)
    most = compute_row_budget(ctx.caller.audience, compute_result_limit(asked), DEFAULT_RESULTS)
    shown, cut = (found, 0) if most is None else fit_response(found, most - len(f'"{_cut(MAX_RESULTS, MAX_RESULTS)}",'))
    if cut:
        warnings = (*found.metadata.warnings, _cut(cut, len(found.results)))
        shown = replace(shown, metadata=replace(found.metadata, warnings=warnings))
    step = "" if found.results else "km-graph-search finds files by a part of their paths."
    return ToolAnswer(value=shown, warning="; ".join(shown.metadata.warnings), next_step=step)


def _cut(count: int, total: int) -> str:
    return (
        f"{count} of {total} results are not told as a whole: texts, symbols, signals, relationships and requirements are cut, "
        "those of the last results first. km-graph-node has the whole text of one as Chunk:CHUNK_ID, and what its file is "
        "connected with; a lower limit leaves more room for each"
    )


async def add_feedback_hint(found: SearchResponse, ctx: CallContext) -> SearchResponse:
    """The same, which says how to give feedback if the caller can."""
    prompt = _PROMPT if found.results and await _takes_feedback(ctx) else UNSET
    return replace(found, metadata=replace(found.metadata, feedback_prompt=prompt))


async def _takes_feedback(ctx: CallContext) -> bool:
    """Whether the caller can say what the results are worth."""
    return any(tool.name == FEEDBACK_TOOL and tool.scope in ctx.caller.scopes for tool in await ctx.pack())


KM_SEARCH = Tool(
    name="km-search",
    title="Search everything",
    description="Pieces of code, tests and documents that match a query by words and by meaning, each with what its file belongs "
    "to and which requirements it cites.",
    input=SearchRequest,
    output=SearchResponse,
    handler=search_everything,
    record_of=parse_search_request,
    labels=TOOL_LABELS,
    shortcuts=(
        ArgumentShortcut("symbol", "filters", "symbols"),
        ArgumentShortcut("kind", "filters", "symbol_kinds"),
        ArgumentShortcut("lang", "filters", "symbol_languages"),
    ),
)
