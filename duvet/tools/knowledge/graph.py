"""`km-graph-node`, `km-graph-search` and `km-graph-subsystem`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duvet.knowledge.graph import (
    MAX_OTHERS,
    MAX_SUBSYSTEM_ARTIFACTS,
    EdgeSelection,
    FoundNode,
    NodeView,
    NodeWithEdges,
    RelatedNodes,
    Relationship,
    SubsystemQuery,
    find_node_edges,
    find_subsystem,
    search_nodes,
)
from duvet.knowledge.reports import KnowledgeAnswer
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import (
    TOOL_LABELS,
    ask_knowledge,
    cap_count,
    compute_row_budget,
    limit_rows,
    limit_rows_by_size,
    require_argument,
)
from duvet.tools.tool import ErrorCode, Tool, ToolAnswer

_USUAL, _MOST = 50, 200
_NODE_ID = "LABEL:KEY, such as DesignDoc:docs/README.md, Code:src/a.py, Subsystem:search, Requirement:3b42c44e or Chunk:src/a.py::0"


class KmGraphNodeInput(Struct, frozen=True, forbid_unknown_fields=True):
    node_id: Annotated[str, Meta(description=_NODE_ID)]
    relationships: Annotated[
        Literal["outgoing", "incoming", "all", "none"], Meta(description="Which edges of the node to tell of")
    ] = "outgoing"
    limit: Annotated[int, Meta(ge=1, description="Edges", extra_json_schema={"maximum": _MOST})] = _USUAL


class KmGraphNodeOutput(KnowledgeAnswer, frozen=True, kw_only=True):
    node: NodeView
    relationships: tuple[Relationship, ...]


async def show_graph_node(asked: KmGraphNodeInput, ctx: CallContext) -> ToolAnswer:
    """A node of the graph with its edges."""
    name, limit = require_argument("node_id", asked.node_id, _NODE_ID), cap_count(asked.limit, _MOST)
    found = await ask_knowledge(
        ctx, lambda known: find_node_edges(known.store, name, EdgeSelection(asked.relationships), limit)
    )
    edges = tuple(limit_rows_by_size(found.relationships, compute_row_budget(ctx.caller.audience, limit, _USUAL)))
    is_cut = found.is_cut or len(edges) < len(found.relationships)
    more = "give a higher limit" if limit < _MOST else "more of them are never told at once"
    step = f"There are more edges than these {len(edges)}: {more}." if is_cut else _other_way(asked, found)
    return ToolAnswer(value=KmGraphNodeOutput(node=found.node, relationships=edges), next_step=step)


def _other_way(asked: KmGraphNodeInput, found: NodeWithEdges) -> str:
    """Which edges there are where none were found."""
    if not found.others:
        return ""
    count = f"{found.others} or more" if found.others == MAX_OTHERS else str(found.others)
    direction = "incoming" if asked.relationships == "outgoing" else "outgoing"
    return f"{count} {direction} {'edge' if count == '1' else 'edges'}: relationships=all tells of them."


GRAPH_NODE = Tool(
    name="km-graph-node",
    title="Node of the graph",
    description="A file, piece of a file, subsystem, specification, section or requirement by its id, with the edges that "
    "connect it: what belongs to what, tests, describes, links to or cites it.",
    input=KmGraphNodeInput,
    output=KmGraphNodeOutput,
    handler=show_graph_node,
    labels=TOOL_LABELS,
    failures=(ErrorCode.INVALID_IDENTIFIER,),
)


_KM_GRAPH_SEARCH_MOST = 50
_TERM = "A part of a name or a path, or of the text of a requirement"


class KmGraphSearchInput(Struct, frozen=True, forbid_unknown_fields=True):
    term: Annotated[str, Meta(description=_TERM)]
    limit: Annotated[int, Meta(ge=1, description="Nodes", extra_json_schema={"maximum": _KM_GRAPH_SEARCH_MOST})] = 20


class KmGraphSearchOutput(KnowledgeAnswer, frozen=True, kw_only=True):
    results: tuple[FoundNode, ...]


async def search_graph(asked: KmGraphSearchInput, ctx: CallContext) -> ToolAnswer:
    """The nodes that are called so."""
    term, limit = require_argument("term", asked.term, _TERM), cap_count(asked.limit, _KM_GRAPH_SEARCH_MOST)
    found = await ask_knowledge(ctx, lambda known: search_nodes(known.store, term, limit))
    step = "km-graph-node tells of one of them by its id." if found else "km-search looks into the texts of files."
    return ToolAnswer(value=KmGraphSearchOutput(results=found), next_step=step)


GRAPH_SEARCH = Tool(
    name="km-graph-search",
    title="Search the graph",
    description="Subsystems, specifications, sections, requirements and files by a part of what they are called.",
    input=KmGraphSearchInput,
    output=KmGraphSearchOutput,
    handler=search_graph,
    labels=TOOL_LABELS,
)


_KM_GRAPH_SUBSYSTEM_USUAL, _KM_GRAPH_SUBSYSTEM_MOST, _DEEPEST = 25, 100, 5
_HALVES = 2
"""The related nodes have one half of the room, the files the other; without files they have it all."""
_NAME = "The name of the subsystem, in whatever case"


class KmGraphSubsystemInput(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description=_NAME)]
    depth: Annotated[
        int, Meta(ge=0, description="How many edges away a node may be", extra_json_schema={"maximum": _DEEPEST})
    ] = 1
    limit: Annotated[
        int, Meta(ge=1, description="Related nodes", extra_json_schema={"maximum": _KM_GRAPH_SUBSYSTEM_MOST})
    ] = _KM_GRAPH_SUBSYSTEM_USUAL
    cursor: Annotated[str, Meta(description="Where to go on, as the last answer has it")] | None = None
    include_artifacts: (
        Annotated[
            bool,
            Meta(description=f"Whether to list its files, {MAX_SUBSYSTEM_ARTIFACTS} at most; they are unless false"),
        ]
        | None
    ) = None


class KmGraphSubsystemOutput(KnowledgeAnswer, frozen=True, kw_only=True):
    subsystem: NodeView
    related: RelatedNodes
    artifacts: tuple[NodeView, ...]


async def show_subsystem(asked: KmGraphSubsystemInput, ctx: CallContext) -> ToolAnswer:
    """A subsystem with what is reached from it."""
    name, limit = require_argument("name", asked.name, _NAME), cap_count(asked.limit, _KM_GRAPH_SUBSYSTEM_MOST)
    has_files = asked.include_artifacts is not False
    space = compute_row_budget(ctx.caller.audience, limit, _KM_GRAPH_SUBSYSTEM_USUAL)
    wish = SubsystemQuery(
        depth=cap_count(asked.depth, _DEEPEST),
        limit=limit,
        cut=lambda nodes: limit_rows_by_size(nodes, space and space // (_HALVES if has_files else 1)),
        cursor=asked.cursor,
        include_artifacts=has_files,
    )
    found = await ask_knowledge(ctx, lambda known: find_subsystem(known.store, name, wish))
    artifacts = limit_rows(
        found.artifacts, MAX_SUBSYSTEM_ARTIFACTS if asked.include_artifacts else None, ctx.caller.audience, _HALVES
    )
    related = found.related
    more = f"{len(related.nodes)} of {related.total} related nodes shown; for more give cursor={related.cursor}."
    cut = f"{len(artifacts)} of {len(found.artifacts)} files shown: include_artifacts=true lists them."
    return ToolAnswer(
        value=KmGraphSubsystemOutput(subsystem=found.subsystem, related=related, artifacts=artifacts),
        next_step=more if related.cursor else "",
        warning=cut if len(artifacts) < len(found.artifacts) else "",
    )


GRAPH_SUBSYSTEM = Tool(
    name="km-graph-subsystem",
    title="Subsystem",
    description="A subsystem with its files, and with what is reached from it: each node with how far away it is and the way "
    "there. Parts of the list come page by page.",
    input=KmGraphSubsystemInput,
    output=KmGraphSubsystemOutput,
    handler=show_subsystem,
    labels=TOOL_LABELS,
)
