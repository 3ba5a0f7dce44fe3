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
from duvet.tools.call_context import CallContext, ignore_progress
from duvet.tools.knowledge.index import TOOL_LABELS, ask_knowledge, make_store_refusal, require_argument
from duvet.tools.knowledge.search import FEEDBACK_TOOL
from duvet.tools.tool import SHELL_SOURCE, UPKEEP_SERVICE, ErrorCode, Scope, Tool, ToolAnswer, ToolError
from duvet.tree.files import leads_into_folder

Result = TypeVar("Result")

SUCCESS_STATUS, FAILURE_STATUS = "success", "failure"
_MANUAL = "manual"
_OFTEN = 0.1
"""Seconds between two accounts of how far a step is."""


def require_maintenance(ctx: CallContext) -> Maintenance:
    """What does it; ToolError where there is nothing of the kind."""
    found: Maintenance | None = ctx.services.get(UPKEEP_SERVICE)
    if found is None:
        raise ToolError(ErrorCode.UPSTREAM_ERROR, "nothing is kept here of what is known of projects")
    return found


async def run_in_thread(ctx: CallContext, work: Callable[[], Result]) -> Result:
    """What comes of work in a thread of its own, while others are answered; ToolError where it can't be done."""
    from anyio import to_thread

    try:
        return await to_thread.run_sync(work)
    except StoreError as error:
        raise make_store_refusal(error, ctx) from error


async def run_ingest_or_fail(ctx: CallContext, upkeep: Maintenance, wishes: IngestOptions) -> IngestRun:
    """The run, be it that it has failed; ToolError where there is nothing to tell of it."""
    from uuid import uuid4

    wishes = replace(wishes, run_id=uuid4().hex, default_profile=_MANUAL)

    def work() -> IngestRun:
        try:
            found = upkeep.ingest(wishes, _Telling(ctx))
            return found.run
        except (StoreError, QueryError):
            raise
        except DuvetError:
            failed = None if wishes.dry_run else upkeep.failed_run(wishes.run_id)
            if failed is None:
                raise
            return failed

    ##= man/spec/gateway.md#indexing-and-feedback
    ##% During an ingest run, the server MUST go on answering and report progress, and a cancelled run MUST leave the
    ##% index unchanged.
    return await run_in_thread(ctx, work)


class _Telling(Progress):
    """Tells the caller of each step, and stops the work once the call is cancelled."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._steps = 0
        self._last = 0.0

    def begin(self, step: str) -> None:
        self._steps += 1
        self.tell(0.0, step)

    def counted(self, step: str, count: int) -> CountedStep:
        self.begin(step)
        return _Parts(self, step, count)

    def tell(self, share: float, step: str) -> None:
        """So much of the step is done."""
        from anyio import from_thread

        # A run is long, and whoever has called may have left.
        from_thread.check_cancelled()
        now = time.monotonic()
        if self._ctx.caller.progress is ignore_progress or (share and now - self._last < _OFTEN):
            return
        self._last = now
        with suppress(Exception):
            # What goes wrong there is no reason to stop.
            from_thread.run(self._ctx.progress, self._steps + min(share, 0.999), None, step)


class _Parts(CountedStep):
    """Tells how many parts of a step are done."""

    def __init__(self, telling: _Telling, step: str, count: int) -> None:
        super().__init__(telling)
        self._telling = telling
        self._step = step
        self._count = count
        self._done = 0

    def advance(self, count: int = 1) -> None:
        self._done += count
        share = self._done / self._count if self._count else 0.0
        self._telling.tell(share, f"{self._step}: {self._done} of {self._count}")


_DESTINATION = (
    f"A folder, or a file that ends in {' or '.join(BACKUP_ENDINGS)}, in the project; by default the folder of backups"
)


class KmBackupTriggerInput(Struct, frozen=True, forbid_unknown_fields=True):
    destination: Annotated[str, Meta(description=_DESTINATION)] | None = None


class KmBackupTriggerOutput(Struct, frozen=True, kw_only=True):
    """The archive."""

    status: str = "ok"
    archive: str
    """Its path in the project, or else on the machine."""
    size: int
    """In bytes."""


async def trigger_backup(asked: KmBackupTriggerInput, ctx: CallContext) -> ToolAnswer:
    """Make an archive of everything that is kept."""
    upkeep = require_maintenance(ctx)
    found = await run_in_thread(ctx, lambda: _made(upkeep, (asked.destination or "").strip()))
    shown = os.path.relpath(found.path, upkeep.places.root)
    archive = found.path if shown.startswith("..") else shown.replace(os.sep, "/")
    step = "`duvet restore` brings it back." if ctx.caller.face == SHELL_SOURCE else ""
    return ToolAnswer(value=KmBackupTriggerOutput(archive=archive, size=found.size), next_step=step)


def _made(upkeep: Maintenance, destination: str) -> Backup:
    places = upkeep.places
    at = os.path.join(places.root, destination) if destination else places.backups
    _check(places, at, destination)
    try:
        return create_backup(places, at, upkeep.now())
    except OutputExistsError as error:
        raise QueryError(f"{quote_text(shorten_text(destination))} is there already", hint=_DESTINATION) from error


def _check(places: StorePaths, at: str, said: str) -> None:
    ##= man/spec/gateway.md#backups
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    if "\0" in at or not any(leads_into_folder(folder, at) for folder in places.for_backups):
        hint = "backups go into the project, or below store.backups of the configuration"
        raise QueryError(f"{quote_text(shorten_text(said) or BACKUPS_FOLDER)} is outside of the project", hint=hint)
    check_backup_name(at)
    more = "" if at.endswith(BACKUP_ENDINGS) else f"/{BACKUP_PREFIX}"
    try:
        if leads_into_folder(places.backups, at):
            # How one comes there is nobody's business but the configuration's.
            check_destination(places.backups, os.path.relpath(at + more, places.backups).replace(os.sep, "/"))
            return
        check_destination(places.root, said.rstrip("/") + more)
        check_not_reserved(places, at)
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
_LONGEST, _MOST = 500, 16_384


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
    """What was kept."""

    status: str = "ok"
    request_id: str
    chunk_id: str
    vote: float | None
    note: str | None
    context: dict[str, Any] | None
    timestamp: str
    source: str


async def submit_feedback(asked: KmFeedbackSubmitInput, ctx: CallContext) -> ToolAnswer:
    """Keep what somebody says of a result."""
    request, chunk = _name("request_id", asked.request_id, _REQUEST), _name("chunk_id", asked.chunk_id, _CHUNK)
    if asked.context is not None and len(json.encode(asked.context)) > _MOST:
        raise ToolError(ErrorCode.INVALID_REQUEST, f"context has more than {_MOST:,} bytes", "say it in fewer words")
    upkeep = require_maintenance(ctx)
    vote = Vote(
        request_id=request,
        chunk_id=chunk,
        vote=asked.vote,
        note=asked.note,
        context=asked.context,
        timestamp=upkeep.now().isoformat(timespec="milliseconds"),
    )
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result, and warn when all
    ##% three are missing.
    await run_in_thread(ctx, lambda: submit_vote(upkeep.places, vote))
    warnings = filter(None, (_unsaid(vote), await _unknown(ctx, chunk)))
    return ToolAnswer(value=KmFeedbackSubmitOutput(**asdict(vote)), warning=" ".join(warnings))


def _unsaid(vote: Vote) -> str:
    """What to tell who says nothing."""
    is_something = vote.vote is not None or (vote.note or "").strip() or vote.context
    return "" if is_something else "That says nothing of the result: a vote from -1 to 1 or a note would."


def _name(argument: str, value: str, hint: str) -> str:
    found = require_argument(argument, value, hint)
    if len(found) > _LONGEST:
        raise ToolError(ErrorCode.INVALID_REQUEST, f"{argument} has more than {_LONGEST} characters", hint)
    return found


async def _unknown(ctx: CallContext, chunk: str) -> str:
    """What to say where there is no such piece."""
    path, _, ordinal = chunk.rpartition("::")

    def is_known(known: OpenStore) -> bool:
        return ordinal.isdecimal() and int(ordinal) < len(known.store.chunk_numbers(path))

    try:
        known = await ask_knowledge(ctx, is_known)
    except ToolError:
        # It is kept, and that is what counts.
        return ""
    return "" if known else "No piece is called so now; what you say of it is kept all the same."


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


async def trigger_ingest(asked: KmIngestTriggerInput, ctx: CallContext) -> ToolAnswer:
    """Take everything in that has changed."""
    if asked.paths is not None:
        ##= man/spec/gateway.md#indexing-and-feedback
        ##% `km-ingest-trigger` MUST index the project under the given `profile`, `ingest.profile` or `manual`, answer
        ##% as `km-ingest-status` does, and refuse `paths` as `unsupported_operation`.
        hint = "leave paths out: what has not changed is not read again"
        raise ToolError(ErrorCode.UNSUPPORTED_OPERATION, "Single paths can't be taken in on their own", hint)
    profile = "" if asked.profile is None else require_profile(asked.profile)
    wishes = IngestOptions(profile=profile, dry_run=asked.dry_run, dummy=asked.use_dummy_embeddings)
    run = await run_ingest_or_fail(ctx, require_maintenance(ctx), wishes)
    last = make_run_row(run)
    flat = {name: value for name, value in asdict(last).items() if value != ""}
    status = SUCCESS_STATUS if run.success else FAILURE_STATUS
    return ToolAnswer(
        value=KmIngestTriggerOutput(status=status, run=last, dry_run=asked.dry_run, **flat),
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
