"""`duvet init`"""

from __future__ import annotations

import os

import click

from duvet.config.languages import GITIGNORE, STARTERS, detect_languages, render_starting_config
from duvet.console.command import Subcommand, current_settings
from duvet.console.completion_values import file_option
from duvet.console.options import TEXT_TYPE
from duvet.console.progress import ProgressLines
from duvet.console.streams import write_output


def _add_language_options(function: click.decorators.FC) -> click.decorators.FC:
    for starter in reversed(STARTERS):
        name = starter.language.value
        option = click.option(
            f"--lang-{name}", "languages", flag_value=name, multiple=True, help=f"Scan {starter.pattern}."
        )
        function = option(function)
    return function


@click.command(cls=Subcommand)
@file_option(
    "--specification",
    "specifications",
    type=TEXT_TYPE,
    metavar="URL|FILE",
    multiple=True,
    help="A specification to trace.",
)
@_add_language_options
@click.option("--extended", is_flag=True, help="Write the extended schema, which has more keys than upstream's.")
def init(specifications: tuple[str, ...], languages: tuple[str, ...], extended: bool) -> None:
    """Writes .duvet/config.toml and .duvet/.gitignore; a file that is there already is left alone. Without a language,
    the files in the folder tell which ones are used.

    \b
    Examples:
      duvet init --specification https://www.rfc-editor.org/rfc/rfc2324
      duvet init --lang-c --lang-python --specification docs/protocol.md
    """
    starters = tuple(one for one in STARTERS if one.language.value in languages) or detect_languages(os.path.exists)
    config = render_starting_config(starters, specifications, extended=extended)
    progress = ProgressLines(current_settings())
    for path, data in ((".duvet/config.toml", config), (".duvet/.gitignore", GITIGNORE)):
        progress.begin(f"Writing {path}")
        ##= man/spec/trace.md#configuration
        ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
        ##% folder, and MUST NOT change existing files.
        if os.path.lexists(path):
            progress.end(f"Skipping {path} - already exists")
        else:
            write_output(path, data)
            progress.end(f"Wrote {path}")
