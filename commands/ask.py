"""`duvet ask`"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from click.exceptions import Exit

from duvet.console import application, command, project, streams
from duvet.console.options import TEXT_TYPE, add_service_option, add_text_format, add_trace_options
from duvet.errors import QueryError
from duvet.llm.ask import ASK_TASK, NOTHING_FOUND, AnswerSource, ModelAnswer, ProjectRetriever, answer_question
from duvet.llm.records import ModelError, ModelRequest, NoModelError
from duvet.llm.router import StaticRouter
from duvet.queries.records import describe_error_notice, require_requirements
from duvet.queries.search import RequirementIndex
from duvet.reports.cells import TableLook, encode_json, escape_cell, wrap_cells
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from duvet.tree.files import DiskTree

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MAX_SOURCE_LINES = 12
_MIN_WIDTH = 20


@click.command(cls=command.Subcommand)
@click.argument("words", type=TEXT_TYPE, metavar="QUESTION...", nargs=-1, required=True)
@click.option(
    "--model", type=TEXT_TYPE, metavar="PROVIDER[/MODEL]", help="Model to ask; PROVIDER alone means its default model."
)
@add_service_option
@add_text_format
@add_trace_options
def ask(words: tuple[str, ...], model: str | None, service_path: str | None, format: str, **options: Any) -> None:
    """duvet searches for requirements that match QUESTION, and sends them to a model with their sections and the code
    that cites them. It asks the model to answer only from these sources, and to cite them by number. A list of the
    sources follows the answer. duvet removes citation numbers that the model made up. It sends nothing to a provider
    that you haven't configured.

    Providers are defined in the service configuration, such as duvet.config.yaml; see duvet-ask(1). Exits with 1 if no
    model is configured, if no requirement matches, or if no model answers. In the last case, duvet still prints the
    sources.

    \b
    Examples:
      duvet ask 'Which errors have to be logged?' --model local
      duvet ask when is the pot warmed --service-config models.yaml --format json
    \f
    Define a provider in duvet.config.yaml:

    \b
      providers:
        local:
          baseUrl: http://127.0.0.1:11434/v1
          defaultModel: MODEL

    A provider uses OpenAI's API, or Anthropic's with `kind: anthropic`. Without `baseUrl`, duvet calls
    OpenAI or Anthropic with the key in OPENAI_API_KEY or ANTHROPIC_API_KEY; `apiKey: $NAME` names another variable.
    With several providers, `routing.ask.model` selects one.
    """
    config, terminal = application.read_service(service_path, options["config_path"]).config, command.current_settings()
    router = StaticRouter(
        config.providers,
        config.routing,
        terminal.environ,
        blobs=project.open_blobs(terminal),
        spending_folder=project.find_spending_folder(terminal),
    )
    catalogue = require_requirements(project.load_catalogue(options))
    files, cache = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/")), project.open_cache() or Cache()
    router.pick(ModelRequest(model=model, task=ASK_TASK))
    retriever = ProjectRetriever(
        catalogue, lambda: RequirementIndex(catalogue, cache), files, project.load_specification
    )
    try:
        sources = retriever.sources(question := " ".join(words))
    except QueryError as error:
        raise streams.make_usage_error(error.message, error.hint) from error
    streams.print_remark(describe_error_notice(catalogue))
    if not sources:
        _print_answer(ModelAnswer(NOTHING_FOUND, ()), format)
        raise Exit(streams.FAILED)
    try:
        answer = _ask_model(question, sources, router, model)
    except (NoModelError, ModelError):
        _print_answer(ModelAnswer(None, sources), format)
        raise
    _print_answer(answer, format)
    for warning in answer.warnings:
        streams.print_remark(f"warning: {escape_cell(warning)}")


def _ask_model(question: str, sources: Sequence[AnswerSource], router: StaticRouter, model: str | None) -> ModelAnswer:
    import anyio

    async def run() -> ModelAnswer:
        try:
            return await answer_question(question, sources, router, model=model)
        finally:
            await router.aclose()

    return anyio.run(run)


def _print_answer(answer: ModelAnswer, format: str) -> None:
    if format == "json":
        streams.write_stdout(encode_json(answer))
        return
    look = streams.detect_table_look()
    paragraphs = [[*_fold_lines(answer.answer.split("\n"), "", look)]] if answer.answer is not None else []
    bold, plain = (_BOLD, _PLAIN) if look.colour else ("", "")
    for source in answer.sources:
        number, lines = f"[{source.number}]", source.text.split("\n")
        indent = " " * (len(number) + 1)
        paragraphs.append(
            [
                f"{bold}{number}{plain} {escape_cell(source.title)}",
                f"{indent}{escape_cell(f'{source.file_path}:{source.line_number}')}",
                *_fold_lines(lines[:_MAX_SOURCE_LINES], indent, look),
                *([f"{indent}…"] if len(lines) > _MAX_SOURCE_LINES else []),
            ]
        )
    text = "\n".join("".join(f"{line}\n" for line in lines) for lines in paragraphs)
    streams.write_stdout(text.encode(errors="replace"))


def _fold_lines(lines: Iterable[str], indent: str, look: TableLook) -> Iterator[str]:
    for line in lines:
        margin = indent + " " * (len(line) - len(line.lstrip(" ")))
        text = escape_cell(line.strip(" "))
        for start, end in wrap_cells(text, max(look.width - len(margin), _MIN_WIDTH)):
            yield f"{margin}{text[start:end]}".rstrip()
