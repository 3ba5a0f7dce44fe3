"""`km-search`, with results shortened to fit an agent's context."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, UnsetType, json
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

_MIN_TEXT = 200
"""Characters of a result's text if there is no more room."""
_TEXTS = (1000, 500)
"""Characters if there is some room."""
_MAX_ROWS = 3
"""Relationships, related files and requirements of a shortened result."""
_REQUIREMENT_TEXT = 160


def fit_response(response: SearchResponse, room: int) -> tuple[SearchResponse, int]:
    """Return the response in about so many bytes of JSON, and the number of shortened results.

    The first results are kept whole as long as there is room.
    """
    whole = response.results
    shown = [_reduce(result, _MIN_TEXT) for result in whole]
    left = room - len(json.encode(replace(response, results=tuple(shown))))
    cut = 0
    for place, result in enumerate(whole):
        size = len(json.encode(shown[place]))
        for candidate in _list_shorter(result):
            more = len(json.encode(candidate)) - size
            if more <= left:
                shown[place], left = candidate, left - more
                break
        cut += shown[place] is not result
    return (replace(response, results=tuple(shown)), cut) if cut else (response, 0)


def _list_shorter(result: SearchResult) -> Iterator[SearchResult]:
    """Yield the result with less and less of it."""
    yield result
    context = result.graph_context
    brief = replace(result, scoring=replace(result.scoring, signals=UNSET), graph_context=context and _shorten(context))
    yield brief
    yield replace(brief, graph_context=context and _empty(context))
    yield from (_reduce(result, characters) for characters in _TEXTS)


def _reduce(result: SearchResult, characters: int) -> SearchResult:
    """Return the beginning of the text, and nothing else that can be left out."""
    text = result.chunk.text
    beginning = text if len(text) <= characters else f"{text[:characters].rstrip()} …"
    return SearchResult(
        chunk=replace(result.chunk, text=beginning, symbols=()),
        graph_context=result.graph_context and _empty(result.graph_context),
        scoring=replace(result.scoring, signals=UNSET),
    )


def _shorten(context: GraphContext) -> GraphContext:
    requirements = context.requirements[:_MAX_ROWS]
    return replace(
        context,
        primary_node=None,
        relationships=context.relationships[:_MAX_ROWS],
        related_artifacts=context.related_artifacts[:_MAX_ROWS],
        requirements=tuple(replace(one, text=shorten_text(one.text, _REQUIREMENT_TEXT)) for one in requirements),
    )


def _empty(context: GraphContext) -> GraphContext:
    return replace(context, primary_node=None, relationships=(), related_artifacts=(), requirements=())


FEEDBACK_TOOL = "km-feedback-submit"
_PROMPT = f"{FEEDBACK_TOOL} takes your vote on a result, by the request_id here and its chunk_id"


async def search_everything(request: SearchRequest, ctx: CallContext) -> ToolAnswer:
    found = await ask_knowledge(ctx, lambda known: known.engine.search(request))
    found = await add_feedback_hint(found, ctx)
    shown, cut = found, 0
    room = compute_row_budget(ctx.caller.audience, compute_result_limit(request), DEFAULT_RESULTS)
    if room is not None:
        shown, cut = fit_response(found, room - len(f'"{_describe_cut(MAX_RESULTS, MAX_RESULTS)}",'))
    if cut:
        warnings = (*found.metadata.warnings, _describe_cut(cut, len(found.results)))
        shown = replace(shown, metadata=replace(found.metadata, warnings=warnings))
    step = "" if found.results else "km-graph-search finds files by a part of their paths."
    return ToolAnswer(value=shown, warning="; ".join(shown.metadata.warnings), next_step=step)


def _describe_cut(count: int, total: int) -> str:
    return (
        f"{count} of {total} results are not told as a whole: texts, symbols, signals, relationships and requirements are cut, "
        "those of the last results first. km-graph-node has the whole text of one as Chunk:CHUNK_ID, and what its file is "
        "connected with; a lower limit leaves more room for each"
    )


async def add_feedback_hint(found: SearchResponse, ctx: CallContext) -> SearchResponse:
    """Return the response with a hint on feedback if the caller may give any."""
    prompt: str | UnsetType = UNSET
    if found.results and any(
        tool.name == FEEDBACK_TOOL and tool.scope in ctx.caller.scopes for tool in await ctx.pack()
    ):
        prompt = _PROMPT
    return replace(found, metadata=replace(found.metadata, feedback_prompt=prompt))


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
