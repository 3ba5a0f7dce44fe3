"""`duvet prompt`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console.application import make_application
from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_prompt_arguments, complete_prompts
from duvet.console.options import TEXT_TYPE, add_service_options, add_trace_options, select_trace_options
from duvet.console.output import add_list_format, print_list
from duvet.console.project import load_catalogue, open_cache, open_project_quietly, print_error_notice
from duvet.console.streams import write_stdout
from duvet.errors import QueryError
from duvet.prompts.content import fill_prompt, fill_requirement_prompt
from duvet.prompts.library import SYSTEM_PROMPT, check_prompt_request, load_prompts
from duvet.queries.references import RequirementRef
from duvet.reports.cells import escape_cell
from duvet.reports.tables import Column, Listing
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import Catalogue

_COLUMNS = (
    Column("name", lambda prompt: prompt.name),
    Column(
        "arguments", lambda prompt: " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)
    ),
    Column("description", lambda prompt: prompt.description, wraps=True),
)


@click.command(cls=Subcommand)
@click.argument("name", required=False, type=TEXT_TYPE, metavar="[NAME]", shell_complete=complete_prompts)
@click.option(
    "--arg",
    "arguments",
    type=TEXT_TYPE,
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete_prompt_arguments,
    help="What the prompt has to be told.",
)
@add_list_format
@add_service_options
@add_trace_options
@click.pass_context
def prompt(
    ctx: click.Context, /, name: str | None, arguments: tuple[str, ...], format: str | None, **options: Any
) -> None:
    """A prompt tells an agent how to do a whole piece of work, filled with what is known about this project. The server
    gives the same texts to clients that ask for prompts.

    Without NAME it lists the prompts with their arguments; those in brackets can be left out.

    \b
    Examples:
      duvet prompt
      duvet prompt --format json
      duvet prompt implement_requirement --arg requirement=3b42c44e
      duvet prompt triage_uncited --arg spec=rfc9114 --arg level=must
      duvet prompt explain_section --arg section=rfc9114#section-4.1
    """
    if name is None:
        if arguments:
            raise click.UsageError("--arg needs the NAME of a prompt", ctx)
        print_list(Listing(_COLUMNS, load_prompts()), format)
        return
    if format:
        raise click.UsageError("a prompt is no list: --format goes without NAME", ctx)
    values: dict[str, str] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            raise click.UsageError("--arg takes NAME=VALUE", ctx)
        if key in values:
            raise click.UsageError("--arg gives the same NAME twice", ctx)
        values[key] = value
    _print_prompt(name, values, options)


def _print_prompt(name: str, arguments: Mapping[str, str], options: Mapping[str, Any]) -> None:
    try:
        request = check_prompt_request(name, arguments)
        ##= man/spec/mcp.md#prompts
        ##% `duvet prompt` MUST print what `prompts/get` returns.
        if name == SYSTEM_PROMPT:
            from duvet.server.messages import render_instructions

            application = make_application(options, mode="prompt")
            write_stdout(render_instructions(application.rule, application.tools.registry).encode())
            return
        trace_options = select_trace_options(options)
        catalogue = load_catalogue(trace_options)
        snapshot = _make_snapshot(catalogue, trace_options)
        registry = make_application(options, mode="prompt").tools.own_registry
        write_stdout(fill_prompt(request, snapshot, registry).encode())
    except QueryError as error:
        raise click.UsageError(f"{escape_cell(error.message)}\n{escape_cell(error.hint)}") from error
    print_error_notice(catalogue)


def print_requirement_prompt(name: str, catalogue: Catalogue, index: int, options: Mapping[str, Any]) -> None:
    """Print a prompt about the requirement with this index."""
    registry = make_application(options, mode="prompt").tools.own_registry
    text = fill_requirement_prompt(name, RequirementRef((index,)), _make_snapshot(catalogue, options), registry)
    write_stdout(text.encode())


def _make_snapshot(catalogue: Catalogue, options: Mapping[str, Any]) -> ProjectSnapshot:
    return ProjectSnapshot(open_project_quietly(open_cache(), options), catalogue, page_size=0)
