"""`km-upload`"""

from __future__ import annotations

import os
from typing import Annotated

from msgspec import Meta, Struct

from duvet.knowledge.upkeep.content import Stored
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import TOOL_LABELS, require_text
from duvet.tools.knowledge.storing import Destination, Ingest, Output, Overwrite, handed_in
from duvet.tools.knowledge.upkeep import at_work, upkeep_of
from duvet.tools.tool import Answer, Scope, Tool

_SOURCE = "The path of a file that the server can read; over HTTP, of one below the content root"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    source_path: Annotated[str, Meta(description=_SOURCE)]
    destination: Destination | None = None
    overwrite: Overwrite | None = None
    ingest: Ingest | None = None


async def upload(asked: Input, ctx: Ctx) -> Answer:
    """Copy a file to where it is taken in."""
    source, upkeep = require_text("source_path", asked.source_path, _SOURCE), upkeep_of(ctx)

    def copied() -> Stored:
        content = upkeep.content
        data = content.read(source, only_inside=bool(ctx.caller.holder))
        return content.store(data, asked.destination, os.path.basename(source), overwrite=asked.overwrite)

    stored = await at_work(ctx, copied)
    return await handed_in(ctx, upkeep, stored, asked.ingest)


UPLOAD = Tool(
    name="km-upload",
    title="Hand a file in",
    description="Copies a file below the content root, where it is taken in, and takes the project in where that is wanted.",
    input=Input,
    output=Output,
    handler=upload,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    replaces=True,
    labels=TOOL_LABELS,
    safety_notes=("With overwrite it replaces a file.",),
    accountable=("source_path", "destination", "overwrite", "ingest"),
)
