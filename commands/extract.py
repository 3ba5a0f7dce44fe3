"""`duvet extract`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files, folders
from duvet.terminal.options import TEXT, open_project, trace_options

FORMATS = ["AUTO", "auto", "IETF", "ietf", "MARKDOWN", "markdown", "md"]


@click.command(cls=Subcommand)
@click.argument("target_path", type=TEXT, metavar="TARGET_PATH", shell_complete=files)
@trace_options
@click.option("-f", "--format", "written", type=click.Choice(FORMATS), default="IETF", help="How it is written.")
@click.option("-e", "--extension", metavar="toml|rs", default="toml", help="The kind of file to write.")
@click.option("-o", "--out", metavar="DIR", shell_complete=folders, default=".", help="The folder to write below.")
@click.option("--prune", is_flag=True, help="Remove files that an earlier extraction wrote and this one does not.")
def extract(target_path: str, written: str, extension: str, out: str, prune: bool, **where: Any) -> None:
    """TARGET_PATH is a URL or a file. Sentences with a keyword of RFC 2119 are written section by section, as TOML that
    `duvet report` reads or as Rust comments. The specifications of a configuration need no command: `duvet report`
    extracts them.

    \b
    Examples:
      duvet extract https://www.rfc-editor.org/rfc/rfc9114
      duvet extract -f markdown -o requirements docs/protocol.md
    """
    from duvet.terminal.extracting import run_extract

    run_extract(open_project(**where), target_path, written, extension, out, prune=prune)
