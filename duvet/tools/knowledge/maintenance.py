"""`km-ingest-trigger`, `km-backup-trigger` and `km-feedback-submit`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, json
from msgspec.structs import asdict, replace

from duvet.errors import DuvetError, OutputExistsError, QueryError
from duvet.knowledge.backup import Backup, check_backup_name, create_backup
from duvet.knowledge.feedback import Vote, submit_vote
from duvet.knowledge.index import Maintenance, OpenStore
from duvet.knowledge.reports import RunRow, make_run_row
from duvet.knowledge.settings import (
    BACKUP_ENDINGS,
    BACKUP_PREFIX,
    BACKUPS_FOLDER,
    IngestOptions,
    StorePaths,
    require_profile,
)
from duvet.knowledge.uploads import check_destination, check_not_reserved
from duvet.progress import CountedStep, Progress
from duvet.store.errors import StoreError
from duvet.store.records import IngestRun
from duvet.text import quote_text, shorten_text
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext, ignore_progress
from duvet.tools.knowledge.index import TOOL_LABELS, ask_knowledge, make_store_refusal
from duvet.tools.knowledge.search import FEEDBACK_TOOL
from duvet.tools.tool import SHELL_SOURCE, UPKEEP_SERVICE, ErrorCode, Scope, Tool, ToolAnswer, ToolError
from duvet.tree.files import leads_into_folder

Result = TypeVar("Result")

SUCCESS_STATUS, FAILURE_STATUS = "success", "failure"
_MANUAL = "manual"
_REPORT_INTERVAL = 0.1
"""Seconds between two progress reports of a step."""


def require_maintenance(ctx: CallContext) -> Maintenance:
    found: Maintenance | None = ctx.services.get(UPKEEP_SERVICE)
    if found is None:
        raise ToolError(ErrorCode.UPSTREAM_ERROR, "nothing is kept here of what is known of projects")
    return found


async def run_in_thread(ctx: CallContext, work: Callable[[], Result]) -> Result:
    """Run work in a thread of its own; ToolError if the store can't be used."""
    from anyio import to_thread

    try:
        return await to_thread.run_sync(work)
    except StoreError as error:
        raise make_store_refusal(error, ctx) from error


async def run_ingest_or_fail(ctx: CallContext, upkeep: Maintenance, options: IngestOptions) -> IngestRun:
    """Return the run, even one that failed; ToolError if it left no record."""
    from uuid import uuid4

    options = replace(options, run_id=uuid4().hex, default_profile=_MANUAL)

    def work() -> IngestRun:
        try:
            found = upkeep.ingest(options, _CallProgress(ctx))
            return found.run
        except (StoreError, QueryError):
            raise
        except DuvetError:
            failed = None if options.dry_run else upkeep.failed_run(options.run_id)
            if failed is None:
                raise
            return failed

    ##= man/spec/gateway.md#indexing-and-feedback
    ##% During an ingest run, the server MUST go on answering and report progress, and a cancelled run MUST leave the
    ##% index unchanged.
    return await run_in_thread(ctx, work)


class _CallProgress(Progress):
    """Reports each step to the caller, and stops the work when the call is cancelled."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._steps = 0
        self._last = 0.0

    def begin(self, step: str) -> None:
        self._steps += 1
        self.report(0.0, step)

    def counted(self, step: str, count: int) -> CountedStep:
        self.begin(step)
        return _CallStep(self, step, count)

    def report(self, share: float, step: str) -> None:
        """Report the share of a step that is done."""
        from anyio import from_thread

        from_thread.check_cancelled()
        now = time.monotonic()
        if self._ctx.caller.progress is ignore_progress or (share and now - self._last < _REPORT_INTERVAL):
            return
        self._last = now
        with suppress(Exception):
            # A failed report is no reason to stop.
            from_thread.run(self._ctx.progress, self._steps + min(share, 0.999), None, step)


class _CallStep(CountedStep):
    """Reports the number of finished parts of a step."""

    def __init__(self, progress: _CallProgress, step: str, count: int) -> None:
        super().__init__(progress)
        self._progress = progress
        self._step = step
        self._count = count
        self._done = 0

    def advance(self, count: int = 1) -> None:
        self._done += count
        share = self._done / self._count if self._count else 0.0
        self._progress.report(share, f"{self._step}: {self._done} of {self._count}")


_DESTINATION = (
    f"A folder, or a file that ends in {' or '.join(BACKUP_ENDINGS)}, in the project; by default the folder of backups"
)


class KmBackupTriggerInput(Struct, frozen=True, forbid_unknown_fields=True):
    destination: Annotated[str, Meta(description=_DESTINATION)] | None = None


class KmBackupTriggerOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    archive: str
    """The path in the project, or else an absolute path."""
    size: int


async def trigger_backup(arguments: KmBackupTriggerInput, ctx: CallContext) -> ToolAnswer:
    upkeep = require_maintenance(ctx)
    found = await run_in_thread(ctx, lambda: _create_backup(upkeep, (arguments.destination or "").strip()))
    path = os.path.relpath(found.path, upkeep.places.root)
    archive = found.path if path.startswith("..") else path.replace(os.sep, "/")
    step = "`duvet restore` brings it back." if ctx.caller.face == SHELL_SOURCE else ""
    return ToolAnswer(value=KmBackupTriggerOutput(archive=archive, size=found.size), next_step=step)


def _create_backup(upkeep: Maintenance, destination: str) -> Backup:
    places = upkeep.places
    path = os.path.join(places.root, destination) if destination else places.backups
    _check_backup_path(places, path, destination)
    try:
        return create_backup(places, path, upkeep.now())
    except OutputExistsError as error:
        raise QueryError(f"{quote_text(shorten_text(destination))} is there already", hint=_DESTINATION) from error


def _check_backup_path(places: StorePaths, path: str, destination: str) -> None:
    ##= man/spec/gateway.md#backups
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    if "\0" in path or not any(leads_into_folder(folder, path) for folder in places.for_backups):
        hint = "backups go into the project, or below store.backups of the configuration"
        shown = quote_text(shorten_text(destination) or BACKUPS_FOLDER)
        raise QueryError(f"{shown} is outside of the project", hint=hint)
    check_backup_name(path)
    more = "" if path.endswith(BACKUP_ENDINGS) else f"/{BACKUP_PREFIX}"
    try:
        if leads_into_folder(places.backups, path):
            # The configuration is trusted with the way to its own folder.
            check_destination(places.backups, os.path.relpath(path + more, places.backups).replace(os.sep, "/"))
            return
        check_destination(places.root, destination.rstrip("/") + more)
        check_not_reserved(places, path)
    except QueryError as error:
        error.hint = _DESTINATION
        raise


BACKUP_TRIGGER = Tool(
    name="km-backup-trigger",
    title="Back up what is known",
    description="Makes an archive of what is known of the project, with the feedback on it, and answers where it is. Others are "
    "answered meanwhile, and a run may go on.",
    input=KmBackupTriggerInput,
    output=KmBackupTriggerOutput,
    handler=trigger_backup,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    accountable=("destination",),
)


_REQUEST = "The request_id of the metadata that km-search has answered"
_CHUNK = "The chunk_id of one of the results"
_MAX_ID, _MAX_CONTEXT_BYTES = 500, 16_384


class KmFeedbackSubmitInput(Struct, frozen=True, forbid_unknown_fields=True):
    request_id: Annotated[str, Meta(description=_REQUEST)]
    chunk_id: Annotated[str, Meta(description=_CHUNK)]
    vote: (
        Annotated[float, Meta(ge=-1, le=1, description="From -1, of no use, to 1, just what was looked for")] | None
    ) = None
    note: Annotated[str, Meta(description="Why")] | None = None
    context: (
        Annotated[dict[str, Any], Meta(description="What it was wanted for, such as the task; an object")] | None
    ) = None


class KmFeedbackSubmitOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    request_id: str
    chunk_id: str
    vote: float | None
    note: str | None
    context: dict[str, Any] | None
    timestamp: str
    source: str


async def submit_feedback(arguments: KmFeedbackSubmitInput, ctx: CallContext) -> ToolAnswer:
    request = _require_id("request_id", arguments.request_id, _REQUEST)
    chunk = _require_id("chunk_id", arguments.chunk_id, _CHUNK)
    if arguments.context is not None and len(json.encode(arguments.context)) > _MAX_CONTEXT_BYTES:
        message = f"context has more than {_MAX_CONTEXT_BYTES:,} bytes"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "say it in fewer words")
    upkeep = require_maintenance(ctx)
    vote = Vote(
        request_id=request,
        chunk_id=chunk,
        vote=arguments.vote,
        note=arguments.note,
        context=arguments.context,
        timestamp=upkeep.now().isoformat(timespec="milliseconds"),
    )
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result, and warn when all
    ##% three are missing.
    await run_in_thread(ctx, lambda: submit_vote(upkeep.places, vote))
    warnings = []
    if vote.vote is None and not (vote.note or "").strip() and not vote.context:
        warnings.append("That says nothing of the result: a vote from -1 to 1 or a note would.")
    if not await _is_known_chunk(ctx, chunk):
        warnings.append("No piece is called so now; what you say of it is kept all the same.")
    return ToolAnswer(value=KmFeedbackSubmitOutput(**asdict(vote)), warning=" ".join(warnings))


def _require_id(argument: str, value: str, hint: str) -> str:
    found = require_argument(argument, value, hint)
    if len(found) > _MAX_ID:
        raise ToolError(ErrorCode.INVALID_REQUEST, f"{argument} has more than {_MAX_ID} characters", hint)
    return found


async def _is_known_chunk(ctx: CallContext, chunk: str) -> bool:
    path, _, ordinal = chunk.rpartition("::")

    def question(known: OpenStore) -> bool:
        return ordinal.isdecimal() and int(ordinal) < len(known.store.chunk_numbers(path))

    try:
        return await ask_knowledge(ctx, question)
    except ToolError:
        # The vote is stored, which is the point of the call.
        return True


FEEDBACK_SUBMIT = Tool(
    name=FEEDBACK_TOOL,
    title="Feedback on a result",
    description="Keeps what you say of a result of km-search: a vote from -1 to 1, a note, or both.",
    input=KmFeedbackSubmitInput,
    output=KmFeedbackSubmitOutput,
    handler=submit_feedback,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    accountable=("request_id", "chunk_id", "vote"),
)


_PROFILE = "What to call the run: up to 64 letters, digits, `.`, `-` and `_`; by default as configured, or manual"


class KmIngestTriggerInput(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description=_PROFILE)] | None = None
    dry_run: Annotated[bool, Meta(description="Whether to tell what there would be, and change nothing")] = False
    use_dummy_embeddings: Annotated[
        bool, Meta(description="Whether to make vectors without a model: they mean nothing, and show that it works")
    ] = False
    paths: Annotated[Any, Meta(description="Not supported: everything that has changed is taken in")] = None


class KmIngestTriggerOutput(Struct, frozen=True, kw_only=True):
    """The fields of the run, and the same as `run`."""

    status: str
    run_id: str
    profile: str
    started_at: float
    duration_seconds: float
    success: bool
    artifact_counts: dict[str, int]
    chunk_count: int
    changed: int
    removed: int
    repo_head: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    dry_run: bool = False
    run: RunRow


async def trigger_ingest(arguments: KmIngestTriggerInput, ctx: CallContext) -> ToolAnswer:
    if arguments.paths is not None:
        ##= man/spec/gateway.md#indexing-and-feedback
        ##% `km-ingest-trigger` MUST index the project under the given `profile`, `ingest.profile` or `manual`, answer
        ##% as `km-ingest-status` does, and refuse `paths` as `unsupported_operation`.
        hint = "leave paths out: what has not changed is not read again"
        raise ToolError(ErrorCode.UNSUPPORTED_OPERATION, "Single paths can't be taken in on their own", hint)
    profile = "" if arguments.profile is None else require_profile(arguments.profile)
    options = IngestOptions(profile=profile, dry_run=arguments.dry_run, dummy=arguments.use_dummy_embeddings)
    run = await run_ingest_or_fail(ctx, require_maintenance(ctx), options)
    last = make_run_row(run)
    flat = {name: value for name, value in asdict(last).items() if value != ""}
    status = SUCCESS_STATUS if run.success else FAILURE_STATUS
    return ToolAnswer(
        value=KmIngestTriggerOutput(status=status, run=last, dry_run=arguments.dry_run, **flat),
        warning="; ".join(run.warnings),
        next_step="" if run.success else "What was known before is as it was.",
    )


INGEST_TRIGGER = Tool(
    name="km-ingest-trigger",
    title="Take the project in",
    description="Takes in everything in the project that has changed, and answers when that is done. With dry_run nothing is "
    "changed.",
    input=KmIngestTriggerInput,
    output=KmIngestTriggerOutput,
    handler=trigger_ingest,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    safety_notes=("It replaces what is known of the project.",),
    accountable=("profile", "dry_run", "use_dummy_embeddings"),
)
