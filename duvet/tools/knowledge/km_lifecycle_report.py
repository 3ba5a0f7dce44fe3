"""`km-lifecycle-report`"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from duvet.knowledge.knowledge import OpenStore
from duvet.knowledge.reports.facts import facts_in
from duvet.knowledge.reports.history import LIFECYCLE, history
from duvet.knowledge.reports.lifecycle import IsolatedNode, Lifecycle, LifecycleThen, lifecycle
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import MOST_HISTORY, TOOL_LABELS, Entries, History, ask, brief, most
from duvet.tools.knowledge.reporting import clock, cut, require_run
from duvet.tools.tool import Answer, Scope, Tool

_LISTS = 5


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    history: History = 0
    limit: Entries | None = None


async def report(asked: Input, ctx: Ctx) -> Answer:
    """What wants to be looked after."""
    now = clock(ctx)

    def question(known: OpenStore) -> Lifecycle:
        found = lifecycle(require_run(facts_in(known.store, known.rules.ingest)), now)
        if not asked.history:
            return found
        return replace(
            found, history=tuple(history(known.store, LIFECYCLE, LifecycleThen, most(asked.history, MOST_HISTORY)))
        )

    whole = await ask(ctx, question)
    shown = _brief(whole, asked.limit, ctx.caller.audience)
    return Answer(value=shown, warning=cut(whole, shown))


def _brief(whole: Lifecycle, limit: int | None, face: str) -> Lifecycle:
    return replace(
        whole,
        isolated=_isolated(whole.isolated, limit, face),
        stale_docs=brief(whole.stale_docs, limit, face, _LISTS),
        missing_tests=brief(whole.missing_tests, limit, face, _LISTS),
        removed_artifacts=brief(whole.removed_artifacts, limit, face, _LISTS),
        stale_requirements=brief(whole.stale_requirements, limit, face, _LISTS),
    )


def _isolated(
    nodes: Mapping[str, tuple[IsolatedNode, ...]], limit: int | None, face: str
) -> dict[str, tuple[IsolatedNode, ...]]:
    return {label: brief(some, limit, face, _LISTS * len(nodes)) for label, some in nodes.items()}


LIFECYCLE_REPORT = Tool(
    name="km-lifecycle-report",
    title="Lifecycle",
    description="Documents that nobody has changed for long, files that lead to nothing else, subsystems without tests, files "
    "that are gone, and requirements whose citing files have all grown old.",
    input=Input,
    output=Lifecycle,
    handler=report,
    ##= man/spec/knowledge.md#tools
    ##% `km-lifecycle-report` and `km-ingest-status` MUST be called by maintainers alone, and MUST be there in a pack that is
    ##% `read-only`: they change nothing.
    scope=Scope.MAINTAINER,
    reads=True,
    labels=TOOL_LABELS,
)
