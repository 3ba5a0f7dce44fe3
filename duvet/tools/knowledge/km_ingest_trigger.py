"""`km-ingest-trigger`"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from duvet.knowledge.ingest.profiles import require_profile
from duvet.knowledge.ingest.taking import Wishes
from duvet.knowledge.reports.runs import RunRow, row
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import TOOL_LABELS
from duvet.tools.knowledge.upkeep import FAILURE, SUCCESS, taken_in, upkeep_of
from duvet.tools.tool import Answer, Scope, Tool

_PROFILE = "What to call the run: up to 64 letters, digits, `.`, `-` and `_`; by default as configured, or manual"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description=_PROFILE)] | None = None
    dry_run: Annotated[bool, Meta(description="Whether to tell what there would be, and change nothing")] = False
    use_dummy_embeddings: Annotated[
        bool, Meta(description="Whether to make vectors without a model: they mean nothing, and show that it works")
    ] = False
    paths: Annotated[Any, Meta(description="Not supported: everything that has changed is taken in")] = None


class Output(Struct, frozen=True, kw_only=True):
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


async def trigger(asked: Input, ctx: Ctx) -> Answer:
    """Take everything in that has changed."""
    if asked.paths is not None:
        ##= man/spec/gateway.md#maintenance
        ##% `km-ingest-trigger` MUST take the project in and answer what came of it as `km-ingest-status` does, with the
        ##% status `success` or `failure`; with `paths` it MUST answer `unsupported_operation`.
        hint = "leave paths out: what has not changed is not read again"
        raise ToolError(Code.UNSUPPORTED_OPERATION, "Single paths can't be taken in on their own", hint)
    profile = "" if asked.profile is None else require_profile(asked.profile)
    wishes = Wishes(profile=profile, dry_run=asked.dry_run, dummy=asked.use_dummy_embeddings)
    run = await taken_in(ctx, upkeep_of(ctx), wishes)
    last = row(run)
    flat = {name: value for name, value in asdict(last).items() if value != ""}
    status = SUCCESS if run.success else FAILURE
    return Answer(
        value=Output(status=status, run=last, dry_run=asked.dry_run, **flat),
        warning="; ".join(run.warnings),
        next_step="" if run.success else "What was known before is as it was.",
    )


INGEST_TRIGGER = Tool(
    name="km-ingest-trigger",
    title="Take the project in",
    description="Takes in everything in the project that has changed, and answers when that is done. With dry_run nothing is "
    "changed.",
    input=Input,
    output=Output,
    handler=trigger,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    safety_notes=("It replaces what is known of the project.",),
    accountable=("profile", "dry_run", "use_dummy_embeddings"),
)
