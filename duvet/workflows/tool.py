"""A workflow as a tool: what it is called, what it is told, and what it does."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from duvet.runs import Run
from duvet.tools.ctx import nobody
from duvet.tools.journal import Journal
from duvet.workflows.doing import Doing, Heard, Log, nowhere
from duvet.workflows.engine import run
from duvet.workflows.records import Workflow


async def run_workflow(
    workflow: Workflow,
    given: Struct | Mapping[str, object],
    doing: Doing,
    progress: Heard = nobody,
    log: Log = nowhere,
    journal: Journal | None = None,
) -> Run:
    """What comes of the workflow with these arguments, be they the record that `workflow_inputs` makes or by name."""
    named = msgspec.to_builtins(given) if isinstance(given, Struct) else given
    return await run(workflow, named, doing, progress=progress, log=log, journal=journal)
