"""`duvet extract`"""

from __future__ import annotations

import os
import posixpath
from typing import Any

import click
from click.core import ParameterSource

from duvet.console import command, problems, report_run, streams
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.project import open_project
from duvet.errors import DuvetError
from duvet.model import Format
from duvet.reports.cells import escape_cell
from duvet.specs.extraction import EXTENSIONS, extract_specification, locate_configured
from duvet.specs.locator import locate_specification
from duvet.text import quote_text

_FORMATS = {"auto": Format.AUTO, "ietf": Format.IETF, "markdown": Format.MARKDOWN, "md": Format.MARKDOWN}


@click.command(cls=command.Subcommand)
@click.argument("target_path", type=command.PathType(TEXT_TYPE), metavar="TARGET_PATH")
@add_trace_options
@click.option(
    "-f",
    "--format",
    "written",
    type=click.Choice(["AUTO", "auto", "IETF", "ietf", "MARKDOWN", "markdown", "md"]),
    default="IETF",
    help="The specification's format [default: as configured, or else IETF].",
)
@click.option(
    "-e", "--extension", metavar="toml|rs", default="toml", help="Format of the files to write [default: toml]."
)
@command.path_option("-o", "--out", default=".", help="Write the files to this folder [default: .].", metavar="DIR")
@click.option("--prune", is_flag=True, help="Remove extracted files that are no longer needed.")
def extract(target_path: str, written: str, extension: str, out: str, prune: bool, **options: Any) -> None:
    """duvet extracts each sentence with an RFC 2119 keyword from TARGET_PATH, which is a URL or a file. It writes one
    file per section: TOML for `duvet report`, or Rust comments.

    Configured specifications don't need this command: `duvet report` extracts them.

    \b
    Examples:
      duvet extract https://www.rfc-editor.org/rfc/rfc9114
      duvet extract -f markdown -o requirements docs/protocol.md
    """
    project = open_project(**options)
    if extension not in EXTENSIONS:
        raise DuvetError(f"unsupported extraction type: {quote_text(extension)}", hint="available: toml, rs")
    target, out = (name.replace(os.sep, "/") for name in (target_path, out))
    if posixpath.splitext(out)[1]:
        raise DuvetError(f"single file extraction not supported, got {out}", hint="give --out a folder")
    project.progress.begin(f"Extracting requirements from {target}")
    # The default is the configured format, or else IETF text, as in awslabs duvet.
    format, source = _FORMATS[written.lower()], click.get_current_context().get_parameter_source("written")
    if source is ParameterSource.DEFAULT and not project.is_like_upstream:
        name = locate_specification(target).name
        configured = locate_configured(project.config)
        format = next((rule.format for rule, locator in configured if locator.name == name), format)
    specification = project.library.load(locate_specification(target, format))
    downloads = project.downloads if project.config else ""
    extraction, count = extract_specification(specification, out, downloads, project.root, extension)
    problems.print_problems(report_run.write_requirements(project, extraction, prune=prune))
    if not count and format is Format.IETF and posixpath.splitext(target)[1] in (".md", ".markdown"):
        streams.print_remark(f"{escape_cell(target)} was read as IETF text; read Markdown with `--format markdown`")
    project.progress.end(f"Extracted {count} requirements across {len(extraction.files)} sections")
