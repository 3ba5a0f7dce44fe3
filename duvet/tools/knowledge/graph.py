"""Tools that show nodes of the graph; answers are cut to fit an agent's context."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from duvet.knowledge import graph, search_query
from duvet.text import format_count
from duvet.tools.arguments import require_argument
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge import index
from duvet.tools.tool import ErrorCode, ToolAnswer, ToolError

_DEFAULT_EDGES, _MAX_EDGES = 50, 200
_NODE_ID = "LABEL:KEY, such as DesignDoc:docs/README.md, Code:src/a.py, Subsystem:search, Requirement:3b42c44e or Chunk:src/a.py::0"
_MAX_NODES = 50
_DEPTH = "Maximum number of edges between the subsystem and a related node"
_TERM = "Part of a name, path or requirement text"
_DEFAULT_RELATED, _MAX_RELATED, _MAX_HOPS = 25, 100, 5
_HALVES = 2  # Related nodes and files get half of the room each; without files, the nodes get all of it.
_NAME = "The name of the subsystem; case is ignored"
_FILES = f"List the files of the subsystem, at most {graph.MAX_SUBSYSTEM_ARTIFACTS} [default: as many as fit]"


class KmGraphNodeInput(Struct, frozen=True, forbid_unknown_fields=True):
    node_id: Annotated[str, Meta(description=_NODE_ID)]
    relationships: Annotated[graph.EdgeSelection, Meta(description="Which edges of the node to return")] = "outgoing"
    limit: Annotated[int, index.describe_limit("Maximum number of edges", _MAX_EDGES)] = _DEFAULT_EDGES


class KmGraphNodeOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    node: search_query.NodeView
    relationships: tuple[search_query.Relationship, ...]


@index.declare_knowledge_tool(
    "km-graph-node", "Graph node", KmGraphNodeInput, KmGraphNodeOutput, failures=(ErrorCode.INVALID_IDENTIFIER,)
)
async def show_graph_node(arguments: KmGraphNodeInput, ctx: CallContext) -> ToolAnswer:
    """Return a graph node (file, chunk, subsystem, specification, section or requirement) by its id, with its edges,
    such as BELONGS_TO, LINKS_TO or CITES."""
    name, limit = require_argument("node_id", arguments.node_id, _NODE_ID), min(arguments.limit, _MAX_EDGES)
    try:
        found = await index.ask_knowledge(
            ctx, lambda known: graph.find_node_edges(known.store, name, arguments.relationships, limit)
        )
    except graph.IdentifierError as error:
        raise ToolError(ErrorCode.INVALID_IDENTIFIER, error.message, error.hint) from error
    budget = index.compute_row_budget(ctx.caller.audience, limit, _DEFAULT_EDGES)
    edges = tuple(index.limit_rows_by_size(found.relationships, budget))
    step = ""
    if found.is_cut or len(edges) < len(found.relationships):
        more = "raise limit for more" if limit < _MAX_EDGES else "an answer can't contain more"
        step = f"Only {format_count(len(edges), 'edge')} shown; {more}."
    elif found.others:
        more = " or more" if found.others == graph.MAX_OTHERS else ""
        direction = "incoming" if arguments.relationships == "outgoing" else "outgoing"
        noun = "edge" if found.others == 1 else "edges"
        step = f"{found.others}{more} {direction} {noun} not shown; set relationships=all for all edges."
    return ToolAnswer(value=KmGraphNodeOutput(node=found.node, relationships=edges), next_step=step)


class KmGraphSearchInput(Struct, frozen=True, forbid_unknown_fields=True):
    term: Annotated[str, Meta(description=_TERM)]
    limit: Annotated[int, index.describe_limit("Maximum number of nodes", _MAX_NODES)] = 20


class KmGraphSearchOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    results: tuple[graph.FoundNode, ...]


@index.declare_knowledge_tool("km-graph-search", "Search the graph", KmGraphSearchInput, KmGraphSearchOutput)
async def search_graph(arguments: KmGraphSearchInput, ctx: CallContext) -> ToolAnswer:
    """Find subsystems, specifications, sections, requirements and files by part of their name, path or text."""
    term, limit = require_argument("term", arguments.term, _TERM), min(arguments.limit, _MAX_NODES)
    found = await index.ask_knowledge(ctx, lambda known: graph.search_nodes(known.store, term, limit))
    step = (
        "km-graph-node returns a node by its id, with its edges." if found else "km-search searches the texts of files."
    )
    return ToolAnswer(value=KmGraphSearchOutput(results=found), next_step=step)


class KmGraphSubsystemInput(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description=_NAME)]
    depth: Annotated[int, index.describe_limit(_DEPTH, _MAX_HOPS, least=0)] = 1
    limit: Annotated[int, index.describe_limit("Maximum number of related nodes", _MAX_RELATED)] = _DEFAULT_RELATED
    cursor: Annotated[str, Meta(description="The cursor of the previous answer")] | None = None
    include_artifacts: Annotated[bool | None, Meta(description=_FILES)] = None


@index.declare_knowledge_tool("km-graph-subsystem", "Subsystem", KmGraphSubsystemInput, graph.SubsystemView)
async def show_subsystem(arguments: KmGraphSubsystemInput, ctx: CallContext) -> ToolAnswer:
    """Return a subsystem, its files, and its related nodes with their distance and path. The list of nodes is paged."""
    name, limit = require_argument("name", arguments.name, _NAME), min(arguments.limit, _MAX_RELATED)
    has_files = arguments.include_artifacts is not False
    space = index.compute_row_budget(ctx.caller.audience, limit, _DEFAULT_RELATED)
    found = await index.ask_knowledge(
        ctx,
        lambda known: graph.find_subsystem(
            known.store,
            name,
            depth=min(arguments.depth, _MAX_HOPS),
            limit=limit,
            cursor=arguments.cursor,
            include_artifacts=has_files,
            cut=lambda nodes: index.limit_rows_by_size(nodes, space and space // (_HALVES if has_files else 1)),
        ),
    )
    artifacts = index.limit_rows(
        found.artifacts,
        graph.MAX_SUBSYSTEM_ARTIFACTS if arguments.include_artifacts else None,
        ctx.caller.audience,
        _HALVES,
    )
    related = found.related
    more = f"{len(related.nodes)} of {related.total} related nodes shown; for more, set cursor={related.cursor}."
    cut = f"{len(artifacts)} of {len(found.artifacts)} files shown; for more, set include_artifacts=true."
    return ToolAnswer(
        value=replace(found, artifacts=artifacts),
        next_step=more if related.cursor else "",
        warning=cut if len(artifacts) < len(found.artifacts) else "",
    )
