"""`km-search`"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from duvet.knowledge.retrieval.asking import asked_of, limit_of
from duvet.knowledge.retrieval.records import MOST, USUAL, Asked, Response
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.brevity import fitted
from duvet.tools.knowledge.known import TOOL_LABELS, ask, room
from duvet.tools.tool import Answer, Shortcut, Tool

FEEDBACK = "km-feedback-submit"
"""The tool that takes votes."""
_PROMPT = f"{FEEDBACK} takes your vote on a result, by the request_id here and its chunk_id"


async def search(asked: Asked, ctx: Ctx) -> Answer:
    """The pieces of files that match best."""
    found = await ask(ctx, lambda known: known.engine.search(asked))
    found = await prompting(found, ctx)
    most = room(ctx.caller.audience, limit_of(asked), USUAL)
    shown, cut = (found, 0) if most is None else fitted(found, most - len(f'"{_cut(MOST, MOST)}",'))
    if cut:
        warnings = (*found.metadata.warnings, _cut(cut, len(found.results)))
        shown = replace(shown, metadata=replace(found.metadata, warnings=warnings))
    step = "" if found.results else "km-graph-search finds files by a part of their paths."
    return Answer(value=shown, warning="; ".join(shown.metadata.warnings), next_step=step)


def _cut(count: int, total: int) -> str:
    return (
        f"{count} of {total} results are not told as a whole: texts, symbols, signals, relationships and requirements are cut, "
        "those of the last results first. km-graph-node has the whole text of one as Chunk:CHUNK_ID, and what its file is "
        "connected with; a lower limit leaves more room for each"
    )


async def prompting(found: Response, ctx: Ctx) -> Response:
    """The same, which says how to give feedback if the caller can."""
    prompt = _PROMPT if found.results and await _takes_feedback(ctx) else UNSET
    return replace(found, metadata=replace(found.metadata, feedback_prompt=prompt))


async def _takes_feedback(ctx: Ctx) -> bool:
    """Whether the caller can say what the results are worth."""
    ##= man/spec/gateway.md#maintenance
    ##% An answer of `km-search` MUST say how to give feedback to those callers who can, and to no others.
    return any(tool.name == FEEDBACK and tool.scope in ctx.caller.scopes for tool in await ctx.pack())


SEARCH = Tool(
    name="km-search",
    title="Search everything",
    description="Pieces of code, tests and documents that match a query by words and by meaning, each with what its file belongs "
    "to and which requirements it cites.",
    input=Asked,
    output=Response,
    handler=search,
    record_of=asked_of,
    labels=TOOL_LABELS,
    shortcuts=(
        Shortcut("symbol", "filters", "symbols"),
        Shortcut("kind", "filters", "symbol_kinds"),
        Shortcut("lang", "filters", "symbol_languages"),
    ),
)
