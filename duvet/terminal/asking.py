"""One run of `duvet ask`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from duvet.cache.memory import NoMemory
from duvet.errors import QueryError
from duvet.llm.asking import NOTHING, TASK, Answer, Known, answer
from duvet.llm.errors import ModelError, NoModelError
from duvet.llm.records import ModelRequest
from duvet.llm.retrieval import Retrieval
from duvet.llm.router import StaticRouter
from duvet.queries.catalogue import Catalogue, SpecificationCard
from duvet.queries.places import Files
from duvet.reports.cells import visible
from duvet.search.index import Index
from duvet.terminal.catalogues import read_requirements, tell_errors
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.listings import look
from duvet.terminal.models import router_of
from duvet.terminal.options import open_cache
from duvet.terminal.service_reading import read_service
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.tree.disk import DiskTree

if TYPE_CHECKING:
    from duvet.model import Specification


def run_ask(question: str, model: str | None, config: str | None, format: str, where: Mapping[str, Any]) -> int:
    """Write what a model answers, and from what; the exit code."""
    ##= man/spec/ask.md#answers
    ##% `duvet ask` MUST NOT write anything but the cache.
    router = router_of(read_service(config, where["config_path"]).config, settings())
    catalogue = read_requirements(where)
    try:
        sources = _retrieval(catalogue).sources(question)
    except QueryError as error:
        raise click.UsageError(f"{visible(error.message)}\n{error.hint}") from error
    tell_errors(catalogue)
    if not sources:
        _pour(Answer(NOTHING, ()), format)
        return FAILED
    try:
        # To ask takes modules that nobody needs who is told how to set a model up.
        router.pick(ModelRequest(model=model, task=TASK))
        found = _asked(question, Known(sources), router, model)
    except (NoModelError, ModelError):
        ##= man/spec/ask.md#answers
        ##% Where no model answers, `duvet ask` MUST print the sources all the same, and exit with 1.
        _pour(Answer(None, sources), format)
        raise
    _pour(found, format)
    if not settings().quiet:
        say("".join(f"warning: {visible(words)}\n" for words in found.warnings))
    return OK


def _retrieval(catalogue: Catalogue) -> Retrieval:
    def load(card: SpecificationCard) -> Specification:
        from duvet.terminal.loading import load_specification

        return load_specification(card)

    memory = open_cache(settings()) or NoMemory()
    files = Files(DiskTree(), os.getcwd().replace(os.sep, "/"))
    return Retrieval(catalogue, lambda: Index(catalogue, memory), files, load)


def _asked(question: str, known: Known, router: StaticRouter, model: str | None) -> Answer:
    import anyio

    async def run() -> Answer:
        try:
            return await answer(question, known, router, model=model)
        finally:
            await router.aclose()

    return anyio.run(run)


def _pour(found: Answer, format: str) -> None:
    if format == "json":
        from duvet.reports.json_document import document

        pour(document(found))
        return
    from duvet.reports.asked import render

    pour(render(found, look()))
