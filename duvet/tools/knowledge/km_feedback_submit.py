"""`km-feedback-submit`"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, json
from msgspec.structs import asdict

from duvet.knowledge.knowledge import OpenStore
from duvet.knowledge.upkeep.votes import Vote, submit
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.km_search import FEEDBACK
from duvet.tools.knowledge.known import TOOL_LABELS, ask, require_text
from duvet.tools.knowledge.upkeep import at_work, upkeep_of
from duvet.tools.tool import Answer, Scope, Tool

_REQUEST = "The request_id of the metadata that km-search has answered"
_CHUNK = "The chunk_id of one of the results"
_LONGEST, _MOST = 500, 16_384


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    request_id: Annotated[str, Meta(description=_REQUEST)]
    chunk_id: Annotated[str, Meta(description=_CHUNK)]
    vote: (
        Annotated[float, Meta(ge=-1, le=1, description="From -1, of no use, to 1, just what was looked for")] | None
    ) = None
    note: Annotated[str, Meta(description="Why")] | None = None
    context: (
        Annotated[dict[str, Any], Meta(description="What it was wanted for, such as the task; an object")] | None
    ) = None


class Output(Struct, frozen=True, kw_only=True):
    """What was kept."""

    status: str = "ok"
    request_id: str
    chunk_id: str
    vote: float | None
    note: str | None
    context: dict[str, Any] | None
    timestamp: str
    source: str


async def feedback(asked: Input, ctx: Ctx) -> Answer:
    """Keep what somebody says of a result."""
    request, chunk = _name("request_id", asked.request_id, _REQUEST), _name("chunk_id", asked.chunk_id, _CHUNK)
    if asked.context is not None and len(json.encode(asked.context)) > _MOST:
        raise ToolError(Code.INVALID_REQUEST, f"context has more than {_MOST:,} bytes", "say it in fewer words")
    upkeep = upkeep_of(ctx)
    vote = Vote(
        request_id=request,
        chunk_id=chunk,
        vote=asked.vote,
        note=asked.note,
        context=asked.context,
        timestamp=upkeep.now().isoformat(timespec="milliseconds"),
    )
    ##= man/spec/gateway.md#maintenance
    ##% `km-feedback-submit` MUST keep a vote from -1 to 1, a note and a context for a result of a search, and answer with
    ##% what was kept and when.
    await at_work(ctx, lambda: submit(upkeep.places, vote))
    warnings = filter(None, (_unsaid(vote), await _unknown(ctx, chunk)))
    return Answer(value=Output(**asdict(vote)), warning=" ".join(warnings))


def _unsaid(vote: Vote) -> str:
    """What to tell who says nothing."""
    ##= man/spec/gateway.md#maintenance
    ##% Feedback that has neither a vote, nor a note, nor a context MUST be kept, too, with a warning.
    is_something = vote.vote is not None or (vote.note or "").strip() or vote.context
    return "" if is_something else "That says nothing of the result: a vote from -1 to 1 or a note would."


def _name(argument: str, value: str, hint: str) -> str:
    found = require_text(argument, value, hint)
    if len(found) > _LONGEST:
        raise ToolError(Code.INVALID_REQUEST, f"{argument} has more than {_LONGEST} characters", hint)
    return found


async def _unknown(ctx: Ctx, chunk: str) -> str:
    """What to say where there is no such piece."""
    path, _, ordinal = chunk.rpartition("::")

    def is_known(known: OpenStore) -> bool:
        return ordinal.isdecimal() and int(ordinal) < len(known.store.chunk_numbers(path))

    try:
        known = await ask(ctx, is_known)
    except ToolError:
        # It is kept, and that is what counts.
        return ""
    return "" if known else "No piece is called so now; what you say of it is kept all the same."


FEEDBACK_SUBMIT = Tool(
    name=FEEDBACK,
    title="Feedback on a result",
    description="Keeps what you say of a result of km-search: a vote from -1 to 1, a note, or both.",
    input=Input,
    output=Output,
    handler=feedback,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    accountable=("request_id", "chunk_id", "vote"),
)
