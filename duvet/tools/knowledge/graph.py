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
    RelatedNodes,
    Relationship,
    SubsystemQuery,
    find_node_edges,
    find_subsystem,
    search_nodes,
)
from duvet.knowledge.reports import KnowledgeAnswer
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.index import (
    TOOL_LABELS,
    ask_knowledge,
    cap_count,
    compute_row_budget,
    limit_rows,
    limit_rows_by_size,
)
from duvet.tools.tool import ErrorCode, Tool, ToolAnswer

_DEFAULT_EDGES, _MAX_EDGES = 50, 200
_NODE_ID = "LABEL:KEY, such as DesignDoc:docs/README.md, Code:src/a.py, Subsystem:search, Requirement:3b42c44e or Chunk:src/a.py::0"


class KmGraphNodeInput(Struct, frozen=True, forbid_unknown_fields=True):
    node_id: Annotated[str, Meta(description=_NODE_ID)]
    relationships: Annotated[
        Literal["outgoing", "incoming", "all", "none"], Meta(description="Which edges of the node to tell of")
    ] = "outgoing"
    limit: Annotated[int, Meta(ge=1, description="Edges", extra_json_schema={"maximum": _MAX_EDGES})] = _DEFAULT_EDGES


class KmGraphNodeOutput(KnowledgeAnswer, frozen=True, kw_only=True):
    node: NodeView
    relationships: tuple[Relationship, ...]


async def show_graph_node(arguments: KmGraphNodeInput, ctx: CallContext) -> ToolAnswer:
    name, limit = require_argument("node_id", arguments.node_id, _NODE_ID), cap_count(arguments.limit, _MAX_EDGES)
    selection = EdgeSelection(arguments.relationships)
    found = await ask_knowledge(ctx, lambda known: find_node_edges(known.store, name, selection, limit))
    budget = compute_row_budget(ctx.caller.audience, limit, _DEFAULT_EDGES)
    edges = tuple(limit_rows_by_size(found.relationships, budget))
    step = ""
    if found.is_cut or len(edges) < len(found.relationships):
        more = "give a higher limit" if limit < _MAX_EDGES else "more of them are never told at once"
        step = f"There are more edges than these {len(edges)}: {more}."
    elif found.others:
        count = f"{found.others} or more" if found.others == MAX_OTHERS else str(found.others)
        direction = "incoming" if arguments.relationships == "outgoing" else "outgoing"
        step = f"{count} {direction} {'edge' if count == '1' else 'edges'}: relationships=all tells of them."
    return ToolAnswer(value=KmGraphNodeOutput(node=found.node, relationships=edges), next_step=step)


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


_MAX_NODES = 50
_TERM = "A part of a name or a path, or of the text of a requirement"


class KmGraphSearchInput(Struct, frozen=True, forbid_unknown_fields=True):
    term: Annotated[str, Meta(description=_TERM)]
    limit: Annotated[int, Meta(ge=1, description="Nodes", extra_json_schema={"maximum": _MAX_NODES})] = 20


class KmGraphSearchOutput(KnowledgeAnswer, frozen=True, kw_only=True):
    results: tuple[FoundNode, ...]


async def search_graph(arguments: KmGraphSearchInput, ctx: CallContext) -> ToolAnswer:
    term, limit = require_argument("term", arguments.term, _TERM), cap_count(arguments.limit, _MAX_NODES)
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


_DEFAULT_RELATED, _MAX_RELATED, _MAX_HOPS = 25, 100, 5
_HALVES = 2
"""The related nodes get one half of the room, the files the other; without files, the nodes get all of it."""
_NAME = "The name of the subsystem, in whatever case"


class KmGraphSubsystemInput(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description=_NAME)]
    depth: Annotated[
        int, Meta(ge=0, description="How many edges away a node may be", extra_json_schema={"maximum": _MAX_HOPS})
    ] = 1
    limit: Annotated[int, Meta(ge=1, description="Related nodes", extra_json_schema={"maximum": _MAX_RELATED})] = (
        _DEFAULT_RELATED
    )
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


async def show_subsystem(arguments: KmGraphSubsystemInput, ctx: CallContext) -> ToolAnswer:
    name, limit = require_argument("name", arguments.name, _NAME), cap_count(arguments.limit, _MAX_RELATED)
    has_files = arguments.include_artifacts is not False
    space = compute_row_budget(ctx.caller.audience, limit, _DEFAULT_RELATED)
    query = SubsystemQuery(
        depth=cap_count(arguments.depth, _MAX_HOPS),
        limit=limit,
        cut=lambda nodes: limit_rows_by_size(nodes, space and space // (_HALVES if has_files else 1)),
        cursor=arguments.cursor,
        include_artifacts=has_files,
    )
    found = await ask_knowledge(ctx, lambda known: find_subsystem(known.store, name, query))
    artifacts = limit_rows(
        found.artifacts, MAX_SUBSYSTEM_ARTIFACTS if arguments.include_artifacts else None, ctx.caller.audience, _HALVES
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
