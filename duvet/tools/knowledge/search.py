"""Tools that search the index and store feedback; answers are cut to fit an agent's context."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, json, to_builtins
from msgspec.structs import asdict, fields, replace

from duvet.knowledge import feedback, search_query
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge import index
from duvet.tools.tool import ArgumentShortcut, ErrorCode, Scope, ToolAnswer, ToolError

_TEXTS = (1000, 500, 200)  # Maximum lengths of the text of a shortened result; the last one if there is no room.
_MAX_SYMBOLS = 20  # Symbols of a shortened result.
_ROOM = 1.3  # Results have more bytes for each token than most answers.
FEEDBACK_TOOL = "km-feedback-submit"
_REQUEST = "The request_id from the metadata of the km-search answer"
_CHUNK = "The chunk_id of the result"
_MAX_ID, _MAX_CONTEXT_BYTES = 500, 16_384


def fit_response(response: search_query.SearchResponse, room: int) -> tuple[search_query.SearchResponse, int]:
    """`room` is in bytes of JSON."""
    whole = response.results
    shown = [_reduce(result, _TEXTS[-1]) for result in whole]
    left = room - len(json.encode(replace(response, results=tuple(shown))))
    cut = 0
    for place, result in enumerate(whole):
        size = len(json.encode(shown[place]))
        for candidate in (result, *(_reduce(result, characters) for characters in _TEXTS[:-1])):
            more = len(json.encode(candidate)) - size
            if more <= left:
                shown[place], left = candidate, left - more
                break
        cut += shown[place] is not result
    return (replace(response, results=tuple(shown)), cut) if cut else (response, 0)


def _reduce(result: search_query.SearchResult, characters: int) -> search_query.SearchResult:
    chunk, context, signals = result.chunk, result.graph_context, result.scoring.signals
    text = chunk.text if len(chunk.text) <= characters else chunk.text[:characters].rstrip()
    omitted = {
        "text": len(chunk.text) - len(text),
        "symbols": len(chunk.symbols[_MAX_SYMBOLS:]),
        "related_artifacts": len(context.related_artifacts or ()) if context else 0,
        "signals": 0 if signals is UNSET else len(to_builtins(signals)),
    }
    if context:
        context = replace(
            context,
            primary_node=UNSET,
            relationships=tuple(
                replace(one, target=search_query.NodeView(one.target.id)) for one in context.relationships
            ),
            related_artifacts=UNSET if context.related_artifacts else (),
            requirements=tuple(
                search_query.CitedRequirement(id=one.id, status=one.status) for one in context.requirements
            ),
        )
    return search_query.SearchResult(
        chunk=replace(
            chunk,
            text=text if text == chunk.text else f"{text} …",
            symbols=tuple(
                search_query.FoundSymbol(qualified_name=one.qualified_name, kind=one.kind, line_start=one.line_start)
                for one in chunk.symbols[:_MAX_SYMBOLS]
            ),
        ),
        graph_context=context,
        scoring=replace(result.scoring, signals=UNSET),
        omitted={name: count for name, count in omitted.items() if count} or UNSET,
    )


@index.declare_knowledge_tool(
    "km-search",
    "Search the index",
    search_query.SearchRequest,
    search_query.SearchResponse,
    record_of=search_query.parse_search_request,
    shortcuts=(
        ArgumentShortcut("symbol", "filters", "symbols"),
        ArgumentShortcut("kind", "filters", "symbol_kinds"),
        ArgumentShortcut("lang", "filters", "symbol_languages"),
    ),
)
async def search_everything(request: search_query.SearchRequest, ctx: CallContext) -> ToolAnswer:
    """Search code, tests and documents by words and by meaning; each result is a chunk with its place in the graph and
    the requirements its file cites."""
    found = await index.ask_knowledge(ctx, lambda known: known.engine.search(request))
    found = await add_feedback_hint(found, ctx)
    shown, cut = found, 0
    most = search_query.MAX_RESULTS
    room = index.compute_row_budget(ctx.caller.audience, min(request.limit, most), search_query.DEFAULT_RESULTS)
    if room is not None:
        shown, cut = fit_response(found, int(room * _ROOM) - len(f'"{_describe_cut(most, most)}",'))
    if cut:
        warnings = (*found.metadata.warnings, _describe_cut(cut, len(found.results)))
        shown = replace(shown, metadata=replace(found.metadata, warnings=warnings))
    step = "" if found.results else "km-graph-search finds files by part of their path."
    return ToolAnswer(value=shown, warning="; ".join(shown.metadata.warnings), next_step=step)


def _describe_cut(count: int, total: int) -> str:
    return (
        f"shortened {count} of {total} results, beginning with the lowest-ranked; `omitted` counts what was left out. "
        "For the whole text of a result, call km-graph-node with Chunk:CHUNK_ID. A lower limit leaves more room for each "
        "result"
    )


async def add_feedback_hint(found: search_query.SearchResponse, ctx: CallContext) -> search_query.SearchResponse:
    prompt: str | UnsetType = UNSET
    registry = await ctx.calls.tools()
    if found.results and FEEDBACK_TOOL in registry:
        tool, own = registry.require(FEEDBACK_TOOL), registry.pack_of(registry.require(ctx.tool))
        if tool.withheld is None and registry.pack_of(tool) is own and tool.scope in ctx.caller.scopes:
            prompt = f"Vote on a result with {FEEDBACK_TOOL}, this request_id and the result's chunk_id"
    return replace(found, metadata=replace(found.metadata, feedback_prompt=prompt))


class KmFeedbackSubmitInput(Struct, frozen=True, forbid_unknown_fields=True):
    request_id: Annotated[str, Meta(description=_REQUEST)]
    chunk_id: Annotated[str, Meta(description=_CHUNK)]
    vote: Annotated[float, Meta(ge=-1, le=1, description="From -1 (useless) to 1 (exactly right)")] | None = None
    note: Annotated[str, Meta(description="The reason for the vote")] | None = None
    context: Annotated[
        dict[str, Any] | None,
        Meta(description="Why you searched: an object with fields of your choice, such as `task`"),
    ] = None


KmFeedbackSubmitOutput = defstruct(
    "KmFeedbackSubmitOutput",
    [("status", str, "ok"), *((one.name, one.type) for one in fields(feedback.Vote))],
    frozen=True,
    kw_only=True,
)


@index.declare_knowledge_tool(
    FEEDBACK_TOOL,
    "Feedback on a result",
    KmFeedbackSubmitInput,
    KmFeedbackSubmitOutput,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    accountable=("request_id", "chunk_id", "vote"),
)
async def submit_feedback(arguments: KmFeedbackSubmitInput, ctx: CallContext) -> ToolAnswer:
    """Store feedback on a result of km-search: a vote from -1 to 1, a note, or both."""
    request = _require_id("request_id", arguments.request_id, _REQUEST)
    chunk = _require_id("chunk_id", arguments.chunk_id, _CHUNK)
    size = len(json.encode(arguments.context))
    if size > _MAX_CONTEXT_BYTES:
        message = f"context has {size:,} bytes of JSON; the limit is {_MAX_CONTEXT_BYTES:,}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "shorten it")
    maintenance = index.require_maintenance(ctx)
    vote = feedback.Vote(
        request_id=request,
        chunk_id=chunk,
        vote=arguments.vote,
        note=arguments.note,
        context=arguments.context,
        timestamp=maintenance.now().isoformat(timespec="milliseconds"),
    )
    ##= man/spec/gateway.md#feedback
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result.
    await index.run_in_thread(ctx, lambda: feedback.append_record(maintenance.places, vote))
    warnings = []
    if vote.vote is None and not (vote.note or "").strip() and not vote.context:
        warnings.append("The feedback is empty; submit a vote from -1 to 1, or a note.")
    path, _, ordinal = chunk.rpartition("::")
    # If the index can't be read, the call has still succeeded.
    with suppress(ToolError):
        count = await index.ask_knowledge(ctx, lambda known: len(known.store.chunk_numbers(path)))
        if not ordinal.isdecimal() or int(ordinal) >= count:
            warnings.append("The index has no chunk with this chunk_id; the feedback was stored anyway.")
    return ToolAnswer(value=KmFeedbackSubmitOutput(**asdict(vote)), warning=" ".join(warnings))


def _require_id(argument: str, value: str, hint: str) -> str:
    found = require_argument(argument, value, hint)
    if len(found) > _MAX_ID:
        message = f"{argument} has {len(found):,} characters; the limit is {_MAX_ID}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, hint)
    return found
