"""`duvet show`"""

from __future__ import annotations

import os
from typing import Any

import click

from duvet.console import command, project, streams
from duvet.console.options import add_detail_format, add_reference, add_trace_options
from duvet.queries import details, records, references
from duvet.reports.detail import make_detail_blocks
from duvet.trace.locations import ProjectFiles
from duvet.tree.files import DiskTree


@click.command(cls=command.Subcommand)
@add_reference
@add_trace_options
@click.option(
    "--context",
    type=command.IntegerRange(0, 1000),
    default=2,
    metavar="N",
    help="Show N lines of code before and after each citation. [default: 2]",
)
@add_detail_format
def show(reference: str, context: int, format: str, **options: Any) -> None:
    """A requirement is shown with its state, citations and code; a section with its text; a specification with its
    coverage; a file with its citations.

    REF is a requirement (the first digits of its id, or its name in the specification, as FR-001 or SPEC#FR-001), a
    specification, SPEC#SECTION, a file, FILE:LINE, or the full path of a resource, as in JSON output. A line of code
    refers to the citations right above it, and a line of a specification to the requirement that begins there.

    \b
    Examples:
      duvet show 3b42c44e
      duvet show FR-001
      duvet show rfc9114#section-4.1
      duvet show src/lib.rs:42 --context 5
      duvet show rfc9114 --format markdown
    """
    catalogue = project.load_catalogue(options)
    streams.print_remark(records.describe_error_notice(catalogue))
    files = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))
    found = references.resolve_reference(catalogue, reference, files)
    detail = details.make_detail(details.CitationReader(catalogue, files, context), project.load_specification, found)
    streams.print_detail(detail, make_detail_blocks(detail), format)
