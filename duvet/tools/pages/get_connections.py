"""`get_connections`"""

from __future__ import annotations

from msgspec import Struct

from duvet.knowledge.pages.named import Requirement, requirements_of
from duvet.knowledge.pages.notes import Edge, Node, Notes
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.pages.get_page import HINT
from duvet.tools.pages.notes import Slug, ask, notes, require_text
from duvet.tools.tool import Answer, Tool


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    slug: Slug


class LocalGraph(Struct, frozen=True):
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    slug: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    local_graph: LocalGraph
    requirements: tuple[Requirement, ...] | None = None


async def connections(asked: Input, ctx: Ctx) -> Answer:
    """What a page hangs together with."""
    slug = require_text("slug", asked.slug, HINT)

    def question(context: Context, known: Notes) -> Answer:
        page = known.require(slug)
        graph = known.graph(page)
        return Answer(
            value=Output(
                slug=page.slug,
                outlinks=known.outlinks(page),
                backlinks=known.backlinks(page),
                local_graph=LocalGraph(graph.nodes, graph.edges),
                requirements=requirements_of(known, page),
            )
        )

    return await ask(ctx, notes, question)


GET_CONNECTIONS = Tool(
    name="get_connections",
    title="Connections of a page",
    description="The pages that a page is linked with, as a small graph, and the requirements that it names.",
    input=Input,
    output=Output,
    handler=connections,
    labels=("pages",),
)
