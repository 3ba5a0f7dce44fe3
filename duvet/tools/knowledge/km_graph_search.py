"""`km-graph-search`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.knowledge.graph.search import FoundNode, search
from duvet.knowledge.reports.shapes import Told
from duvet.tools.ctx import Ctx
from duvet.tools.knowledge.known import TOOL_LABELS, ask, most, require_text
from duvet.tools.tool import Answer, Tool

_MOST = 50
_TERM = "A part of a name or a path, or of the text of a requirement"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    term: Annotated[str, Meta(description=_TERM)]
    limit: Annotated[int, Meta(ge=1, description="Nodes", extra_json_schema={"maximum": _MOST})] = 20


class Output(Told, frozen=True, kw_only=True):
    results: tuple[FoundNode, ...]


async def find(asked: Input, ctx: Ctx) -> Answer:
    """The nodes that are called so."""
    term, limit = require_text("term", asked.term, _TERM), most(asked.limit, _MOST)
    found = await ask(ctx, lambda known: search(known.store, term, limit))
    step = "km-graph-node tells of one of them by its id." if found else "km-search looks into the texts of files."
    return Answer(value=Output(results=found), next_step=step)


GRAPH_SEARCH = Tool(
    name="km-graph-search",
    title="Search the graph",
    description="Subsystems, specifications, sections, requirements and files by a part of what they are called.",
    input=Input,
    output=Output,
    handler=find,
    labels=TOOL_LABELS,
)
