"""The pages pack: list, get, search, connections, ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, json
from msgspec.structs import replace

from duvet.errors import NotFoundError, UnreadableError
from duvet.knowledge.pages.catalogue import (
    PageCollection,
    PageEdge,
    PageNode,
    PageRequirement,
    find_page_requirements,
    load_pages,
)
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import Page, decode_page_body
from duvet.knowledge.pages.search import (
    PageHit,
    PageIndex,
    extract_stems,
    find_passage,
    find_relevant_pages,
)
from duvet.knowledge.pages.search import (
    search_pages as found_in,
)
from duvet.llm.ask import ASK_TASK, MAX_SOURCE_CHARACTERS, AnswerSource, KnownSources, answer_question, fit_sources
from duvet.llm.records import ModelRequest, NoModelError
from duvet.llm.router import StaticRouter
from duvet.tools.call_context import CallContext
from duvet.tools.context import ProjectSnapshot
from duvet.tools.paging import MAX_PAGE_BYTES, PageRequest, describe_rest, make_result_page
from duvet.tools.tool import (
    MCP_SOURCE,
    MODELS_SERVICE,
    REST_SOURCE,
    ErrorCode,
    MissingArgumentError,
    Pack,
    ResultPage,
    Tool,
    ToolAnswer,
    ToolError,
)
from duvet.tools.trace.requirements import ListArguments

PageFacts = TypeVar("PageFacts")
Result = TypeVar("Result")

SlugArgument = Annotated[str, Meta(description="The slug of a page, as list_pages has it")]


class PageListRow(Struct, frozen=True):
    """A page in a list."""

    slug: str
    title: str


def make_page_list_row(page: Page) -> PageListRow:
    return PageListRow(page.slug, page.title)


def load_page_collection(context: ProjectSnapshot) -> PageCollection:
    """The pages, and how they hang together."""
    earlier = context.earlier(load_page_collection)
    project = context.project
    shelf = load_pages(project, find_page_files(project), earlier.store if earlier else None)
    return PageCollection(shelf, context.catalogue)


def load_page_index(context: ProjectSnapshot) -> PageIndex:
    """The same, with the words in them."""
    return PageIndex(
        context.read(load_page_collection), lambda page: read_page_body(context, page), context.earlier(load_page_index)
    )


def read_page_body(context: ProjectSnapshot, page: Page) -> str | None:
    """The text of a page without its front matter; None where it is gone."""
    project = context.project
    # What it looked like is on record already: the tree has nothing to add.
    tree = project.disk if project.on_disk else project.tree
    with suppress(UnreadableError):
        return decode_page_body(tree.read(page.path), page.path)
    return None


async def answer_from_pages(
    ctx: CallContext,
    read: Callable[[ProjectSnapshot], PageFacts],
    question: Callable[[ProjectSnapshot, PageFacts], Result],
) -> Result:
    """What the pages answer; while they are read, others are not kept waiting."""
    context = await ctx.reading()
    if not context.has_read(read):
        from anyio import to_thread

        await to_thread.run_sync(context.read, read)
    return await ctx.ask(lambda now: question(now, now.read(read)))


def require_page_argument(argument: str, value: str, hint: str) -> str:
    """What was given; an error where that is blank."""
    ##= man/spec/pages.md#tools
    ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty required
    ##% argument.
    if not value.strip():
        raise MissingArgumentError(argument, hint)
    return value.strip()


AI_UNAVAILABLE = "AI search is not available"
NO_PAGES_FOUND = "No relevant information found in the knowledge base."


class AskPagesInput(Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[str, Meta(description="In plain words")]


class AskPagesOutput(Struct, frozen=True):
    answer: str
    sources: tuple[PageListRow, ...]


async def ask_pages(asked: AskPagesInput, ctx: CallContext) -> ToolAnswer:
    """What a model makes of the pages."""
    question = require_page_argument("question", asked.question, "ask something")
    router = _router(ctx)
    sources, rows = await answer_from_pages(
        ctx, load_page_index, lambda context, known: _found(context, known, question)
    )
    if not sources:
        return ToolAnswer(value=AskPagesOutput(NO_PAGES_FOUND, ()))
    found = await answer_question(question, KnownSources(sources), router)
    ##= man/spec/pages.md#tools
    ##% `ask` MUST name the pages that it gave to the model, answer `upstream_error` without a model, and say so without
    ##% calling one when it finds no page.
    return ToolAnswer(value=AskPagesOutput(found.answer or NO_PAGES_FOUND, rows), next_step=" ".join(found.warnings))


def _router(ctx: CallContext) -> StaticRouter:
    router: StaticRouter | None = ctx.services.get(MODELS_SERVICE)
    try:
        if router is None:
            raise NoModelError()
        router.pick(ModelRequest(task=ASK_TASK))
    except NoModelError as error:
        raise ToolError(ErrorCode.UPSTREAM_ERROR, AI_UNAVAILABLE, error.hint) from error
    return router


def _found(
    context: ProjectSnapshot, known: PageIndex, question: str
) -> tuple[tuple[AnswerSource, ...], tuple[PageListRow, ...]]:
    stems = extract_stems(question)
    sources = fit_sources(_sources(known, question, stems), MAX_SOURCE_CHARACTERS)
    # Two pages may have one title, but not one path.
    slugs = {page.path: page for page in known.collection.pages}
    return sources, tuple(PageListRow(slugs[one.file_path].slug, slugs[one.file_path].title) for one in sources)


def _sources(known: PageIndex, question: str, stems: tuple[str, ...]) -> Iterator[AnswerSource]:
    for page in find_relevant_pages(known, question):
        text, lines = find_passage(known.read(page) or "", stems)
        yield AnswerSource(
            number=0,
            kind="page",
            title=page.title,
            full_path=None,
            file_path=page.path,
            line_number=1 + lines,
            text=text,
        )


ASK = Tool(
    name="ask",
    title="Ask the pages",
    description="What a model answers from the pages, with the pages that it was shown as its sources.",
    input=AskPagesInput,
    output=AskPagesOutput,
    handler=ask_pages,
    labels=("pages",),
)


PAGES_HINT = "list_pages has the slugs"


_MOST = 4_000_000
"""Characters, and bytes of JSON: no answer has more of the text."""


class GetPageInput(Struct, frozen=True, forbid_unknown_fields=True):
    slug: SlugArgument
    offset: Annotated[int, Meta(ge=0, description="The character of the text to begin at")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MOST, description="Characters of text")] | None = None


class GetPageOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    slug: str
    title: str
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[PageRequirement, ...] | None = None
    next_offset: int | None = None


async def get_page(asked: GetPageInput, ctx: CallContext) -> ToolAnswer:
    """A page with its text and its links."""
    slug = require_page_argument("slug", asked.slug, PAGES_HINT)

    def question(context: ProjectSnapshot, known: PageCollection) -> ToolAnswer:
        page = known.require(slug)
        text = read_page_body(context, page)
        if text is None:
            raise NotFoundError(f"Page '{page.slug}' not found", hint="it was removed a moment ago")
        part = _part(text, asked, ctx.caller.face)
        content = _sendable(part)
        end = asked.offset + len(content)
        goes_on = end < len(text)
        is_cut = len(content) < len(part)
        more = f"The text goes on: give offset={end}{'' if is_cut else ', or a higher limit'}."
        return ToolAnswer(
            value=GetPageOutput(
                slug=page.slug,
                title=page.title,
                content=content,
                outlinks=known.outlinks(page),
                backlinks=known.backlinks(page),
                requirements=find_page_requirements(known, page),
                next_offset=end if goes_on else None,
            ),
            next_step=more if goes_on else "",
            warning="The text is too long for one answer and was cut." if is_cut else "",
        )

    return await answer_from_pages(ctx, load_page_collection, question)


def _part(text: str, asked: GetPageInput, face: str) -> str:
    ##= man/spec/pages.md#tools
    ##% `get_page` MUST return the whole text of a page, or about 4,000 tokens to MCP clients, unless `limit` is given,
    ##% and say where the rest begins.
    rest = text[asked.offset :]
    if asked.limit is not None:
        return rest[: asked.limit]
    if face != MCP_SOURCE or len(rest.encode()) <= MAX_PAGE_BYTES:
        return rest
    return rest.encode()[:MAX_PAGE_BYTES].decode(errors="ignore")


def _sendable(text: str) -> str:
    """As much of it as an answer has room for."""
    if len(json.encode(text)) <= _MOST:
        return text
    return text[: bisect_right(range(len(text)), _MOST, key=lambda end: len(json.encode(text[:end]))) - 1]


GET_PAGE = Tool(
    name="get_page",
    title="Page",
    description="A page with its text, its links, the requirements that it names and the code that cites these.",
    input=GetPageInput,
    output=GetPageOutput,
    handler=get_page,
    labels=("pages",),
)


class GetConnectionsInput(Struct, frozen=True, forbid_unknown_fields=True):
    slug: SlugArgument


class LocalGraph(Struct, frozen=True):
    nodes: tuple[PageNode, ...]
    edges: tuple[PageEdge, ...]


class GetConnectionsOutput(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    slug: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    local_graph: LocalGraph
    requirements: tuple[PageRequirement, ...] | None = None


async def get_connections(asked: GetConnectionsInput, ctx: CallContext) -> ToolAnswer:
    """What a page hangs together with."""
    slug = require_page_argument("slug", asked.slug, PAGES_HINT)

    def question(context: ProjectSnapshot, known: PageCollection) -> ToolAnswer:
        page = known.require(slug)
        graph = known.graph(page)
        return ToolAnswer(
            value=GetConnectionsOutput(
                slug=page.slug,
                outlinks=known.outlinks(page),
                backlinks=known.backlinks(page),
                local_graph=LocalGraph(graph.nodes, graph.edges),
                requirements=find_page_requirements(known, page),
            )
        )

    return await answer_from_pages(ctx, load_page_collection, question)


GET_CONNECTIONS = Tool(
    name="get_connections",
    title="Connections of a page",
    description="The pages that a page is linked with, as a small graph, and the requirements that it names.",
    input=GetConnectionsInput,
    output=GetConnectionsOutput,
    handler=get_connections,
    labels=("pages",),
)


_NAME = "list_pages"


async def list_pages(asked: ListArguments, ctx: CallContext) -> ToolAnswer:
    """All pages, the newest first."""

    def question(context: ProjectSnapshot, known: PageCollection) -> ToolAnswer:
        size = 0 if ctx.caller.face == REST_SOURCE else context.page_size
        wish = PageRequest((_NAME, replace(asked, limit=None, cursor=None)), asked.cursor, asked.limit, size)
        rows, page = make_result_page(context.once(_rows), wish, key=lambda one: one.slug, row=lambda one: one)
        return ToolAnswer(value=rows, page=page, next_step=describe_rest(len(rows), page))

    return await answer_from_pages(ctx, load_page_collection, question)


def _rows(context: ProjectSnapshot) -> list[PageListRow]:
    return [make_page_list_row(page) for page in context.read(load_page_collection).pages]


LIST_PAGES = Tool(
    name=_NAME,
    title="List pages",
    description="The design notes, decisions and runbooks of the project, the newest first.",
    input=ListArguments,
    output=tuple[PageListRow, ...],
    handler=list_pages,
    labels=("pages",),
)


class SearchPagesInput(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="Words, or parts of words")]


async def run_page_search(asked: SearchPagesInput, ctx: CallContext) -> ToolAnswer:
    """The pages that hold all words of a query, the best first."""
    query = require_page_argument("query", asked.query, "give a word")

    def question(context: ProjectSnapshot, known: PageIndex) -> ToolAnswer:
        hits = found_in(known, query)
        return ToolAnswer(value=hits, page=ResultPage(len(hits)))

    return await answer_from_pages(ctx, load_page_index, question)


SEARCH_PAGES = Tool(
    name="search",
    title="Search pages",
    description="The pages with all words of a query in their title or text, the best 20, each with the place around "
    "the first one. For requirements there is search_requirements.",
    input=SearchPagesInput,
    output=tuple[PageHit, ...],
    handler=run_page_search,
    labels=("pages",),
)


PAGES = Pack(
    "pages",
    (LIST_PAGES, GET_PAGE, SEARCH_PAGES, ASK, GET_CONNECTIONS),
    "Notes that link to one another and to requirements",
)
