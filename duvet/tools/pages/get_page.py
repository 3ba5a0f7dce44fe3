"""`get_page`"""

from __future__ import annotations

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.knowledge.pages.named import Requirement, requirements_of
from duvet.knowledge.pages.notes import Notes
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.pages.notes import Slug, ask, notes, require_text, text_of
from duvet.tools.tool import Answer, Tool

HINT = "list_pages has the slugs"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    slug: Slug


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True):
    slug: str
    title: str
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[Requirement, ...] | None = None


async def get(asked: Input, ctx: Ctx) -> Answer:
    """A page with its text and its links."""
    slug = require_text("slug", asked.slug, HINT)

    def question(context: Context, known: Notes) -> Answer:
        page = known.require(slug)
        content = text_of(context, page)
        if content is None:
            ##= man/spec/pages.md#hostile-input
            ##% A page that goes while it is read MUST be answered as one that is not found.
            raise NotFoundError(f"Page '{page.slug}' not found", hint="it was removed a moment ago")
        return Answer(
            value=Output(
                slug=page.slug,
                title=page.title,
                content=content,
                outlinks=known.outlinks(page),
                backlinks=known.backlinks(page),
                requirements=requirements_of(known, page),
            )
        )

    return await ask(ctx, notes, question)


GET_PAGE = Tool(
    name="get_page",
    title="Page",
    description="A page with its text, its links, the requirements that it names and the code that cites these.",
    input=Input,
    output=Output,
    handler=get,
    labels=("pages",),
)
