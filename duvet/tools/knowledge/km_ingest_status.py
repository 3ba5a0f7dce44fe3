"""`km-ingest-status`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from duvet.knowledge.reports.runs import RunRow, row
from duvet.store.errors import MissingError
from duvet.store.records import Run
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import MOST_HISTORY, TOOL_LABELS, History, ask, most
from duvet.tools.tool import Answer, Scope, Tool


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description="Of runs with this profile alone, such as `local`")] | None = None
    history: History = 0


class Output(Struct, frozen=True, kw_only=True):
    """The fields of the run, and the same as `run`; of no run, whose it would have been."""

    status: str
    profile: str | UnsetType = UNSET
    run_id: str | UnsetType = UNSET
    started_at: float | UnsetType = UNSET
    duration_seconds: float | UnsetType = UNSET
    success: bool | UnsetType = UNSET
    artifact_counts: dict[str, int] | UnsetType = UNSET
    chunk_count: int | UnsetType = UNSET
    changed: int | UnsetType = UNSET
    removed: int | UnsetType = UNSET
    repo_head: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    run: RunRow | UnsetType = UNSET
    history: tuple[RunRow, ...] | UnsetType = UNSET


async def status(asked: Input, ctx: Ctx) -> Answer:
    """How the last run went."""
    profile = (asked.profile or "").strip() or None
    runs = await _runs(ctx, profile, max(most(asked.history, MOST_HISTORY), 1))
    ##= man/spec/knowledge.md#reports
    ##% `km-ingest-status` MUST tell of the last run, whether it has succeeded or failed, and with a `profile` of the last one
    ##% that is called so; where there is none it MUST answer the status `not_found`.
    if not runs:
        return Answer(value=Output(status="not_found", profile=UNSET if profile is None else profile))
    last = row(runs[0])
    flat = {name: value for name, value in asdict(last).items() if value != ""}
    past = tuple(map(row, runs)) if asked.history else UNSET
    warning = "" if last.success else "The last run has failed: what is known comes from an earlier one."
    return Answer(value=Output(status="ok", run=last, history=past, **flat), warning=warning)


async def _runs(ctx: Ctx, profile: str | None, limit: int) -> Sequence[Run]:
    """The last runs; none where there is no store, for that is known to be so."""
    try:
        return await ask(ctx, lambda known: known.store.runs(profile, limit))
    except ToolError as error:
        if error.code is Code.UPSTREAM_ERROR and isinstance(error.__cause__, MissingError):
            return ()
        raise


INGEST_STATUS = Tool(
    name="km-ingest-status",
    title="Status of taking in",
    description="How the last run went that took in the project: when, with which profile, how many files and pieces, at which "
    "commit.",
    input=Input,
    output=Output,
    handler=status,
    scope=Scope.MAINTAINER,
    reads=True,
    labels=TOOL_LABELS,
)
