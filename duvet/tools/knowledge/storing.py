"""What the tools have in common that files are handed in by."""

from __future__ import annotations

import os
from typing import Annotated

from msgspec import Meta, Struct

from duvet.errors import DuvetError
from duvet.knowledge.ingest.taking import Wishes
from duvet.knowledge.reports.runs import RunRow, row
from duvet.knowledge.upkeep.content import Stored
from duvet.knowledge.upkeep.upkeep import Upkeep
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError, tool_error
from duvet.tools.knowledge.known import ask
from duvet.tools.knowledge.upkeep import SUCCESS, taken_in
from duvet.tools.tool import Answer

Destination = Annotated[
    str,
    Meta(
        description="A path below the content root: a file where it has a suffix, and a folder otherwise; by default the "
        "folder for documents"
    ),
]
Overwrite = Annotated[bool, Meta(description="Whether to replace a file that is there; as configured by default")]
Ingest = Annotated[bool, Meta(description="Whether to take the project in afterwards; as configured by default")]


class Output(Struct, frozen=True, kw_only=True):
    """Where the file is now, and what came of taking it in."""

    status: str = SUCCESS
    stored_path: str
    relative_path: str
    overwritten: bool
    ingest_triggered: bool
    ingest_run: RunRow | None


async def handed_in(ctx: Ctx, upkeep: Upkeep, stored: Stored, wanted: bool | None) -> Answer:
    """What is answered, once the project was taken in where that is wanted; ToolError where that fails."""
    run = await _ingested(ctx, upkeep, stored) if upkeep.content.ingests(wanted) else None
    return Answer(
        value=Output(
            stored_path=stored.path,
            relative_path=stored.relative_path,
            overwritten=stored.overwritten,
            ingest_triggered=run is not None,
            ingest_run=run,
        ),
        warning="" if run is None else await _missing(ctx, upkeep, stored),
    )


async def _ingested(ctx: Ctx, upkeep: Upkeep, stored: Stored) -> RunRow:
    ##= man/spec/gateway.md#maintenance
    ##% Where the project can't be taken in after a file was stored, that MUST be an `upstream_error` which says that the
    ##% file is there.
    try:
        run = await taken_in(ctx, upkeep, Wishes())
    except ToolError as error:
        raise _but_stored(stored, error.message, error.hint) from error
    except DuvetError as error:
        raise _but_stored(stored, tool_error(error).message, error.hint) from error
    if not run.success:
        raise _but_stored(stored, run.error, "")
    return row(run)


async def _missing(ctx: Ctx, upkeep: Upkeep, stored: Stored) -> str:
    """What to say where the file is not among what was taken in."""
    path = os.path.relpath(stored.path, os.path.realpath(upkeep.places.root)).replace(os.sep, "/")
    try:
        is_known = await ask(ctx, lambda known: path in known.store.artifacts())
    except ToolError:
        # It is known what came of the run, and that is what counts.
        return ""
    if is_known:
        return ""
    ##= man/spec/gateway.md#maintenance
    ##% Where a file that was stored is not among what was taken in afterwards, as with a content root that is not in the
    ##% project, the answer MUST warn of that.
    why = "it is not in the project" if path.startswith("../") else "git ignores it, or the configuration leaves it out"
    return f"{stored.relative_path} is stored, but is not among what was taken in: {why}"


def _but_stored(stored: Stored, reason: str, hint: str) -> ToolError:
    message = f"{stored.relative_path} is stored, but the project could not be taken in: {reason}"
    return ToolError(Code.UPSTREAM_ERROR, message, hint or "put that right, and call km-ingest-trigger")
