"""`duvet ask`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_option


@click.command(cls=Subcommand)
@click.argument("words", type=TEXT, metavar="QUESTION...", nargs=-1, required=True)
@click.option(
    "--model", type=TEXT, metavar="PROVIDER[/MODEL]", help="Ask this model, or the default one of a provider."
)
@service_option
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How to write it. [default: text]",
)
@trace_options
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
    from duvet.terminal.asking import run_ask

    ctx.exit(run_ask(" ".join(words), model, service_path, format, where))
