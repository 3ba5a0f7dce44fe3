"""`km-graph-node`"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duvet.knowledge.graph.node import MOST_OTHERS, Around, Which, around
from duvet.knowledge.graph.shapes import Relationship, Shown
from duvet.knowledge.reports.shapes import Told
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code
from duvet.tools.knowledge.known import TOOL_LABELS, ask, most, require_text, room, within
from duvet.tools.tool import Answer, Tool

_USUAL, _MOST = 50, 200
_NODE_ID = "LABEL:KEY, such as DesignDoc:docs/README.md, Code:src/a.py, Subsystem:search, Requirement:3b42c44e or Chunk:src/a.py::0"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    node_id: Annotated[str, Meta(description=_NODE_ID)]
    relationships: Annotated[
        Literal["outgoing", "incoming", "all", "none"], Meta(description="Which edges of the node to tell of")
    ] = "outgoing"
    limit: Annotated[int, Meta(ge=1, description="Edges", extra_json_schema={"maximum": _MOST})] = _USUAL


class Output(Told, frozen=True, kw_only=True):
    node: Shown
    relationships: tuple[Relationship, ...]


async def node(asked: Input, ctx: Ctx) -> Answer:
    """A node of the graph with its edges."""
    name, limit = require_text("node_id", asked.node_id, _NODE_ID), most(asked.limit, _MOST)
    found = await ask(ctx, lambda known: around(known.store, name, Which(asked.relationships), limit))
    edges = tuple(within(found.relationships, room(ctx.caller.audience, limit, _USUAL)))
    is_cut = found.is_cut or len(edges) < len(found.relationships)
    more = "give a higher limit" if limit < _MOST else "more of them are never told at once"
    step = f"There are more edges than these {len(edges)}: {more}." if is_cut else _other_way(asked, found)
    return Answer(value=Output(node=found.node, relationships=edges), next_step=step)


def _other_way(asked: Input, found: Around) -> str:
    """Which edges there are where none were found."""
    if not found.others:
        return ""
    count = f"{found.others} or more" if found.others == MOST_OTHERS else str(found.others)
    direction = "incoming" if asked.relationships == "outgoing" else "outgoing"
    return f"{count} {direction} {'edge' if count == '1' else 'edges'}: relationships=all tells of them."


GRAPH_NODE = Tool(
    name="km-graph-node",
    title="Node of the graph",
    description="A file, piece of a file, subsystem, specification, section or requirement by its id, with the edges that "
    "connect it: what belongs to what, tests, describes, links to or cites it.",
    input=Input,
    output=Output,
    handler=node,
    labels=TOOL_LABELS,
    failures=(Code.INVALID_IDENTIFIER,),
)
