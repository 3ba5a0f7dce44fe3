"""`duvet ask`"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from duvet.console.application import make_router, read_service
from duvet.console.command import Subcommand
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import detect_table_look
from duvet.console.project import (
    load_specification,
    open_cache,
    print_error_notice,
    require_catalogue,
)
from duvet.console.service_options import add_service_option
from duvet.console.settings import current_settings
from duvet.console.streams import FAILED, OK, print_notice, write_stdout
from duvet.errors import QueryError
from duvet.llm.ask import (
    ASK_TASK,
    NOTHING_FOUND,
    AnswerSource,
    KnownSources,
    ModelAnswer,
    ProjectRetriever,
    answer_question,
)
from duvet.llm.records import ModelError, ModelRequest, NoModelError
from duvet.llm.router import StaticRouter
from duvet.queries.full_text import RequirementIndex
from duvet.reports.cells import escape_cell, wrap_cells
from duvet.reports.tables import TableLook, encode_json
from duvet.trace.catalogue import Catalogue, SpecificationCard
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import NoResultCache
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.model import Specification


@click.command(cls=Subcommand)
@click.argument("words", type=TEXT_TYPE, metavar="QUESTION...", nargs=-1, required=True)
@click.option(
    "--model", type=TEXT_TYPE, metavar="PROVIDER[/MODEL]", help="Ask this model, or the default one of a provider."
)
@add_service_option
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How to write it. [default: text]",
)
@add_trace_options
@click.pass_context
def ask(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    model: str | None,
    service_path: str | None,
    format: str,
    **where: Any,
) -> None:
    """What `duvet search` finds for QUESTION, with the sections around it and the code that cites it, is sent to a model,
    which answers from that alone. The answer names its sources by their numbers; the sources follow it. Numbers that the
    model makes up are taken out.

    Which models there are says `duvet.config.toml` (or .json, .yaml), the file that DUVET_CONFIG names, or --config:

    \b
      [providers.local]
      baseUrl = "http://127.0.0.1:11434/v1"
      defaultModel = "MODEL"

    A provider speaks the protocol of OpenAI, or with kind = "anthropic" that of Anthropic. Without a baseUrl it is OpenAI
    or Anthropic itself, with the key in OPENAI_API_KEY or ANTHROPIC_API_KEY; apiKey = "$NAME" names another variable. The
    route `[routing.ask]` chooses among several. Nothing is sent to anybody who isn't named there.

    Exits with 1 when nothing is found, and when no model answers; what was found is printed all the same.

    \b
    Examples:
      duvet ask when is the pot warmed
      duvet ask 'Which errors have to be logged?' --model local
      duvet ask 'Which errors have to be logged?' --config models.yaml --format json
    """
    ctx.exit(run_ask(" ".join(words), model, service_path, format, where))


def run_ask(question: str, model: str | None, config: str | None, format: str, where: Mapping[str, Any]) -> int:
    """Write what a model answers, and from what; the exit code."""
    router = make_router(read_service(config, where["config_path"]).config, current_settings())
    catalogue = require_catalogue(where)
    try:
        sources = _retrieval(catalogue).sources(question)
    except QueryError as error:
        raise click.UsageError(f"{escape_cell(error.message)}\n{error.hint}") from error
    print_error_notice(catalogue)
    if not sources:
        _pour(ModelAnswer(NOTHING_FOUND, ()), format)
        return FAILED
    try:
        # To ask takes modules that nobody needs who is told how to set a model up.
        router.pick(ModelRequest(model=model, task=ASK_TASK))
        found = _asked(question, KnownSources(sources), router, model)
    except (NoModelError, ModelError):
        ##= man/spec/ask.md#answers
        ##% When it finds nothing, `duvet ask` MUST say so without calling a model; when no model answers, it MUST still
        ##% print the sources and exit with 1.
        _pour(ModelAnswer(None, sources), format)
        raise
    _pour(found, format)
    if not current_settings().quiet:
        print_notice("".join(f"warning: {escape_cell(words)}\n" for words in found.warnings))
    return OK


def _retrieval(catalogue: Catalogue) -> ProjectRetriever:
    def load(card: SpecificationCard) -> Specification:
        return load_specification(card)

    memory = open_cache() or NoResultCache()
    files = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))
    return ProjectRetriever(catalogue, lambda: RequirementIndex(catalogue, memory), files, load)


def _asked(question: str, known: KnownSources, router: StaticRouter, model: str | None) -> ModelAnswer:
    import anyio

    async def run() -> ModelAnswer:
        try:
            return await answer_question(question, known, router, model=model)
        finally:
            await router.aclose()

    return anyio.run(run)


def _pour(found: ModelAnswer, format: str) -> None:
    if format == "json":
        write_stdout(encode_json(found))
        return
    write_stdout(render_answer(found, detect_table_look()))


_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MOST_LINES = 12
"""So many lines of a source are shown."""
_NARROWEST = 20


def render_answer(answer: ModelAnswer, look: TableLook) -> bytes:
    """The answer, if there is one, and its sources."""
    return "".join(f"{line}\n" for line in _lines(answer, look)).encode(errors="replace")


def _lines(answer: ModelAnswer, look: TableLook) -> Iterator[str]:
    if answer.answer is not None:
        for line in answer.answer.split("\n"):
            yield from _folded(line, "", look)
    if answer.answer is not None and answer.sources:
        yield ""
    for number, source in enumerate(answer.sources):
        if number:
            yield ""
        yield from _source(source, look)


def _source(source: AnswerSource, look: TableLook) -> Iterator[str]:
    head = f"[{source.number}]"
    shown = f"{_BOLD}{head}{_PLAIN}" if look.colour else head
    yield f"{shown} {escape_cell(source.title)}"
    indent = " " * (len(head) + 1)
    yield f"{indent}{escape_cell(f'{source.file_path}:{source.line_number}')}"
    lines = source.text.split("\n")
    for line in lines[:_MOST_LINES]:
        yield from _folded(line, indent, look)
    if len(lines) > _MOST_LINES:
        yield f"{indent}…"


def _folded(line: str, indent: str, look: TableLook) -> Iterator[str]:
    """A line in as many as the terminal needs; where code is indented, so is the rest of it."""
    own = indent + " " * (len(line) - len(line.lstrip(" ")))
    shown = escape_cell(line.strip(" "))
    for start, end in wrap_cells(shown, max(look.width - len(own), _NARROWEST)):
        yield f"{own}{shown[start:end]}".rstrip()
