"""`duvet cite`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_references, file_option
from duvet.console.discovery import ReferenceType, show_path
from duvet.console.filters import KIND_TYPE
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.problems import make_patch
from duvet.console.project import open_cache, open_project_quietly
from duvet.console.streams import write_stdout
from duvet.errors import DuvetError
from duvet.model import Kind
from duvet.queries.new_citation import CiteOptions, insert_citation, write_cited_file
from duvet.queries.references import find_citable, resolve_reference
from duvet.reports.cells import escape_cell
from duvet.text import quote_text
from duvet.trace.locations import ProjectFiles, parse_file_line

_FIELDS = {"reason": "reason", "feature": "feature", "tracking_issue": "tracking-issue"}


@click.command(cls=Subcommand)
@click.argument("reference", type=ReferenceType(TEXT_TYPE), metavar="REF", shell_complete=complete_references)
@file_option("--at", "place", required=True, metavar="FILE:LINE", help="Insert it above this line.")
@click.option("--type", "kind", type=KIND_TYPE, help="What it is [default: what the source gives].")
@click.option("--reason", type=TEXT_TYPE, metavar="TEXT", help="Why; an exception needs one.")
@click.option("--feature", type=TEXT_TYPE, metavar="TEXT", help="What a todo belongs to.")
@click.option("--tracking-issue", type=TEXT_TYPE, metavar="ID|URL", help="Where a todo is tracked.")
@click.option("--part", type=TEXT_TYPE, metavar="WORDS", help="Quote only these words of the requirement.")
@click.option(
    "--width",
    type=click.IntRange(20, 1000),
    default=100,
    metavar="COLUMNS",
    help="How wide its lines may be. [default: 100]",
)
@click.option("--dry-run", is_flag=True, help="Show the difference, and write nothing.")
@add_trace_options
def cite(
    reference: str, place: str, kind: str | None, part: str | None, width: int, dry_run: bool, **options: Any
) -> None:
    """REF is the beginning of an id of a requirement, its path, SPEC#SECTION for the title of a section, or FILE:LINE
    for what is cited there. The citation is written above the line that --at names, as comments of that file are,
    indented like the line, and wrapped.

    It is checked as `duvet validate` would, before anything is written: what would not be valid is refused.

    \b
    Examples:
      duvet cite 3b42c44e --at src/lib.rs:42
      duvet cite src/lib.rs:42 --at tests/requests.rs:7 --type test
      duvet cite 3b42c44e --at src/lib.rs:90 --type exception --reason 'We are no client.'
      duvet cite rfc9114#section-4.1 --at src/lib.rs:12 --dry-run
    """
    fields = {name: value for key, name in _FIELDS.items() if (value := options.pop(key))}
    location = parse_file_line(place)
    if location is None:
        raise DuvetError(f"{quote_text(place)} names no line", hint="write FILE:LINE")
    project = open_project_quietly(open_cache(), options)
    catalogue = project.catalogue
    found = resolve_reference(catalogue, reference, ProjectFiles(project.tree, project.root))
    citable = find_citable(catalogue, found, part)
    request = CiteOptions(location.path, location.line, Kind[kind.upper()] if kind else None, fields, width)
    cited = insert_citation(project, citable, request)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST print the citation with its place, or with `--dry-run` print a unified diff and write nothing.
    if dry_run:
        write_stdout("".join(make_patch(cited.path, cited.before, cited.after)).encode())
        return
    # This fails if standard output is closed; then nothing is written.
    write_stdout(b"")
    write_cited_file(project, cited)
    lines = [f"{show_path(cited.path)}:{cited.line}", *cited.lines]
    write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode(errors="replace"))
