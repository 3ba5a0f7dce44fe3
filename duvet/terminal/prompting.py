"""Prompts on standard output, and the list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.errors import QueryError
from duvet.prompts.arguments import asked
from duvet.prompts.filling import filled, filled_about
from duvet.prompts.library import Prompt, prompts
from duvet.prompts.system import SYSTEM
from duvet.queries.catalogue import Catalogue
from duvet.queries.references import Requirements
from duvet.reports.cells import visible
from duvet.reports.listing import Column, Listing
from duvet.terminal.catalogues import read_catalogue, tell_errors
from duvet.terminal.listings import pour_list
from duvet.terminal.options import open_cache
from duvet.terminal.questions import open_quietly
from duvet.terminal.service import assembly_of
from duvet.terminal.service_options import about_trace
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour
from duvet.tools.context import Context

_COLUMNS = (
    Column("name", lambda prompt: prompt.name),
    Column("arguments", lambda prompt: _arguments(prompt)),
    Column("description", lambda prompt: prompt.description, wraps=True),
)


def list_prompts(format: str | None) -> None:
    """Write the prompts that there are, each with its arguments."""
    pour_list(Listing(_COLUMNS, prompts()), format)


def _arguments(prompt: Prompt) -> str:
    return " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)


def run_prompt(name: str, arguments: Mapping[str, str], where: Mapping[str, Any]) -> None:
    """Write the prompt of that name with these arguments, for an agent to read."""
    try:
        wanted = asked(name, arguments)
        ##= man/spec/mcp.md#prompts
        ##% `duvet prompt` MUST print what `prompts/get` answers.
        if name == SYSTEM:
            pour(_system(where).encode())
            return
        project = about_trace(where)
        catalogue = read_catalogue(project)
        pour(filled(wanted, _context(catalogue, project), assembly_of(where, mode="prompt").own_registry).encode())
    except QueryError as error:
        raise click.UsageError(f"{visible(error.message)}\n{visible(error.hint)}") from error
    tell_errors(catalogue)


def pour_prompt(name: str, catalogue: Catalogue, index: int, where: Mapping[str, Any]) -> None:
    """Write the prompt of that name about this requirement, for an agent to read."""
    registry = assembly_of(where, mode="prompt").own_registry
    pour(filled_about(name, Requirements((index,)), _context(catalogue, where), registry).encode())


def _context(catalogue: Catalogue, where: Mapping[str, Any]) -> Context:
    return Context(open_quietly(open_cache(settings()), where), catalogue, page_size=0)


def _system(where: Mapping[str, Any]) -> str:
    from duvet.server.instructions import rendered_instructions

    assembly = assembly_of(where, mode="prompt")
    return rendered_instructions(assembly.rule, assembly.registry)
