"""Access to the index for the knowledge tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, TypeVar

from msgspec import Meta

from duvet.knowledge import index
from duvet.store.database import StoreDamagedError, StoreError, StoreMissingError, StoreOutdatedError
from duvet.store.location import can_be_replaced
from duvet.tools import tool
from duvet.tools.call_context import CallContext, get_loop_limiter, run_blocking

Result = TypeVar("Result")
_Row = TypeVar("_Row")

declare_knowledge_tool = partial(tool.declare_tool, labels=("knowledge",))
NOTHING_INGESTED = "this project is not indexed yet"
INGEST_HINT = "index the project with km-ingest-trigger or `duvet ingest`, then try again"
MAX_HISTORY = 100
_READERS = 4  # Questions that are answered at the same time.


def describe_limit(description: str, most: int, *, least: int = 1) -> Meta:
    # A higher value is lowered to the maximum, so the schema names it but msgspec does not check it.
    return Meta(ge=least, description=description, extra_json_schema={"maximum": most})


HistoryCount = Annotated[int, describe_limit("Number of earlier reports to include", MAX_HISTORY, least=0)]
EntryCount = Annotated[int, Meta(ge=1, description="Maximum length of each list; the totals count all entries")]


async def ask_knowledge(ctx: CallContext, question: Callable[[index.OpenStore], Result]) -> Result:
    knowledge: index.Knowledge | None = ctx.services.get(tool.KNOWLEDGE_SERVICE)
    if knowledge is None:
        raise tool.ToolError(tool.ErrorCode.UPSTREAM_ERROR, "this server has no index")
    # More than a few questions at a time would take turns anyway, and occupy the few threads.
    limiter = get_loop_limiter("duvet_knowledge_turn", _READERS)
    try:
        return await run_blocking(lambda: knowledge.ask(question), limiter=limiter)
    except StoreError as error:
        raise make_store_refusal(error, ctx) from error


def require_maintenance(ctx: CallContext) -> index.Maintenance:
    found: index.Maintenance | None = ctx.services.get(tool.MAINTENANCE_SERVICE)
    if found is None:
        raise tool.ToolError(tool.ErrorCode.UPSTREAM_ERROR, "this server has no index")
    return found


async def run_in_thread(ctx: CallContext, work: Callable[[], Result]) -> Result:
    try:
        return await run_blocking(work)
    except StoreError as error:
        raise make_store_refusal(error, ctx) from error


def make_store_refusal(error: StoreError, ctx: CallContext) -> tool.ToolError:
    ##= man/spec/knowledge.md#answers
    ##% If the index is unreadable, `km-` tools that need the index MUST answer `upstream_error`, and work again
    ##% without a restart once the index is repaired.
    message = f"{os.path.basename(error.path)}: {error.message}"
    if isinstance(error, StoreMissingError):
        message = NOTHING_INGESTED
    if isinstance(error, (StoreMissingError, StoreOutdatedError)) and ctx.caller.face != tool.SHELL_SOURCE:
        hint = INGEST_HINT
    elif isinstance(error, StoreDamagedError) and can_be_replaced(error.path):
        hint = "run `duvet ingest --full`"
    else:
        hint = error.hint or "try again in a moment"
    return tool.ToolError(tool.ErrorCode.UPSTREAM_ERROR, message, hint)


def limit_rows(rows: Iterable[_Row], limit: int | None, face: str, share: int = 1) -> tuple[_Row, ...]:
    found = tuple(rows)
    if limit is not None:
        return found[:limit]
    return (
        tuple(tool.take_fitting_rows(found, tool.MAX_PAGE_BYTES // share, least=1))
        if face == tool.MCP_SOURCE
        else found
    )


def compute_row_budget(face: str, limit: int, usual: int) -> int | None:
    """The budget is in bytes; None means no limit."""
    return tool.MAX_PAGE_BYTES * max(limit, usual) // usual if face == tool.MCP_SOURCE else None


def limit_rows_by_size(rows: Sequence[_Row], most: int | None) -> Sequence[_Row]:
    return rows if most is None else list(tool.take_fitting_rows(rows, most, least=1))
