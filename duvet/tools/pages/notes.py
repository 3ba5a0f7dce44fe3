"""What the tools about pages are asked of: the pages as they are now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from duvet.errors import UnreadableError
from duvet.knowledge.pages.files import find_pages
from duvet.knowledge.pages.index import Index
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.parsing import body_of
from duvet.knowledge.pages.records import Page
from duvet.knowledge.pages.shelf import shelf_of
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.errors import MissingArgumentError

Known = TypeVar("Known")
Result = TypeVar("Result")

Slug = Annotated[str, Meta(description="The slug of a page, as list_pages has it")]


class Row(Struct, frozen=True):
    """A page in a list."""

    slug: str
    title: str


def row(page: Page) -> Row:
    return Row(page.slug, page.title)


def notes(context: Context) -> Notes:
    """The pages, and how they hang together."""
    earlier = context.earlier(notes)
    project = context.project
    shelf = shelf_of(project, find_pages(project), earlier.shelf if earlier else None)
    return Notes(shelf, context.catalogue)


def index(context: Context) -> Index:
    """The same, with the words in them."""
    return Index(context.read(notes), lambda page: text_of(context, page), context.earlier(index))


def text_of(context: Context, page: Page) -> str | None:
    """The text of a page without its front matter; None where it is gone."""
    project = context.project
    # What it looked like is on record already: the tree has nothing to add.
    tree = project.disk if project.on_disk else project.tree
    with suppress(UnreadableError):
        return body_of(tree.read(page.path), page.path)
    return None


async def ask(ctx: Ctx, read: Callable[[Context], Known], question: Callable[[Context, Known], Result]) -> Result:
    """What the pages answer; while they are read, others are not kept waiting."""
    context = await ctx.reading()
    if not context.has_read(read):
        from anyio import to_thread

        await to_thread.run_sync(context.read, read)
    return await ctx.ask(lambda now: question(now, now.read(read)))


def require_text(argument: str, value: str, hint: str) -> str:
    """What was given; an error where that is blank."""
    ##= man/spec/pages.md#tools
    ##% A required argument that is empty or blank MUST be refused as one that is missing.
    if not value.strip():
        raise MissingArgumentError(argument, hint)
    return value.strip()
