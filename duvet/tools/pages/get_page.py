"""`get_page`"""

from __future__ import annotations

from bisect import bisect_right
from typing import Annotated

from msgspec import Meta, Struct, json

from duvet.errors import NotFoundError
from duvet.knowledge.pages.named import Requirement, requirements_of
from duvet.knowledge.pages.notes import Notes
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.faces import MCP
from duvet.tools.pages.notes import Slug, ask, notes, require_text, text_of
from duvet.tools.paging import MOST_BYTES
from duvet.tools.tool import Answer, Tool

HINT = "list_pages has the slugs"


_MOST = 4_000_000
"""Characters, and bytes of JSON: no answer has more of the text."""


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    slug: Slug
    offset: Annotated[int, Meta(ge=0, description="The character of the text to begin at")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="Characters of text")] | None = None


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True):
    slug: str
    title: str
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[Requirement, ...] | None = None
    next_offset: int | None = None


async def get(asked: Input, ctx: Ctx) -> Answer:
    """A page with its text and its links."""
    slug = require_text("slug", asked.slug, HINT)

    def question(context: Context, known: Notes) -> Answer:
        page = known.require(slug)
        text = text_of(context, page)
        if text is None:
            ##= man/spec/pages.md#hostile-input
            ##% A page that goes while it is read MUST be answered as one that is not found.
            raise NotFoundError(f"Page '{page.slug}' not found", hint="it was removed a moment ago")
        part = _part(text, asked, ctx.caller.face)
        content = _sendable(part)
        end = asked.offset + len(content)
        goes_on = end < len(text)
        is_cut = len(content) < len(part)
        more = f"The text goes on: give offset={end}{'' if is_cut else ', or a higher limit'}."
        return Answer(
            value=Output(
                slug=page.slug,
                title=page.title,
                content=content,
                outlinks=known.outlinks(page),
                backlinks=known.backlinks(page),
                requirements=requirements_of(known, page),
                next_offset=end if goes_on else None,
            ),
            next_step=more if goes_on else "",
            warning="The text is too long for one answer and was cut." if is_cut else "",
        )

    return await ask(ctx, notes, question)


def _part(text: str, asked: Input, face: str) -> str:
    ##= man/spec/pages.md#tools
    ##% `get_page` MUST answer the whole text unless `limit` says otherwise, and to clients of the Model Context Protocol
    ##% about 4,000 tokens of it, with where the rest begins.
    rest = text[asked.offset :]
    if asked.limit is not None:
        return rest[: asked.limit]
    if face != MCP or len(rest.encode()) <= MOST_BYTES:
        return rest
    return rest.encode()[:MOST_BYTES].decode(errors="ignore")


def _sendable(text: str) -> str:
    """As much of it as an answer has room for."""
    ##= man/spec/pages.md#tools
    ##% A text that is too long for one answer MUST be cut at 4,000,000 bytes of JSON, with a warning and with where the
    ##% rest begins.
    if len(json.encode(text)) <= _MOST:
        return text
    return text[: bisect_right(range(len(text)), _MOST, key=lambda end: len(json.encode(text[:end]))) - 1]


GET_PAGE = Tool(
    name="get_page",
    title="Page",
    description="A page with its text, its links, the requirements that it names and the code that cites these.",
    input=Input,
    output=Output,
    handler=get,
    labels=("pages",),
)
