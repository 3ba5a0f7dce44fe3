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
@file_option("--at", "place", required=True, metavar="FILE:LINE", help="Insert the citation above this line.")
@click.option("--type", "kind", type=KIND_TYPE, help="The annotation type [default: that of the source pattern].")
@click.option("--reason", type=TEXT_TYPE, metavar="TEXT", help="The reason; required for an exception.")
@click.option("--feature", type=TEXT_TYPE, metavar="TEXT", help="The feature that a todo belongs to.")
@click.option("--tracking-issue", type=TEXT_TYPE, metavar="ID|URL", help="The issue that tracks a todo.")
@click.option("--part", type=TEXT_TYPE, metavar="WORDS", help="Quote only these words of the requirement.")
@click.option(
    "--width",
    type=click.IntRange(20, 1000),
    default=100,
    metavar="COLUMNS",
    help="The maximum line width. [default: 100]",
)
@click.option("--dry-run", is_flag=True, help="Print the change as a diff, and write nothing.")
@add_trace_options
def cite(
    reference: str, place: str, kind: str | None, part: str | None, width: int, dry_run: bool, **options: Any
) -> None:
    """REF is the first digits of a requirement id, its name in the specification (FR-001 or SPEC#FR-001), SPEC#SECTION to
    cite the title of a section, or FILE:LINE to cite the same requirement as another annotation. duvet inserts the
    citation above the line that --at names, in the file's comment style and with the line's indentation, and wraps it.

    duvet refuses a citation that `duvet validate` would report.

    \b
    Examples:
      duvet cite 3b42c44e --at src/lib.rs:42
      duvet cite src/lib.rs:42 --at tests/requests.rs:7 --type test
      duvet cite 3b42c44e --at src/lib.rs:90 --type exception --reason 'Unused.'
      duvet cite rfc9114#section-4.1 --at src/lib.rs:12 --dry-run
    """
    fields = {name: value for key, name in _FIELDS.items() if (value := options.pop(key))}
    location = parse_file_line(place)
    if location is None:
        raise DuvetError(f"--at {quote_text(place)} has no line number", hint="write FILE:LINE, as in `src/lib.rs:42`")
    project = open_project_quietly(open_cache(), options)
    catalogue = project.catalogue
    found = resolve_reference(catalogue, reference, ProjectFiles(project.tree, project.root))
    citable = find_citable(catalogue, found, part)
    request = CiteOptions(location.path, location.line, Kind[kind.upper()] if kind else None, fields, width)
    cited = insert_citation(project, citable, request)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST print the citation and the path and line where it was inserted. With `--dry-run`, `duvet cite`
    ##% MUST print a unified diff and write nothing.
    if dry_run:
        write_stdout("".join(make_patch(cited.path, cited.before, cited.after)).encode())
        return
    # This fails if standard output is closed; then nothing is written.
    write_stdout(b"")
    write_cited_file(project, cited)
    lines = [f"{show_path(cited.path)}:{cited.line}", *cited.lines]
    write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode(errors="replace"))
