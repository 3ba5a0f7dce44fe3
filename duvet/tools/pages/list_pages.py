"""`list_pages`"""

from __future__ import annotations

from msgspec.structs import replace

from duvet.knowledge.pages.notes import Notes
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.faces import REST
from duvet.tools.pages.notes import Row, ask, notes, row
from duvet.tools.paging import Wish, more, page_of
from duvet.tools.tool import Answer, Tool
from duvet.tools.trace.arguments import Part

_NAME = "list_pages"


async def pages(asked: Part, ctx: Ctx) -> Answer:
    """All pages, the newest first."""

    def question(context: Context, known: Notes) -> Answer:
        ##= man/spec/pages.md#tools
        ##% By `/api/mcp`, `list_pages` MUST answer all pages unless `limit` says otherwise.
        size = 0 if ctx.caller.face == REST else context.page_size
        wish = Wish((_NAME, replace(asked, limit=None, cursor=None)), asked.cursor, asked.limit, size)
        rows, page = page_of(context.once(_rows), wish, key=lambda one: one.slug, row=lambda one: one)
        return Answer(value=rows, page=page, next_step=more(len(rows), page))

    return await ask(ctx, notes, question)


def _rows(context: Context) -> list[Row]:
    return [row(page) for page in context.read(notes).pages]


LIST_PAGES = Tool(
    name=_NAME,
    title="List pages",
    description="The design notes, decisions and runbooks of the project, the newest first.",
    input=Part,
    output=tuple[Row, ...],
    handler=pages,
    labels=("pages",),
)
