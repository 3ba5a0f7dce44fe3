"""`duvet prompt`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import prompt_arguments, prompts
from duvet.terminal.listings import list_format
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_options


@click.command(cls=Subcommand)
@click.argument("name", required=False, type=TEXT, metavar="[NAME]", shell_complete=prompts)
@click.option(
    "--arg",
    "arguments",
    type=TEXT,
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=prompt_arguments,
    help="What the prompt has to be told.",
)
@list_format
@service_options
@trace_options
@click.pass_context
def prompt(
    ctx: click.Context, /, name: str | None, arguments: tuple[str, ...], format: str | None, **where: Any
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
    from duvet.terminal.prompting import list_prompts, run_prompt

    if name is None:
        if arguments:
            raise click.UsageError("--arg needs the NAME of a prompt", ctx)
        list_prompts(format)
        return
    if format:
        raise click.UsageError("a prompt is no list: --format goes without NAME", ctx)
    run_prompt(name, _as_mapping(arguments, ctx), where)


def _as_mapping(arguments: tuple[str, ...], ctx: click.Context) -> dict[str, str]:
    found: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals:
            raise click.UsageError("--arg takes NAME=VALUE", ctx)
        if name in found:
            raise click.UsageError("--arg gives the same NAME twice", ctx)
        found[name] = value
    return found
