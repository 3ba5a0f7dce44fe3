"""`duvet init`"""

from __future__ import annotations

import click

from duvet.config.languages import STARTERS
from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files
from duvet.terminal.options import TEXT


def _language_options(function: click.decorators.FC) -> click.decorators.FC:
    for one in reversed(STARTERS):
        name = one.language.value
        option = click.option(
            f"--lang-{name}", "languages", flag_value=name, multiple=True, help=f"Scan {one.pattern}."
        )
        function = option(function)
    return function


@click.command(cls=Subcommand)
@click.option(
    "--specification",
    "specifications",
    type=TEXT,
    metavar="URL|FILE",
    shell_complete=files,
    multiple=True,
    help="A specification to trace.",
)
@_language_options
@click.option("--extended", is_flag=True, help="Write the extended schema, which has more keys than upstream's.")
def init(specifications: tuple[str, ...], languages: tuple[str, ...], extended: bool) -> None:
    """Writes .duvet/config.toml and .duvet/.gitignore; a file that is there already is left alone. Without a language,
    the files in the folder tell which ones are used.

    \b
    Examples:
      duvet init --specification https://www.rfc-editor.org/rfc/rfc2324
      duvet init --lang-c --lang-python --specification docs/protocol.md
    """
    from duvet.terminal.initialising import run_init

    run_init(specifications, languages, extended=extended)
