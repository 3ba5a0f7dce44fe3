"""`km-coverage-summary`"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from duvet.knowledge.knowledge import OpenStore
from duvet.knowledge.reports.coverage import Coverage, CoverageThen, coverage
from duvet.knowledge.reports.facts import facts_in
from duvet.knowledge.reports.history import COVERAGE, history
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import MOST_HISTORY, TOOL_LABELS, Entries, History, ask, brief, most
from duvet.tools.knowledge.reporting import clock, cut, require_run
from duvet.tools.tool import Answer, Tool

_ARTIFACTS, _OTHERS = 2, 4
"""One half of the answer for all files, a quarter for the missing and for the removed ones."""


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    history: History = 0
    limit: Entries | None = None


async def summary(asked: Input, ctx: Ctx) -> Answer:
    """Which files were taken in."""
    now = clock(ctx)

    def question(known: OpenStore) -> Coverage:
        facts = require_run(facts_in(known.store, known.rules.ingest, graph=False))
        report = coverage(facts, now)
        if not asked.history:
            return report
        return replace(
            report, history=tuple(history(known.store, COVERAGE, CoverageThen, most(asked.history, MOST_HISTORY)))
        )

    whole = await ask(ctx, question)
    face, limit = ctx.caller.audience, asked.limit
    report = replace(
        whole,
        artifacts=brief(whole.artifacts, limit, face, _ARTIFACTS),
        missing_artifacts=brief(whole.missing_artifacts, limit, face, _OTHERS),
        removed_artifacts=brief(whole.removed_artifacts, limit, face, _OTHERS),
    )
    return Answer(value=report, warning=cut(whole, report))


COVERAGE_SUMMARY = Tool(
    name="km-coverage-summary",
    title="Coverage of the files",
    description="How many files and pieces of files were taken in, of which kinds and how old, which files can't be searched "
    "and why, and which are gone.",
    input=Input,
    output=Coverage,
    handler=summary,
    labels=TOOL_LABELS,
)
