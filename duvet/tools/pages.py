"""The pages pack: tools that list, read and search Markdown notes, show their links, and answer questions from them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, json, structs

from duvet.errors import NotFoundError, UnreadableError
from duvet.knowledge.pages import catalogue, files, search
from duvet.knowledge.pages.page import Page, decode_page_body, make_page_filter
from duvet.llm.ask import ASK_TASK, MAX_SOURCE_CHARACTERS, AnswerSource, answer_question, fit_sources
from duvet.llm.records import ModelRequest, NoModelError
from duvet.llm.router import StaticRouter
from duvet.tools import call_context, tool
from duvet.tools.arguments import require_argument
from duvet.tools.context import ProjectSnapshot
from duvet.tools.trace.requirements import ListArguments, make_list_answer

_declare = partial(tool.declare_tool, labels=("pages",))

PageFacts = TypeVar("PageFacts")
Result = TypeVar("Result")
Entry = TypeVar("Entry")

SlugArgument = Annotated[str, Meta(description="The slug of a page, from list_pages")]
NO_PAGES_FOUND = "No relevant information found in the knowledge base."
PAGES_HINT = "find the slug with list_pages"


_MAX_SOURCES = 5
_MAX_ENTRIES = 100  # The most entries of each list in an answer to an MCP client.
_MAX_FIELDS = 10_000  # The most bytes of front matter in an answer to an MCP client.
_MAX_TEXT = 4_000_000  # The most characters, and bytes of JSON, of the text in an answer.


class PageListRow(Struct, frozen=True):
    slug: str
    title: str


def load_page_collection(context: ProjectSnapshot) -> catalogue.PageCollection:
    earlier = context.earlier(load_page_collection)
    before = earlier.store if earlier else None
    found = files.find_page_files(context.project, before.files if before else None)
    return catalogue.PageCollection(catalogue.load_pages(context.project, found, before), context.catalogue)


def load_page_index(context: ProjectSnapshot) -> search.PageIndex:
    return search.PageIndex(
        context.read(load_page_collection), lambda page: read_page_body(context, page), context.earlier(load_page_index)
    )


def read_page_body(context: ProjectSnapshot, page: Page) -> str | None:
    project = context.project
    # The tree has already recorded the page.
    tree = project.disk if project.on_disk else project.tree
    with suppress(UnreadableError):
        return decode_page_body(tree.read(page.path), page.path)
    return None


async def answer_from_pages(
    ctx: call_context.CallContext,
    read: Callable[[ProjectSnapshot], PageFacts],
    question: Callable[[ProjectSnapshot, PageFacts], Result],
) -> Result:
    context = await ctx.readings.context()
    if not context.has_read(read):
        # A thread keeps the event loop free.
        await call_context.run_blocking(lambda: context.read(read))
    return await ctx.readings.ask(lambda now: question(now, now.read(read)))


class AskPagesInput(Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[str, Meta(description="The question, in plain language")]


class AskPagesOutput(Struct, frozen=True):
    answer: str
    sources: tuple[PageListRow, ...]


@_declare("ask", "Ask the pages", AskPagesInput, AskPagesOutput)
async def ask_pages(arguments: AskPagesInput, ctx: call_context.CallContext) -> tool.ToolAnswer:
    """Answer a question with a language model that reads the most relevant pages. `sources` lists these pages."""
    question = require_argument("question", arguments.question, "set it to your question")
    router: StaticRouter | None = ctx.services.get(tool.MODELS_SERVICE)
    try:
        if router is None:
            raise NoModelError()
        router.pick(ModelRequest(task=ASK_TASK))
    except NoModelError as error:
        raise tool.ToolError(tool.ErrorCode.UPSTREAM_ERROR, "AI search is not available", error.hint) from error

    def find_sources(_: ProjectSnapshot, index: search.PageIndex) -> tuple[tuple[AnswerSource, ...], list[Page]]:
        stems, ranked = search.extract_stems(question), index.rank(question)[:_MAX_SOURCES]
        passages = (search.find_passage(index.read(page) or "", stems) for page in ranked)
        made = (
            AnswerSource(
                kind="page", title=page.title, full_path=None, file_path=page.path, line_number=1 + lines, text=text
            )
            for page, (text, lines) in zip(ranked, passages, strict=True)
        )
        sources = fit_sources(made, MAX_SOURCE_CHARACTERS)
        # Two pages may share a title, but not a path.
        paths = [one.file_path for one in sources]
        return sources, [page for page in ranked if page.path in paths]

    sources, pages = await answer_from_pages(ctx, load_page_index, find_sources)
    if not sources:
        return tool.ToolAnswer(value=AskPagesOutput(NO_PAGES_FOUND, ()))
    found = await answer_question(question, sources, router)
    rows = tuple(PageListRow(page.slug, page.title) for page in pages)
    return tool.ToolAnswer(
        value=AskPagesOutput(found.answer or NO_PAGES_FOUND, rows), next_step=" ".join(found.warnings)
    )


class GetPageInput(Struct, frozen=True, forbid_unknown_fields=True):
    slug: SlugArgument
    offset: Annotated[int, Meta(ge=0, description="Offset of the first character to return")] = 0
    limit: Annotated[int, Meta(ge=1, le=_MAX_TEXT, description="Maximum number of characters to return")] | None = None


class GetPageOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    slug: str
    title: str
    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    links: tuple[catalogue.PageLinkRow, ...]
    path: str
    created: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    frontmatter: Annotated[
        dict[str, Any], Meta(description="The fields of the front matter except slug, title, tags and aliases")
    ]
    requirements: tuple[catalogue.PageRequirement, ...] | None = None
    next_offset: int | None = None


@_declare("get_page", "Page", GetPageInput, GetPageOutput)
async def get_page(arguments: GetPageInput, ctx: call_context.CallContext) -> tool.ToolAnswer:
    """Return a page: its text, its front matter, and its links in both directions."""
    slug = require_argument("slug", arguments.slug, PAGES_HINT)

    def question(context: ProjectSnapshot, pages: catalogue.PageCollection) -> tool.ToolAnswer:
        page = pages.require(slug)
        text = read_page_body(context, page)
        if text is None:
            hint = "the page was just removed; call list_pages for the current pages"
            raise NotFoundError(f"Page '{page.slug}' not found", hint=hint)
        part, is_short = text[arguments.offset :], arguments.limit is None and ctx.caller.face == tool.MCP_SOURCE
        if arguments.limit is not None:
            part = part[: arguments.limit]
        elif is_short:
            part = part.encode()[: tool.MAX_PAGE_BYTES].decode(errors="ignore")
        content = part
        if len(json.encode(part)) > _MAX_TEXT:
            end = bisect_right(range(len(part)), _MAX_TEXT, key=lambda end: len(json.encode(part[:end])))
            content = part[: end - 1]
        end = arguments.offset + len(content)
        short = _ListCutter(is_short, "set `limit` to any number")
        if len(content) < len(part):
            short.notes.append("The text is too long for one answer and was cut.")
        goes_on = end < len(text)
        detail = catalogue.make_page_detail(pages, page, content)
        values: dict[str, Any] = {
            name: short.cut_list(name, getattr(detail, name)) for name in ("outlinks", "backlinks", "links")
        }
        if is_short and len(json.encode(detail.frontmatter)) > _MAX_FIELDS:
            short.notes.append("The front matter is long and was left out; to get it, set `limit` to any number.")
            values["frontmatter"] = {}
        return tool.ToolAnswer(
            value=GetPageOutput(
                **{**structs.asdict(detail), **values, "requirements": detail.requirements or None},
                next_offset=end if goes_on else None,
            ),
            next_step=f"The text continues; set offset={end} to read on." if goes_on else "",
            warning=" ".join(short.notes),
        )

    return await answer_from_pages(ctx, load_page_collection, question)


class _ListCutter(Struct):
    is_on: bool
    remedy: str
    notes: list[str] = []

    def cut_list(self, name: str, items: tuple[Entry, ...]) -> tuple[Entry, ...]:
        ##= man/spec/mcp.md#answers
        ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the
        ##% rest.
        if not self.is_on or len(items) <= _MAX_ENTRIES:
            return items
        self.notes.append(f"The answer has {_MAX_ENTRIES} of {len(items):,} {name}; to get all, {self.remedy}.")
        return items[:_MAX_ENTRIES]


class GetConnectionsInput(Struct, frozen=True, forbid_unknown_fields=True):
    slug: SlugArgument


class GetConnectionsOutput(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    slug: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    local_graph: catalogue.PageGraph
    requirements: tuple[catalogue.PageRequirement, ...] | None = None


@_declare("get_connections", "Page connections", GetConnectionsInput, GetConnectionsOutput)
async def get_connections(arguments: GetConnectionsInput, ctx: call_context.CallContext) -> tool.ToolAnswer:
    """Return the outlinks and backlinks of a page, and a graph of the pages around it."""
    slug = require_argument("slug", arguments.slug, PAGES_HINT)

    def question(context: ProjectSnapshot, pages: catalogue.PageCollection) -> tool.ToolAnswer:
        page = pages.require(slug)
        graph = pages.graph(page)
        short = _ListCutter(ctx.caller.face == tool.MCP_SOURCE, "call get_page for this page with any `limit`")
        nodes = short.cut_list("pages in the graph", graph.nodes)
        shown = {node.id for node in nodes}
        # `get_page` does not return the edges between other pages.
        others = structs.replace(short, remedy="call get_connections for the other pages")
        edges = tuple(edge for edge in graph.edges if edge.source in shown and edge.target in shown)
        return tool.ToolAnswer(
            value=GetConnectionsOutput(
                slug=page.slug,
                outlinks=short.cut_list("outlinks", pages.outlinks(page)),
                backlinks=short.cut_list("backlinks", pages.backlinks(page)),
                local_graph=catalogue.PageGraph(nodes, others.cut_list("edges", edges)),
                requirements=catalogue.find_page_requirements(pages, page),
            ),
            warning=" ".join(short.notes),
        )

    return await answer_from_pages(ctx, load_page_collection, question)


class ListPagesInput(ListArguments, frozen=True, forbid_unknown_fields=True):
    tag: Annotated[str, Meta(description="Only pages with this tag or a tag below it")] = ""
    folder: Annotated[str, Meta(description="Only pages whose slug is in this folder")] = ""
    since: Annotated[str, Meta(description="Only pages created on or after this date, such as 2026-05-31")] = ""


@_declare("list_pages", "List pages", ListPagesInput, tuple[PageListRow, ...])
async def list_pages(arguments: ListPagesInput, ctx: call_context.CallContext) -> tool.ToolAnswer:
    """List the pages (design notes, decisions, runbooks), newest first; filter them by tag, folder or date."""
    wanted = make_page_filter(arguments.tag, arguments.folder, arguments.since)

    def question(context: ProjectSnapshot, pages: catalogue.PageCollection) -> tool.ToolAnswer:
        return make_list_answer(
            context,
            "list_pages",
            arguments,
            list(filter(wanted, pages.pages)),
            key=lambda one: one.slug,
            row=lambda one: PageListRow(one.slug, one.title),
            page_size=0 if ctx.caller.face == tool.REST_SOURCE else context.page_size,
        )

    return await answer_from_pages(ctx, load_page_collection, question)


class SearchPagesInput(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="Words, or a question")]


@_declare("search", "Search pages", SearchPagesInput, tuple[search.PageHit, ...])
async def run_page_search(arguments: SearchPagesInput, ctx: call_context.CallContext) -> tool.ToolAnswer:
    """Find the 20 best pages for the words of a query or question, each with an excerpt."""
    query = require_argument("query", arguments.query, "set it to one or more words")

    found = await answer_from_pages(ctx, load_page_index, lambda _, index: search.search_pages(index, query))
    return tool.ToolAnswer(value=found.hits, page=tool.ResultPage(found.total))
