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
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import TOOL_LABELS, ask_knowledge
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
    """The stored file, and the ingest run after it."""

    status: str = SUCCESS_STATUS
    stored_path: str
    relative_path: str
    overwritten: bool
    ingest_triggered: bool
    ingest_run: RunRow | None


async def _finish_storing(
    ctx: CallContext, upkeep: Maintenance, stored: StoredFile, wants_ingest: bool | None
) -> ToolAnswer:
    """Return the answer after an ingest run, if one is wanted; ToolError if that fails."""
    run = await _ingest(ctx, upkeep, stored) if upkeep.content.ingests(wants_ingest) else None
    return ToolAnswer(
        value=StoreFileOutput(
            stored_path=stored.path,
            relative_path=stored.relative_path,
            overwritten=stored.overwritten,
            ingest_triggered=run is not None,
            ingest_run=run,
        ),
        warning="" if run is None else await _check_indexed(ctx, upkeep, stored),
    )


async def _ingest(ctx: CallContext, upkeep: Maintenance, stored: StoredFile) -> RunRow:
    ##= man/spec/gateway.md#uploads
    ##% The server MUST answer `upstream_error` when it stored a file but could not index the project, and warn when the
    ##% index does not contain the file.
    cause: Exception | None = None
    try:
        run = await run_ingest_or_fail(ctx, upkeep, IngestOptions())
        if run.success:
            return make_run_row(run)
        reason, hint = run.error, ""
    except ToolError as error:
        cause, reason, hint = error, error.message, error.hint
    except DuvetError as error:
        cause, reason, hint = error, make_tool_error(error).message, error.hint
    message = f"{stored.relative_path} is stored, but the project could not be taken in: {reason}"
    hint = hint or "put that right, and call km-ingest-trigger"
    raise ToolError(ErrorCode.UPSTREAM_ERROR, message, hint) from cause


async def _check_indexed(ctx: CallContext, upkeep: Maintenance, stored: StoredFile) -> str:
    """Return a warning if the index doesn't contain the file."""
    path = os.path.relpath(stored.path, os.path.realpath(upkeep.places.root)).replace(os.sep, "/")
    try:
        if await ask_knowledge(ctx, lambda known: path in known.store.artifacts()):
            return ""
    except ToolError:
        # The run has succeeded, which is the point of the call.
        return ""
    why = "it is not in the project" if path.startswith("../") else "git ignores it, or the configuration leaves it out"
    return f"{stored.relative_path} is stored, but is not among what was taken in: {why}"


_MAX_TEXT_BYTES = 500_000
"""Line ends and quotes need twice as many bytes in JSON, and over HTTP a request has at most 1 MiB."""
_CONTENT = f"The text, in Markdown; at most {_MAX_TEXT_BYTES:,} bytes in UTF-8"


class KmStoretextInput(Struct, frozen=True, forbid_unknown_fields=True):
    content: Annotated[str, Meta(description=_CONTENT, extra_json_schema={"maxLength": _MAX_TEXT_BYTES})]
    title: Annotated[str, Meta(description="What the text is called, and its file after that")] = ""
    destination: DestinationArgument | None = None
    subsystem: Annotated[str, Meta(description="The subsystem that it is about")] = ""
    tags: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100, description="Words")] = ()
    metadata: Annotated[dict[str, Any], Meta(description="What else there is to say of it")] = field(
        default_factory=dict
    )
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None


async def store_text(arguments: KmStoretextInput, ctx: CallContext) -> ToolAnswer:
    require_argument("content", arguments.content, _CONTENT)
    ##= man/spec/gateway.md#uploads
    ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before them,
    ##% to a file named after the title or the time.
    if len(arguments.content.encode()) > _MAX_TEXT_BYTES:
        hint = "store it in parts, or as a file with km-upload"
        raise ToolError(ErrorCode.INVALID_REQUEST, f"content has more than {_MAX_TEXT_BYTES:,} bytes", hint)
    upkeep = require_maintenance(ctx)
    text = StoredText(
        content=arguments.content,
        title=arguments.title.strip(),
        subsystem=arguments.subsystem.strip(),
        tags=arguments.tags,
        metadata=arguments.metadata,
    )

    def write() -> StoredFile:
        name = text.file_name(upkeep.now())
        data, overwrite = text.document().encode(), arguments.overwrite
        return upkeep.content.store(
            data, arguments.destination, name, overwrite=overwrite, is_made_up=not text.is_named
        )

    stored = await run_in_thread(ctx, write)
    return await _finish_storing(ctx, upkeep, stored, arguments.ingest)


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
    longest=_MAX_TEXT_BYTES,
)


_SOURCE = "The path of a file that the server can read; over HTTP, of one below the content root"


class KmUploadInput(Struct, frozen=True, forbid_unknown_fields=True):
    source_path: Annotated[str, Meta(description=_SOURCE)]
    destination: DestinationArgument | None = None
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None


async def upload_file(arguments: KmUploadInput, ctx: CallContext) -> ToolAnswer:
    source, upkeep = require_argument("source_path", arguments.source_path, _SOURCE), require_maintenance(ctx)

    def copy() -> StoredFile:
        content = upkeep.content
        data = content.read(source, only_inside=bool(ctx.caller.holder))
        return content.store(data, arguments.destination, os.path.basename(source), overwrite=arguments.overwrite)

    stored = await run_in_thread(ctx, copy)
    return await _finish_storing(ctx, upkeep, stored, arguments.ingest)


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
