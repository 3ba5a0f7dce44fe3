"""`km-search`"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from duvet.knowledge.retrieval.asking import asked_of
from duvet.knowledge.retrieval.records import MOST, USUAL, Response
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import LABELS, ask, require_text
from duvet.tools.tool import Answer, Shortcut, Tool

FEEDBACK = "km-feedback-submit"
"""The tool that takes votes."""
_PROMPT = f"{FEEDBACK} takes your vote on a result, by the request_id here and its chunk_id"
_QUERY = "Words, or a question"
_FILTERS = (
    "What may be found at all, of subsystems, artifact_types (code, doc, test, proto, config), namespaces, tags, symbols, "
    "symbol_kinds (class, function, method, interface, type, module), symbol_languages (python, typescript, tsx, javascript, "
    "go), each a list of alternatives; updated_after, in ISO 8601; max_age_days"
)


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description=_QUERY)]
    limit: Annotated[int, Meta(ge=1, description=f"Results, {MOST} at most")] = USUAL
    include_graph: Annotated[bool, Meta(description="Whether to tell what each file is connected with")] = True
    filters: Annotated[dict[str, Any], Meta(description=_FILTERS)] = field(default_factory=dict)
    sort_by_vector: Annotated[bool, Meta(description="Whether nearness of meaning alone counts")] = False


async def search(asked: Input, ctx: Ctx) -> Answer:
    """The pieces of files that match best."""
    require_text("query", asked.query, _QUERY)
    wanted = asked_of(asdict(asked))
    found = await ask(ctx, lambda known: known.engine.search(wanted))
    if found.results and await _takes_feedback(ctx):
        found = replace(found, metadata=replace(found.metadata, feedback_prompt=_PROMPT))
    warnings = "; ".join(found.metadata.warnings)
    step = "" if found.results else "km-graph-search finds files by a part of their paths."
    return Answer(value=found, warning=warnings, next_step=step)


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
    input=Input,
    output=Response,
    handler=search,
    labels=LABELS,
    shortcuts=(
        Shortcut("symbol", "filters", "symbols"),
        Shortcut("kind", "filters", "symbol_kinds"),
        Shortcut("lang", "filters", "symbol_languages"),
    ),
)
