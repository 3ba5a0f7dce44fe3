"""`duvet cite`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files, complete_references
from duvet.console.options import KIND_TYPE, TEXT_TYPE, add_trace_options
from duvet.console.problems import make_patch
from duvet.console.project import open_cache, open_project_quietly
from duvet.console.streams import write_stdout
from duvet.errors import DuvetError
from duvet.model import Kind
from duvet.queries.new_citation import CitedFile, CiteOptions, insert_citation, write_cited_file
from duvet.queries.references import find_citable, resolve_reference
from duvet.reports.cells import escape_cell
from duvet.text import quote_text
from duvet.trace.locations import ProjectFiles, parse_file_line


@click.command(cls=Subcommand)
@click.argument("reference", type=TEXT_TYPE, metavar="REF", shell_complete=complete_references)
@click.option(
    "--at",
    "place",
    required=True,
    metavar="FILE:LINE",
    shell_complete=complete_files,
    help="Insert it above this line.",
)
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
    reference: str,
    place: str,
    kind: str | None,
    reason: str | None,
    feature: str | None,
    tracking_issue: str | None,
    part: str | None,
    width: int,
    dry_run: bool,
    **where: Any,
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
    fields = {"reason": reason, "feature": feature, "tracking-issue": tracking_issue}
    given = {name: value for name, value in fields.items() if value}
    run_cite(reference, place, kind, given, part, width, where, dry_run=dry_run)


def run_cite(
    reference: str,
    place: str,
    kind: str | None,
    fields: Mapping[str, str],
    part: str | None,
    width: int,
    where: Mapping[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Insert an annotation, or show what that would do."""
    wanted = parse_file_line(place)
    if wanted is None:
        raise DuvetError(f"{quote_text(place)} names no line", hint="write FILE:LINE")
    project = open_project_quietly(open_cache(), where)
    catalogue = project.catalogue
    meant = find_citable(
        catalogue, resolve_reference(catalogue, reference, ProjectFiles(project.tree, project.root)), part
    )
    wish = CiteOptions(wanted.path, wanted.line, Kind[kind.upper()] if kind else None, fields, width)
    found = insert_citation(project, meant, wish)
    if dry_run:
        write_stdout("".join(make_patch(found.path, found.before, found.after)).encode())
        return
    # Nothing is written where nobody can be told.
    write_stdout(b"")
    write_cited_file(project, found)
    write_stdout(_told(found).encode(errors="replace"))


def _told(found: CitedFile) -> str:
    """What was inserted, and where."""
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST print the citation with its place, or with `--dry-run` print a unified diff and write nothing.
    lines = [f"{escape_cell(found.path)}:{found.line}", *(escape_cell(line) for line in found.lines)]
    return "".join(f"{line}\n" for line in lines)
