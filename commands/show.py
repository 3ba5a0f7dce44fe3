"""`duvet show`"""

from __future__ import annotations

import os
from typing import Any

import click

from duvet.console.command import IntegerRange, ReferenceType, Subcommand, complete_values
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import print_detail
from duvet.console.project import load_catalogue, load_specification
from duvet.console.streams import print_remark
from duvet.queries.details import CitationReader, make_detail
from duvet.queries.records import describe_error_notice
from duvet.queries.references import resolve_reference
from duvet.reports.detail import make_detail_blocks
from duvet.trace.locations import ProjectFiles
from duvet.tree.files import DiskTree


@click.command(cls=Subcommand)
@click.argument("reference", type=ReferenceType(TEXT_TYPE), metavar="REF", shell_complete=complete_values("references"))
@add_trace_options
@click.option(
    "--context",
    type=IntegerRange(0, 1000),
    default=2,
    metavar="N",
    help="Show N lines of code before and after each citation. [default: 2]",
)
@click.option(
    "--format", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format. [default: text]"
)
def show(reference: str, context: int, format: str, **options: Any) -> None:
    """A requirement is shown with its state, citations and code; a section with its text; a specification with its
    coverage; a file with its citations.

    REF is the first digits of a requirement id, its name in the specification (FR-001 or SPEC#FR-001), a specification,
    SPEC#SECTION, a file, FILE:LINE, or the full path of a resource, as in JSON output. A line of code refers to the
    citations right above it, and a line of a specification to the requirement that begins there.

    \b
    Examples:
      duvet show 3b42c44e
      duvet show FR-001
      duvet show rfc9114#section-4.1
      duvet show src/lib.rs:42 --context 5
      duvet show rfc9114 --format markdown
    """
    catalogue = load_catalogue(options)
    print_remark(describe_error_notice(catalogue))
    files = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))
    found = resolve_reference(catalogue, reference, files)
    detail = make_detail(CitationReader(catalogue, files, context), load_specification, found)
    print_detail(detail, make_detail_blocks(detail), format)
