"""`duvet show`"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_references
from duvet.console.lists import detect_table_look
from duvet.console.options import TEXT_TYPE, add_trace_options, load_catalogue, load_specification, print_error_notice
from duvet.console.streams import write_stdout
from duvet.queries.citations import CitationReader
from duvet.queries.details import DetailMaterial, make_detail
from duvet.queries.records import Detail
from duvet.queries.references import resolve_reference
from duvet.reports.tables import encode_json
from duvet.trace.catalogue import SpecificationCard
from duvet.trace.locations import ProjectFiles
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.model import Specification


@click.command(cls=Subcommand)
@click.argument("reference", type=TEXT_TYPE, metavar="REF", shell_complete=complete_references)
@add_trace_options
@click.option(
    "--context",
    type=click.IntRange(0, 1000),
    default=2,
    metavar="N",
    help="Show N lines of code before and after each citation. [default: 2]",
)
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="How to write it. [default: text]",
)
def show(reference: str, context: int, format: str, **where: Any) -> None:
    """REF is the beginning of an id of a requirement, SPEC#SECTION, a specification, FILE:LINE, a file, or the path of
    a resource, as other commands print them. A line of code means the citations right above it, a line of a
    specification the requirement that begins there.

    A requirement is shown with the reason of its status, its citations with the code around them, and what stands
    beside it; a section with its text; a specification with its numbers; a file with all of its citations.

    \b
    Examples:
      duvet show 3b42c44e
      duvet show rfc9114#section-4.1
      duvet show src/lib.rs:42 --context 5
      duvet show rfc9114 --format markdown
    """
    run_show(reference, context, format, where)


def run_show(reference: str, context: int, format: str, where: Mapping[str, Any]) -> None:
    """Write all there is to say of what a reference means."""
    catalogue = load_catalogue(where)
    print_error_notice(catalogue)
    files = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))
    found = resolve_reference(catalogue, reference, files)

    def load(card: SpecificationCard) -> Specification:
        return load_specification(card)

    material = DetailMaterial(catalogue, CitationReader(catalogue, files, context), load)
    write_stdout(_rendered(make_detail(material, found), format))


def _rendered(detail: Detail, format: str) -> bytes:
    if format == "json":
        return encode_json(detail)
    from duvet.reports.detail import make_detail_blocks

    if format == "markdown":
        from duvet.reports import detail as show_markdown

        return show_markdown.render_blocks_markdown(make_detail_blocks(detail))
    from duvet.reports import detail as show_text

    return show_text.render_blocks_text(make_detail_blocks(detail), detect_table_look())
