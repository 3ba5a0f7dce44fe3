"""`km-graph-subsystem`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.knowledge.graph.shapes import Shown
from duvet.knowledge.graph.subsystem import MOST_ARTIFACTS, RelatedNodes, Wish, subsystem
from duvet.knowledge.reports.shapes import Told
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import TOOL_LABELS, ask, brief, most, require_text, room, within
from duvet.tools.tool import Answer, Tool

_USUAL, _MOST, _DEEPEST = 25, 100, 5
_HALVES = 2
"""The related nodes have one half of the room, the files the other; without files they have it all."""
_NAME = "The name of the subsystem, in whatever case"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description=_NAME)]
    depth: Annotated[
        int, Meta(ge=0, description="How many edges away a node may be", extra_json_schema={"maximum": _DEEPEST})
    ] = 1
    limit: Annotated[int, Meta(ge=1, description="Related nodes", extra_json_schema={"maximum": _MOST})] = _USUAL
    cursor: Annotated[str, Meta(description="Where to go on, as the last answer has it")] | None = None
    include_artifacts: (
        Annotated[bool, Meta(description=f"Whether to list its files, {MOST_ARTIFACTS} at most; they are unless false")]
        | None
    ) = None


class Output(Told, frozen=True, kw_only=True):
    subsystem: Shown
    related: RelatedNodes
    artifacts: tuple[Shown, ...]


async def surroundings(asked: Input, ctx: Ctx) -> Answer:
    """A subsystem with what is reached from it."""
    name, limit = require_text("name", asked.name, _NAME), most(asked.limit, _MOST)
    has_files = asked.include_artifacts is not False
    space = room(ctx.caller.audience, limit, _USUAL)
    wish = Wish(
        depth=most(asked.depth, _DEEPEST),
        limit=limit,
        cut=lambda nodes: within(nodes, space and space // (_HALVES if has_files else 1)),
        cursor=asked.cursor,
        include_artifacts=has_files,
    )
    found = await ask(ctx, lambda known: subsystem(known.store, name, wish))
    artifacts = brief(
        found.artifacts, MOST_ARTIFACTS if asked.include_artifacts else None, ctx.caller.audience, _HALVES
    )
    related = found.related
    more = f"{len(related.nodes)} of {related.total} related nodes shown; for more give cursor={related.cursor}."
    cut = f"{len(artifacts)} of {len(found.artifacts)} files shown: include_artifacts=true lists them."
    return Answer(
        value=Output(subsystem=found.subsystem, related=related, artifacts=artifacts),
        next_step=more if related.cursor else "",
        warning=cut if len(artifacts) < len(found.artifacts) else "",
    )


GRAPH_SUBSYSTEM = Tool(
    name="km-graph-subsystem",
    title="Subsystem",
    description="A subsystem with its files, and with what is reached from it: each node with how far away it is and the way "
    "there. Parts of the list come page by page.",
    input=Input,
    output=Output,
    handler=surroundings,
    labels=TOOL_LABELS,
)
