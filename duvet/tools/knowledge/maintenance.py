"""Tools for maintainers: ingest runs, recipes, backups, uploads and texts."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from msgspec import UNSET, Meta, Struct, UnsetType, convert, defstruct, structs, to_builtins

from duvet.errors import DuvetError, OutputExistsError, QueryError
from duvet.knowledge import backup, reports
from duvet.knowledge.index import Maintenance
from duvet.knowledge.uploads import StoredFile, StoredText, check_destination, check_not_reserved
from duvet.store import database, location, records
from duvet.text import quote_text, shorten_text
from duvet.tools import tool
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge import index
from duvet.tree.files import leads_into_folder
from duvet.workflows.workflow import StepRun, WorkflowFailure, WorkflowRun

if TYPE_CHECKING:
    from duvet.workflows.recipes import RecipeCatalogue


_declare = partial(index.declare_knowledge_tool, scope=tool.Scope.MAINTAINER, is_idempotent=False)
SUCCESS_STATUS = "success"
_PLACES = f"a folder, or a new file that ends in {' or '.join(location.BACKUP_ENDINGS)}"
_PROFILE = "The name of the profile: up to 64 letters, digits, `.`, `-` and `_` [default: as configured, else manual]"
_PLACE = "A path under the content root: a file if it has an extension, else a folder [default: the configured folder]"
DestinationArgument = Annotated[str, Meta(description=_PLACE)]
OverwriteArgument = Annotated[bool, Meta(description="Replace an existing file [default: as configured]")]
IngestArgument = Annotated[bool, Meta(description="Index the project afterwards [default: as configured]")]
_MAX_TEXT_BYTES = 500_000  # In JSON, line ends and quotes take two bytes, and an HTTP request has at most 1 MiB.
_CONTENT = f"The text, in Markdown: at most {_MAX_TEXT_BYTES:,} bytes of UTF-8"
_SOURCE = "The path of a file in the project; over HTTP, of a file under the content root"
MAX_UPLOAD_BYTES = 750_000
_BYTES = f"The file in base64, at most {MAX_UPLOAD_BYTES:,} bytes before encoding; source_path then only names it"
_NAME = "The name of the recipe, such as daily-health"


async def run_ingest_or_fail(
    ctx: CallContext, maintenance: Maintenance, options: location.IngestOptions
) -> records.IngestRun:
    options = structs.replace(options, run_id=uuid4().hex, default_profile="manual")

    async def report(done: float, step: str) -> None:
        # Continue if the progress can't be reported.
        with suppress(Exception):
            await ctx.caller.progress(done, None, step)

    try:
        ##= man/spec/gateway.md#indexing
        ##% During an ingest run, the server MUST report progress and answer other requests.
        ##= man/spec/gateway.md#indexing
        ##% The server MUST end an ingest run when the call that started it is cancelled, or when the server stops.
        return await maintenance.ingest(options, report)
    except database.StoreError as error:
        raise index.make_store_refusal(error, ctx) from error
    except DuvetError as error:
        failed = None
        if not options.dry_run and not isinstance(error, QueryError):
            failed = await index.run_in_thread(ctx, lambda: maintenance.find_failed_run(options.run_id))
        if failed is None:
            raise
        return failed


class KmBackupTriggerInput(Struct, frozen=True, forbid_unknown_fields=True):
    destination: (
        Annotated[str, Meta(description=f"A path in the project: {_PLACES} [default: the configured folder]")] | None
    ) = None


class KmBackupTriggerOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    archive: str  # The path in the project; absolute if it is outside.
    size: int


@_declare(
    "km-backup-trigger", "Back up the index", KmBackupTriggerInput, KmBackupTriggerOutput, accountable=("destination",)
)
async def trigger_backup(arguments: KmBackupTriggerInput, ctx: CallContext) -> tool.ToolAnswer:
    """Write the index and the feedback to a backup archive, and return its path. Searches and ingest runs can continue."""
    maintenance = index.require_maintenance(ctx)
    found = await index.run_in_thread(ctx, lambda: _create_backup(maintenance, (arguments.destination or "").strip()))
    path = os.path.relpath(found.path, maintenance.places.root)
    archive = found.path if path.startswith("..") else path.replace(os.sep, "/")
    step = "Restore it with `duvet restore`." if ctx.caller.face == tool.SHELL_SOURCE else ""
    return tool.ToolAnswer(value=KmBackupTriggerOutput(archive=archive, size=found.size), next_step=step)


def _create_backup(maintenance: Maintenance, destination: str) -> backup.Backup:
    places = maintenance.places
    path = os.path.join(places.root, destination) if destination else places.backups
    ##= man/spec/gateway.md#backups
    ##% `km-backup-trigger` MUST write only new files, and only in the project or in the folder that `store.backups`
    ##% sets.
    folders = (places.root, places.backups) if places.is_configured else (places.root,)
    if "\0" in path or not any(leads_into_folder(folder, path) for folder in folders):
        hint = "choose a path in the project, or in the folder that `store.backups` sets"
        shown = quote_text(shorten_text(destination) or location.BACKUPS_FOLDER)
        raise QueryError(f"{shown} is outside the project", hint=hint)
    backup.check_backup_name(path)
    more = "" if path.endswith(location.BACKUP_ENDINGS) else f"/{location.BACKUP_PREFIX}DATE.tgz"
    try:
        if leads_into_folder(places.backups, path):
            # The configured folder is trusted; only the path below it is checked.
            check_destination(places.backups, os.path.relpath(path + more, places.backups).replace(os.sep, "/"))
        else:
            check_destination(places.root, destination.rstrip("/") + more)
            check_not_reserved(places, path)
    except QueryError as error:
        error.hint = f"choose another path in the project: {_PLACES}"
        raise
    try:
        return backup.create_backup(places, path, maintenance.now())
    except OutputExistsError as error:
        raise QueryError(
            f"{quote_text(shorten_text(destination))} already exists",
            hint=f"choose another path in the project: {_PLACES}",
        ) from error


class KmIngestTriggerInput(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description=_PROFILE)] | None = None
    dry_run: Annotated[bool, Meta(description="Report what the run would index, and change nothing")] = False
    use_dummy_embeddings: Annotated[
        bool, Meta(description="Use dummy vectors instead of the embedding model, for tests")
    ] = False
    paths: Annotated[Any, Meta(description="Not supported: a run indexes everything that has changed")] = None


KmIngestTriggerOutput = defstruct(
    "KmIngestTriggerOutput",
    [
        ("status", str),
        *(
            (one.name, one.type) if one.required else (one.name, one.type | UnsetType, UNSET)
            for one in structs.fields(reports.RunRow)
        ),
        ("dry_run", bool, False),
        ("run", reports.RunRow),
    ],
    frozen=True,
    kw_only=True,
)
"""The fields of the run, and the run itself as `run`."""


@_declare(
    "km-ingest-trigger",
    "Index the project",
    KmIngestTriggerInput,
    KmIngestTriggerOutput,
    safety_notes=("It updates the project's index.",),
    accountable=("profile", "dry_run", "use_dummy_embeddings"),
)
async def trigger_ingest(arguments: KmIngestTriggerInput, ctx: CallContext) -> tool.ToolAnswer:
    """Index all changed files of the project, and answer when the run is complete. With dry_run, change nothing."""
    if arguments.paths is not None:
        hint = "omit paths; the run skips files that have not changed"
        raise tool.ToolError(tool.ErrorCode.UNSUPPORTED_OPERATION, "Indexing only some paths is not supported", hint)
    profile = "" if arguments.profile is None else location.require_profile(arguments.profile)
    options = location.IngestOptions(profile=profile, dry_run=arguments.dry_run, dummy=arguments.use_dummy_embeddings)
    run = await run_ingest_or_fail(ctx, index.require_maintenance(ctx), options)
    last = reports.make_run_row(run)
    flat = {name: value for name, value in structs.asdict(last).items() if value != ""}
    status = SUCCESS_STATUS if run.success else "failure"
    return tool.ToolAnswer(
        value=KmIngestTriggerOutput(status=status, run=last, dry_run=arguments.dry_run, **flat),
        warning="; ".join(run.warnings),
        next_step="" if run.success else "The index is unchanged.",
    )


class StoreFileOutput(Struct, frozen=True, kw_only=True):
    status: str = SUCCESS_STATUS
    stored_path: str
    relative_path: str
    overwritten: bool
    ingest_triggered: bool
    ingest_run: reports.RunRow | None


async def _finish_storing(
    ctx: CallContext, maintenance: Maintenance, stored: StoredFile, wants_ingest: bool | None
) -> tool.ToolAnswer:
    run, warning = None, ""
    if wants_ingest is None:
        wants_ingest = maintenance.content.rule.ingest
    if wants_ingest:
        cause: Exception | None = None
        try:
            done = await run_ingest_or_fail(ctx, maintenance, location.IngestOptions())
            reason, hint = done.error, ""
        except tool.ToolError as error:
            cause, reason, hint = error, error.message, error.hint
        except DuvetError as error:
            cause, reason, hint = error, tool.make_tool_error(error).message, error.hint
        ##= man/spec/gateway.md#uploads
        ##% If the server stored a file but could not index it, the server MUST say so.
        if cause or not done.success:
            message = f"{stored.relative_path} was stored, but the project could not be indexed: {reason}"
            hint = hint or "fix this, then call km-ingest-trigger"
            raise tool.ToolError(tool.ErrorCode.UPSTREAM_ERROR, message, hint) from cause
        run = reports.make_run_row(done)
        path = os.path.relpath(stored.path, os.path.realpath(maintenance.places.root)).replace(os.sep, "/")
        # The run has succeeded, and so has the call.
        with suppress(tool.ToolError):
            if not await index.ask_knowledge(ctx, lambda known: path in known.store.artifacts()):
                why = "it is not in the project" if path.startswith("../") else "git or the configuration ignores it"
                warning = f"{stored.relative_path} was stored, but is not in the index: {why}"
    return tool.ToolAnswer(
        value=StoreFileOutput(
            stored_path=stored.path,
            relative_path=stored.relative_path,
            overwritten=stored.overwritten,
            ingest_triggered=run is not None,
            ingest_run=run,
        ),
        warning=warning,
    )


class KmStoretextInput(Struct, frozen=True, forbid_unknown_fields=True):
    content: Annotated[str, Meta(description=_CONTENT, extra_json_schema={"maxLength": _MAX_TEXT_BYTES})]
    title: Annotated[str, Meta(description="The title of the text; it names the file, unless destination does")] = ""
    destination: DestinationArgument | None = None
    subsystem: Annotated[str, Meta(description="The subsystem that the text describes")] = ""
    tags: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100, description="Keywords")] = ()
    metadata: Annotated[dict[str, Any], Meta(description="More fields for the front matter")] = {}
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None


@_declare(
    "km-storetext",
    "Store a text",
    KmStoretextInput,
    StoreFileOutput,
    replaces=True,
    safety_notes=("With overwrite, it replaces an existing file.",),
    accountable=("destination", "overwrite", "ingest"),
    longest=_MAX_TEXT_BYTES,
)
async def store_text(arguments: KmStoretextInput, ctx: CallContext) -> tool.ToolAnswer:
    """Store a text as a Markdown document under the content root, with title, subsystem, tags and metadata as front
    matter, and index the project if requested."""
    require_argument("content", arguments.content, _CONTENT)
    size = len(arguments.content.encode())
    if size > _MAX_TEXT_BYTES:
        hint = "split it, or upload it as a file with km-upload"
        message = f"content has {size:,} bytes; the limit is {_MAX_TEXT_BYTES:,}"
        raise tool.ToolError(tool.ErrorCode.INVALID_REQUEST, message, hint)
    maintenance = index.require_maintenance(ctx)
    text = convert(arguments, StoredText, from_attributes=True)

    stored = await index.run_in_thread(
        ctx,
        lambda: maintenance.content.store(
            text.document().encode(),
            arguments.destination,
            text.file_name(maintenance.now()),
            overwrite=arguments.overwrite,
            is_made_up=not text.is_named,
        ),
    )
    return await _finish_storing(ctx, maintenance, stored, arguments.ingest)


class KmUploadInput(Struct, frozen=True, forbid_unknown_fields=True):
    source_path: Annotated[str, Meta(description=_SOURCE)]
    destination: DestinationArgument | None = None
    overwrite: OverwriteArgument | None = None
    ingest: IngestArgument | None = None
    content: Annotated[str, Meta(description=_BYTES, extra_json_schema={"contentEncoding": "base64"})] | None = None


@_declare(
    "km-upload",
    "Upload a file",
    KmUploadInput,
    StoreFileOutput,
    replaces=True,
    safety_notes=("With overwrite, it replaces an existing file.",),
    accountable=("source_path", "destination", "overwrite", "ingest"),
    longest=MAX_UPLOAD_BYTES // 3 * 4,
)
async def upload_file(arguments: KmUploadInput, ctx: CallContext) -> tool.ToolAnswer:
    """Copy a file to a path under the content root, and index the project if requested."""
    source = require_argument("source_path", arguments.source_path, _SOURCE)
    maintenance, encoded = index.require_maintenance(ctx), arguments.content

    def copy() -> StoredFile:
        content = maintenance.content
        try:
            given = None if encoded is None else b64decode(encoded, validate=True)
        except ValueError as error:
            raise tool.ToolError(tool.ErrorCode.INVALID_REQUEST, "content is not valid base64", _BYTES) from error
        data = content.read(source, is_local=not ctx.caller.holder) if given is None else given
        return content.store(data, arguments.destination, os.path.basename(source), overwrite=arguments.overwrite)

    stored = await index.run_in_thread(ctx, copy)
    return await _finish_storing(ctx, maintenance, stored, arguments.ingest)


class KmRecipeRunInput(Struct, frozen=True, forbid_unknown_fields=True):
    recipe: Annotated[str, Meta(description=_NAME)]
    vars: Annotated[dict[str, Any], Meta(description="The values of the recipe's variables, by name")] = {}


# The fields of `StepRun`, of which none is omitted.
RecipeStepResult = defstruct("RecipeStepResult", [(one.name, one.type) for one in structs.fields(StepRun)], frozen=True)


class KmRecipeRunOutput(Struct, frozen=True, kw_only=True):
    status: str
    recipe: str
    outputs: Mapping[str, Any]
    steps: tuple[RecipeStepResult, ...]  # type: ignore[valid-type]
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    warnings: tuple[str, ...]
    error: WorkflowFailure | UnsetType = UNSET


@_declare(
    "km-recipe-run",
    "Run a recipe",
    KmRecipeRunInput,
    KmRecipeRunOutput,
    replaces=True,
    accountable=("recipe",),
    failures=(
        tool.ErrorCode.RECIPE_NOT_FOUND,
        tool.ErrorCode.TOOL_FAILED,
        tool.ErrorCode.ASSERT_FAILED,
        tool.ErrorCode.TIMEOUT,
    ),
)
async def run_recipe_tool(arguments: KmRecipeRunInput, ctx: CallContext) -> tool.ToolAnswer:
    """Run a recipe, such as daily-health, release-prep, stale-audit or subsystem-freshness, and return its outputs and the result of each step."""
    recipes: RecipeCatalogue | None = ctx.services.get(tool.RECIPES_SERVICE)
    if recipes is None:
        raise tool.ToolError(tool.ErrorCode.UNSUPPORTED_OPERATION, "this server does not run recipes")
    name = require_argument("recipe", arguments.recipe, _NAME)
    run = await recipes.run(name, arguments.vars, ctx)
    done = make_recipe_output(name, run)
    if run.error is None:
        return tool.ToolAnswer(value=done)
    message = run.error.describe(name)
    raise tool.ToolError(run.error.code, message, run.error.hint, to_builtins(done), cause=run.error.cause)


def make_recipe_output(name: str, run: WorkflowRun) -> KmRecipeRunOutput:
    values = {field: value for field, value in structs.asdict(run).items() if value is not None}
    return convert({**values, "recipe": name}, KmRecipeRunOutput, from_attributes=True)
