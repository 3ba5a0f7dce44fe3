"""`duvet prompt`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console import command, options, project, streams
from duvet.console.application import invoke_tool, make_application, make_shell_error
from duvet.console.options import select_trace_options
from duvet.errors import DuvetError, QueryError
from duvet.prompts import library
from duvet.prompts.content import fill_prompt
from duvet.queries.records import RequirementFilter, describe_error_notice, select_requirements
from duvet.reports.tables import Column, Listing
from duvet.templates import prompt_names
from duvet.text import quote_text
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import PartText, ToolError
from duvet.trace.catalogue import Catalogue

_COLUMNS = (
    Column("name", lambda prompt: prompt.name),
    Column(
        "arguments", lambda prompt: " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)
    ),
    Column("description", lambda prompt: prompt.description, wraps=True),
)


@click.command(cls=command.Subcommand)
@click.argument(
    "name",
    required=False,
    type=options.TEXT_TYPE,
    metavar="[NAME [--arg NAME=VALUE]...]",
    shell_complete=command.complete_values("prompts"),
)
@click.option(
    "--arg",
    "arguments",
    type=options.TEXT_TYPE,
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=command.complete_values("prompt_arguments"),
    help="Set an argument of the prompt; repeatable.",
)
@options.add_list_format
@options.add_service_options
@options.add_trace_options
def prompt(name: str | None, arguments: tuple[str, ...], format: str | None, **options: Any) -> None:
    """A prompt is an instruction for an agent, with data from this project. `duvet mcp` serves the same prompts.

    Without NAME, duvet lists the prompts with their arguments. Arguments in brackets are optional.

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
            raise click.UsageError("--arg requires the NAME of a prompt")
        application = make_application(options)
        application.log_unloaded_tools()
        registry = application.tools.registry
        # A server of notes has other prompts than one of a project; the shell has both.
        every = (
            (*library.load_prompts(), *library.list_pack_prompts(registry))
            if registry.has_trace
            else library.list_prompts(registry)
        )
        streams.print_list(Listing(_COLUMNS, every), format)
        return
    if format:
        raise click.UsageError("--format only applies to the list of prompts; leave out NAME")
    values: dict[str, str] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            raise click.UsageError(f"--arg {quote_text(argument)} has no `=`; write NAME=VALUE")
        if key in values:
            raise click.UsageError(f"--arg sets {quote_text(key)} twice")
        values[key] = value
    if name not in prompt_names() and _print_pack_prompt(name, values, options):
        return
    try:
        given = library.check_prompt_arguments(name, values)
        ##= man/spec/mcp.md#prompts
        ##% `duvet prompt` MUST print the text that `prompts/get` returns.
        if name == library.SYSTEM_PROMPT:
            streams.write_stdout(make_application(options, mode="prompt").instructions.encode())
            return
        catalogue = project.load_catalogue(select_trace_options(options))
        _print_prompt(name, given, catalogue, options)
    except QueryError as error:
        raise streams.make_usage_error(error.message, error.hint) from error
    streams.print_remark(describe_error_notice(catalogue))


def print_requirement_prompt(
    name: str, catalogue: Catalogue, filters: RequirementFilter, ranked: list[int], options: dict[str, Any]
) -> None:
    library.require_prompt(name, library.REQUIREMENT_PROMPTS)
    if not ranked:
        if select_requirements(catalogue, filters):
            raise DuvetError(
                "nothing is left to do",
                hint="use --all to include requirements that are done, excepted or not applicable",
            )
        raise DuvetError("no requirement matches the filters", hint="remove a filter")
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print only a prompt about the most urgent requirement.
    path = catalogue.full_path_of(catalogue.requirements[ranked[0]])
    _print_prompt(name, {"requirement": path}, catalogue, options)


def _print_prompt(name: str, given: Mapping[str, str], catalogue: Catalogue, options: Mapping[str, Any]) -> None:
    opened = project.open_project_quietly(project.open_cache(), select_trace_options(options))
    registry = make_application(options, mode="prompt").tools.own_registry
    snapshot = ProjectSnapshot(opened, catalogue, page_size=0)
    streams.write_stdout(fill_prompt(name, given, snapshot, registry).encode())


def _print_pack_prompt(name: str, values: dict[str, str], options: dict[str, Any]) -> bool:
    application = make_application(options)
    found = application.tools.registry.prompts.get(name)
    if found is None:
        application.log_unloaded_tools()
        return False
    prompt, pack = found
    try:
        answer = invoke_tool(application, prompt.tool, values, part_of=pack)
    except ToolError as error:
        raise make_shell_error(error) from error
    assert isinstance(answer.value, PartText)
    streams.write_stdout(f"{answer.value.text.rstrip()}\n".encode())
    return True
