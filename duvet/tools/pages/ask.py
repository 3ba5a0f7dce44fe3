"""`ask`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from duvet.knowledge.pages.index import Index
from duvet.knowledge.pages.retrieval import passage, relevant, stems_of
from duvet.llm.asking import TASK, Known, answer
from duvet.llm.errors import NoModelError
from duvet.llm.records import ModelRequest
from duvet.llm.router import StaticRouter
from duvet.llm.sources import MOST, Source, fitting
from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.pages.notes import Row, index, require_text
from duvet.tools.pages.notes import ask as asked_of
from duvet.tools.services import MODELS
from duvet.tools.tool import Answer, Tool

UNAVAILABLE = "AI search is not available"
NOTHING = "No relevant information found in the knowledge base."


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[str, Meta(description="In plain words")]


class Output(Struct, frozen=True):
    answer: str
    sources: tuple[Row, ...]


async def ask(asked: Input, ctx: Ctx) -> Answer:
    """What a model makes of the pages."""
    question = require_text("question", asked.question, "ask something")
    router = _router(ctx)
    sources, rows = await asked_of(ctx, index, lambda context, known: _found(context, known, question))
    if not sources:
        ##= man/spec/pages.md#ask
        ##% Where no page is found, `ask` MUST say so, and MUST NOT ask a model.
        return Answer(value=Output(NOTHING, ()))
    found = await answer(question, Known(sources), router)
    ##= man/spec/pages.md#ask
    ##% `ask` MUST answer with the pages that the model was shown as its sources.
    return Answer(value=Output(found.answer or NOTHING, rows), next_step=" ".join(found.warnings))


def _router(ctx: Ctx) -> StaticRouter:
    ##= man/spec/pages.md#ask
    ##% Where no model is set up, `ask` MUST be refused as `upstream_error` before a page is looked for.
    router: StaticRouter | None = ctx.services.get(MODELS)
    try:
        if router is None:
            raise NoModelError()
        router.pick(ModelRequest(task=TASK))
    except NoModelError as error:
        raise ToolError(Code.UPSTREAM_ERROR, UNAVAILABLE, error.hint) from error
    return router


def _found(context: Context, known: Index, question: str) -> tuple[tuple[Source, ...], tuple[Row, ...]]:
    stems = stems_of(question)
    sources = fitting(_sources(known, question, stems), MOST)
    # Two pages may have one title, but not one path.
    slugs = {page.path: page for page in known.notes.pages}
    return sources, tuple(Row(slugs[one.file_path].slug, slugs[one.file_path].title) for one in sources)


def _sources(known: Index, question: str, stems: tuple[str, ...]) -> Iterator[Source]:
    for page in relevant(known, question):
        text, lines = passage(known.read(page) or "", stems)
        yield Source(
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
    input=Input,
    output=Output,
    handler=ask,
    labels=("pages",),
)
