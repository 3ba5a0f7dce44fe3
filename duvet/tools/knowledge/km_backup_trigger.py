"""`km-backup-trigger`"""

from __future__ import annotations

import os
from typing import Annotated

from msgspec import Meta, Struct

from duvet.errors import QueryError, TakenError
from duvet.knowledge.upkeep.backup import Backup, back_up, check_name
from duvet.knowledge.upkeep.destinations import check_not_own, checked
from duvet.knowledge.upkeep.places import BACKUP, BACKUPS, ENDINGS, Places
from duvet.knowledge.upkeep.upkeep import Upkeep
from duvet.text import quoted, shortened
from duvet.tools.ctx import Ctx
from duvet.tools.faces import SHELL
from duvet.tools.knowledge.known import TOOL_LABELS
from duvet.tools.knowledge.upkeep import at_work, upkeep_of
from duvet.tools.tool import Answer, Scope, Tool
from duvet.tree.inside import leads_inside

_DESTINATION = (
    f"A folder, or a file that ends in {' or '.join(ENDINGS)}, in the project; by default the folder of backups"
)


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    destination: Annotated[str, Meta(description=_DESTINATION)] | None = None


class Output(Struct, frozen=True, kw_only=True):
    """The archive."""

    status: str = "ok"
    archive: str
    """Its path in the project, or else on the machine."""
    size: int
    """In bytes."""


async def backup(asked: Input, ctx: Ctx) -> Answer:
    """Make an archive of everything that is kept."""
    upkeep = upkeep_of(ctx)
    found = await at_work(ctx, lambda: _made(upkeep, (asked.destination or "").strip()))
    shown = os.path.relpath(found.path, upkeep.places.root)
    archive = found.path if shown.startswith("..") else shown.replace(os.sep, "/")
    step = "`duvet restore` brings it back." if ctx.caller.face == SHELL else ""
    return Answer(value=Output(archive=archive, size=found.size), next_step=step)


def _made(upkeep: Upkeep, destination: str) -> Backup:
    places = upkeep.places
    at = os.path.join(places.root, destination) if destination else places.backups
    _check(places, at, destination)
    try:
        return back_up(places, at, upkeep.now())
    except TakenError as error:
        raise QueryError(f"{quoted(shortened(destination))} is there already", hint=_DESTINATION) from error


def _check(places: Places, at: str, said: str) -> None:
    ##= man/spec/gateway.md#maintenance
    ##% `km-backup-trigger` MUST write to the project and to the configured folder of backups and nowhere else, and MUST
    ##% NOT replace a file.
    if "\0" in at or not any(leads_inside(folder, at) for folder in places.for_backups):
        hint = "backups go into the project, or below store.backups of the configuration"
        raise QueryError(f"{quoted(shortened(said) or BACKUPS)} is outside of the project", hint=hint)
    check_name(at)
    more = "" if at.endswith(ENDINGS) else f"/{BACKUP}"
    try:
        if leads_inside(places.backups, at):
            # How one comes there is nobody's business but the configuration's.
            checked(places.backups, os.path.relpath(at + more, places.backups).replace(os.sep, "/"))
            return
        ##= man/spec/gateway.md#maintenance
        ##% What is refused as a destination of files that are handed in MUST be refused as one of `km-backup-trigger`, too, but
        ##% for the folders of backups.
        checked(places.root, said.rstrip("/") + more)
        check_not_own(places, at)
    except QueryError as error:
        error.hint = _DESTINATION
        raise


BACKUP_TRIGGER = Tool(
    name="km-backup-trigger",
    title="Back up what is known",
    description="Makes an archive of what is known of the project, with the feedback on it, and answers where it is. Others are "
    "answered meanwhile, and a run may go on.",
    input=Input,
    output=Output,
    handler=backup,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    labels=TOOL_LABELS,
    accountable=("destination",),
)
