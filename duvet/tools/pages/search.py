"""`search`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.knowledge.pages.index import Index
from duvet.knowledge.pages.searching import Hit
from duvet.knowledge.pages.searching import search as found_in
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.pages.notes import ask, index, require_text
from duvet.tools.tool import Answer, Page, Tool


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="Words, or parts of words")]


async def search(asked: Input, ctx: Ctx) -> Answer:
    """The pages that hold all words of a query, the best first."""
    query = require_text("query", asked.query, "give a word")

    def question(context: Context, known: Index) -> Answer:
        hits = found_in(known, query)
        return Answer(value=hits, page=Page(len(hits)))

    return await ask(ctx, index, question)


SEARCH = Tool(
    name="search",
    title="Search pages",
    description="The pages with all words of a query in their title or text, the best 20, each with the place around "
    "the first one. For requirements there is search_requirements.",
    input=Input,
    output=tuple[Hit, ...],
    handler=search,
    labels=("pages",),
)
