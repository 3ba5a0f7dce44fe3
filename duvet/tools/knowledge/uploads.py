"""`km-upload` and `km-storetext`."""

from __future__ import annotations

import os
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from duvet.errors import DuvetError
from duvet.knowledge.index import Maintenance
from duvet.knowledge.reports import RunRow, make_run_row
from duvet.knowledge.settings import IngestOptions
from duvet.knowledge.uploads import StoredFile, StoredText
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import TOOL_LABELS, ask_knowledge, require_argument
from duvet.tools.knowledge.maintenance import SUCCESS_STATUS, require_maintenance, run_in_thread, run_ingest_or_fail
from duvet.tools.tool import ErrorCode, Scope, Tool, ToolAnswer, ToolError, make_tool_error

DestinationArgument = Annotated[
    str,
    Meta(
        description="A path below the content root: a file where it has a suffix, and a folder otherwise; by default the "
        "folder for documents"
    ),
]
OverwriteArgument = Annotated[
    bool, Meta(description="Whether to replace a file that is there; as configured by default")
]
IngestArgument = Annotated[
    bool, Meta(description="Whether to take the project in afterwards; as configured by default")
]


class StoreFileOutput(Struct, frozen=True, kw_only=True):
    """Where the file is now, and what came of taking it in."""

    status: str = SUCCESS_STATUS
    stored_path: str
    relative_path: str
    overwritten: bool
    ingest_triggered: bool
    ingest_run: RunRow | None


async def finish_storing(ctx: CallContext, upkeep: Maintenance, stored: StoredFile, wanted: bool | None) -> ToolAnswer:
    """What is answered, once the project was taken in where that is wanted; ToolError where that fails."""
    run = await _ingested(ctx, upkeep, stored) if upkeep.content.ingests(wanted) else None
    return ToolAnswer(
        value=StoreFileOutput(
            stored_path=stored.path,
            relative_path=stored.relative_path,
            overwritten=stored.overwritten,
            ingest_triggered=run is not None,
            ingest_run=run,
        ),
        warning="" if run is None else await _missing(ctx, upkeep, stored),
    )


async def _ingested(ctx: CallContext, upkeep: Maintenance, stored: StoredFile) -> RunRow:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST answer `upstream_error` when it stored a file but could not index the project, and warn when the
    ##% index does not contain the file.
    try:
        run = await run_ingest_or_fail(ctx, upkeep, IngestOptions())
    except ToolError as error:
        raise _but_stored(stored, error.message, error.hint) from error
    except DuvetError as error:
        raise _but_stored(stored, make_tool_error(error).message, error.hint) from error
    if not run.success:
        raise _but_stored(stored, run.error, "")
    return make_run_row(run)


async def _missing(ctx: CallContext, upkeep: Maintenance, stored: StoredFile) -> str:
    """What to say where the file is not among what was taken in."""
    path = os.path.relpath(stored.path, os.path.realpath(upkeep.places.root)).replace(os.sep, "/")
    try:
        is_known = await ask_knowledge(ctx, lambda known: path in known.store.artifacts())
    except ToolError:
        # It is known what came of the run, and that is what counts.
        return ""
    if is_known:
        return ""
    why = "it is not in the project" if path.startswith("../") else "git ignores it, or the configuration leaves it out"
    return f"{stored.relative_path} is stored, but is not among what was taken in: {why}"


def _but_stored(stored: StoredFile, reason: str, hint: str) -> ToolError:
    message = f"{stored.relative_path} is stored, but the project could not be taken in: {reason}"
    return ToolError(ErrorCode.UPSTREAM_ERROR, message, hint or "put that right, and call km-ingest-trigger")


_LONGEST = 500_000
"""Bytes. Line ends and quotes take twice as many in JSON, and over HTTP a request has at most 1 MiB."""
_CONTENT = f"The text, in Markdown; at most {_LONGEST:,} bytes in UTF-8"


class KmStoretextInput(Struct, frozen=True, forbid_unknown_fields=True):
    content: Annotated[str, Meta(description=_CONTENT, extra_json_schema={"maxLength": _LONGEST})]
    title: Annotated[str, Meta(description="What the text is called, and its file after that")] = ""
    destination: DestinationArgument | None = None
    subsystem: Annotated[str, Meta(description="The subsystem that it is about")] = ""
    tags: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100, description="Words")] = ()
    metadata: Annotated[dict[str, Any], Meta(description="What else there is to say of it")] = field(
        default_factory=dict
    )
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None


async def store_text(asked: KmStoretextInput, ctx: CallContext) -> ToolAnswer:
    """Write a text down where it is taken in."""
    require_argument("content", asked.content, _CONTENT)
    ##= man/spec/gateway.md#uploads
    ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before them,
    ##% to a file named after the title or the time.
    if len(asked.content.encode()) > _LONGEST:
        hint = "store it in parts, or as a file with km-upload"
        raise ToolError(ErrorCode.INVALID_REQUEST, f"content has more than {_LONGEST:,} bytes", hint)
    upkeep = require_maintenance(ctx)
    text = StoredText(
        content=asked.content,
        title=asked.title.strip(),
        subsystem=asked.subsystem.strip(),
        tags=asked.tags,
        metadata=asked.metadata,
    )

    def written() -> StoredFile:
        name = text.file_name(upkeep.now())
        data, overwrite = text.document().encode(), asked.overwrite
        return upkeep.content.store(data, asked.destination, name, overwrite=overwrite, is_made_up=not text.is_named)

    stored = await run_in_thread(ctx, written)
    return await finish_storing(ctx, upkeep, stored, asked.ingest)


STORETEXT = Tool(
    name="km-storetext",
    title="Write a text down",
    description="Stores a text as a Markdown document below the content root, with its title, subsystem, tags and metadata "
    "before it, and takes the project in where that is wanted.",
    input=KmStoretextInput,
    output=StoreFileOutput,
    handler=store_text,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    replaces=True,
    labels=TOOL_LABELS,
    safety_notes=("With overwrite it replaces a file.",),
    accountable=("destination", "overwrite", "ingest"),
    longest=_LONGEST,
)


_SOURCE = "The path of a file that the server can read; over HTTP, of one below the content root"


class KmUploadInput(Struct, frozen=True, forbid_unknown_fields=True):
    source_path: Annotated[str, Meta(description=_SOURCE)]
    destination: DestinationArgument | None = None
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None


async def upload_file(asked: KmUploadInput, ctx: CallContext) -> ToolAnswer:
    """Copy a file to where it is taken in."""
    source, upkeep = require_argument("source_path", asked.source_path, _SOURCE), require_maintenance(ctx)

    def copied() -> StoredFile:
        content = upkeep.content
        data = content.read(source, only_inside=bool(ctx.caller.holder))
        return content.store(data, asked.destination, os.path.basename(source), overwrite=asked.overwrite)

    stored = await run_in_thread(ctx, copied)
    return await finish_storing(ctx, upkeep, stored, asked.ingest)


UPLOAD = Tool(
    name="km-upload",
    title="Hand a file in",
    description="Copies a file below the content root, where it is taken in, and takes the project in where that is wanted.",
    input=KmUploadInput,
    output=StoreFileOutput,
    handler=upload_file,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    replaces=True,
    labels=TOOL_LABELS,
    safety_notes=("With overwrite it replaces a file.",),
    accountable=("source_path", "destination", "overwrite", "ingest"),
)
