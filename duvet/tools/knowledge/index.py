"""Access to the index for the tools of this pack."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import Meta

from duvet.knowledge.graph import IdentifierError
from duvet.knowledge.index import Knowledge, OpenStore
from duvet.knowledge.settings import find_project_above
from duvet.store.errors import StoreBusyError, StoreDamagedError, StoreError, StoreMissingError, StoreVersionError
from duvet.store.location import can_be_replaced
from duvet.tools.call_context import CallContext
from duvet.tools.paging import MAX_PAGE_BYTES, take_fitting_rows
from duvet.tools.tool import KNOWLEDGE_SERVICE, MCP_SOURCE, SHELL_SOURCE, ErrorCode, MissingArgumentError, ToolError

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar


Result = TypeVar("Result")
_Row = TypeVar("_Row")

TOOL_LABELS = ("knowledge",)
_MADE_AGAIN = (StoreMissingError, StoreVersionError, StoreDamagedError)
"""What is well again once everything was taken in."""
NOTHING_INGESTED = "nothing was taken in of this project yet"
MAX_HISTORY = 100
# What is higher counts as the highest: it is told, and not checked.
HistoryCount = Annotated[
    int, Meta(ge=0, description="How many earlier ones to tell of", extra_json_schema={"maximum": MAX_HISTORY})
]
EntryCount = Annotated[int, Meta(ge=1, description="Entries of each list; the totals are those of all")]


async def ask_knowledge(ctx: CallContext, question: Callable[[OpenStore], Result]) -> Result:
    """What is known; ToolError where that can't be told. Nobody else is kept waiting."""
    from anyio import to_thread

    knowledge: Knowledge | None = ctx.services.get(KNOWLEDGE_SERVICE)
    if knowledge is None:
        raise ToolError(ErrorCode.UPSTREAM_ERROR, "nothing is kept here of what is known of projects")
    try:
        # One question is answered at a time: the others wait here, and not in threads, of which there are few for all.
        return await to_thread.run_sync(knowledge.ask, question, limiter=_turn())
    except IdentifierError as error:
        raise ToolError(ErrorCode.INVALID_IDENTIFIER, error.message, error.hint) from error
    except StoreError as error:
        raise make_store_refusal(error, ctx) from error


def _turn() -> CapacityLimiter:
    """Who may ask, of all that run in one loop."""
    from anyio import CapacityLimiter

    turns = _turns()
    found = turns.get(None)
    if found is None:
        found = CapacityLimiter(1)
        turns.set(found)
    return found


@cache
def _turns() -> RunVar[CapacityLimiter | None]:
    from anyio.lowlevel import RunVar

    return RunVar("duvet_knowledge_turn")


def make_store_refusal(error: StoreError, ctx: CallContext) -> ToolError:
    """Why the store can't be used, in words that fit whoever asks."""
    ##= man/spec/knowledge.md#answers
    ##% When the index is missing, locked, damaged or of another version, these tools MUST answer `upstream_error` with
    ##% a remedy, and recover without a restart.
    message = (
        NOTHING_INGESTED if isinstance(error, StoreMissingError) else f"{os.path.basename(error.path)}: {error.message}"
    )
    return ToolError(ErrorCode.UPSTREAM_ERROR, message, _hint(error, ctx))


def _hint(error: StoreError, ctx: CallContext) -> str:
    if ctx.caller.face == SHELL_SOURCE:
        knowledge: Knowledge | None = ctx.services.get(KNOWLEDGE_SERVICE)
        return _hint_for_people(error, knowledge.rules().root if knowledge else "")
    if isinstance(error, StoreBusyError):
        return error.hint
    # Agents have no shell.
    return f"{error.hint}; then ask again" if error.hint else "ask again in a moment"


def _hint_for_people(error: StoreError, root: str) -> str:
    if isinstance(error, StoreDamagedError) and can_be_replaced(error.path):
        return f"{error.hint}; `duvet ingest --full` does both"
    if isinstance(error, StoreMissingError) and (above := find_project_above(root)):
        return f"the project is in {above}, a folder above: ask with `duvet -C {above} call`, or take it in from there"
    return f"{error.hint}; `duvet ingest` takes everything in" if isinstance(error, _MADE_AGAIN) else error.hint


def require_argument(argument: str, value: str, hint: str) -> str:
    """What was given; an error where that is blank."""
    if not value.strip():
        raise MissingArgumentError(argument, hint)
    return value.strip()


def limit_rows(rows: Iterable[_Row], limit: int | None, face: str, share: int = 1) -> tuple[_Row, ...]:
    """As many of the rows as are asked for; for agents who don't say how many, a share of what an answer may hold."""
    found = tuple(rows)
    if limit is not None:
        return found[:limit]
    ##= man/spec/knowledge.md#answers
    ##% For MCP clients these tools MUST cut long lists, forwarded ones too, to about 4,000 tokens unless `limit` asks
    ##% for more, and say so.
    return tuple(take_fitting_rows(found, MAX_PAGE_BYTES // share, least=1)) if face == MCP_SOURCE else found


def compute_row_budget(face: str, limit: int, usual: int) -> int | None:
    """The bytes of JSON that an answer may have which holds so many entries, where as many are usual; None is any."""
    return MAX_PAGE_BYTES * max(limit, usual) // usual if face == MCP_SOURCE else None


def limit_rows_by_size(rows: Sequence[_Row], most: int | None) -> Sequence[_Row]:
    """As many of the rows as so many bytes have room for, and the first one in any case."""
    return rows if most is None else list(take_fitting_rows(rows, most, least=1))


def cap_count(given: int, highest: int) -> int:
    """What was given, or the highest that there is."""
    ##= man/spec/knowledge.md#answers
    ##% These tools MUST lower a `limit` or depth that is too high, and refuse one that is too low.
    return min(given, highest)
