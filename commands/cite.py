"""`duvet cite`"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click
from msgspec import Struct

from duvet.console import command, filters, streams
from duvet.console.options import TEXT_TYPE, add_reference, add_trace_options
from duvet.console.problems import make_patch
from duvet.console.project import open_cache, open_project_quietly
from duvet.errors import DuvetError, OutputError, ProblemsError, UnreadableError
from duvet.model import Kind, Place, Problem
from duvet.project.findings import choose_inputs
from duvet.project.project import Project
from duvet.project.validation import overlay_project, validate
from duvet.queries.references import CitableText, Usage, find_citable, resolve_reference
from duvet.reports.cells import escape_cell
from duvet.rules import CITATION_EXCEPTED, CITATION_IN_STRING, CITATION_REPEATED, QUOTE_PARTIAL
from duvet.sources.editor import NewAnnotation, choose_style, insert_annotation
from duvet.text import decode_utf8, quote_text
from duvet.trace.locations import FileLine, ProjectFiles, list_possible_paths, parse_file_line
from duvet.tree.outputs import store_file

# For an annotation that was not written.
_HINTS = {
    CITATION_EXCEPTED.code: "cite another requirement, or remove the exception",
    CITATION_IN_STRING.code: "choose a line outside the string literal",
}
_FIELDS = {"reason": "reason", "feature": "feature", "tracking_issue": "tracking-issue"}


@click.command(cls=command.Subcommand)
@add_reference
@command.path_option("--at", "place", required=True, metavar="FILE:LINE", help="Insert the citation above this line.")
@click.option(
    "--type", "kind", type=filters.KIND_TYPE, help="The annotation type [default: the type of the file's `[[source]]`]."
)
@click.option("--reason", type=TEXT_TYPE, metavar="TEXT", help="The reason; required for an exception.")
@click.option("--feature", type=TEXT_TYPE, metavar="TEXT", help="The feature that a todo belongs to.")
@click.option("--tracking-issue", type=TEXT_TYPE, metavar="ID|URL", help="The issue that tracks a todo.")
@click.option("--part", type=TEXT_TYPE, metavar="WORDS", help="Quote only these words of the requirement.")
@click.option(
    "--width",
    type=command.IntegerRange(20, 1000),
    default=100,
    metavar="COLUMNS",
    help="The maximum line width. [default: 100]",
)
@click.option("--dry-run", is_flag=True, help="Print the change as a diff, and write nothing.")
@add_trace_options
def cite(
    reference: str, place: str, kind: str | None, part: str | None, width: int, dry_run: bool, **options: Any
) -> None:
    """REF is a requirement (the first digits of its id, or its name in the specification, as FR-001 or SPEC#FR-001),
    SPEC#SECTION to cite the title of a section, or FILE:LINE to cite the same requirement as another annotation. duvet
    inserts the citation above the line that --at names, in the file's comment style and with the line's indentation,
    and wraps it.

    duvet refuses a citation that `duvet validate` would report for any reason other than a partial quote.

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
    found = resolve_reference(catalogue, reference, ProjectFiles(project.tree, project.root), Usage.CITABLE)
    citable = find_citable(catalogue, found, part)
    cited = insert_citation(project, citable, location, Kind[kind.upper()] if kind else None, fields, width)
    ##= man/spec/cite.md#inserting
    ##% With `--dry-run`, `duvet cite` MUST print a unified diff and write nothing.
    if dry_run:
        streams.write_stdout("".join(make_patch(cited.path, cited.before, cited.after)).encode())
        return
    # This fails if standard output is closed; then nothing is written.
    streams.write_stdout(b"")
    write_cited_file(project, cited)
    lines = [f"{command.show_path(cited.path)}:{cited.line}", *cited.lines]
    streams.write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode(errors="replace"))


class CitedFile(Struct, frozen=True):
    path: str
    line: int
    lines: tuple[str, ...]
    before: bytes
    after: bytes


def insert_citation(
    project: Project, citable: CitableText, place: FileLine, kind: Kind | None, fields: Mapping[str, str], width: int
) -> CitedFile:
    styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
    name, line, root = place.path, place.line, project.root
    chosen = choose_inputs([name], styles, root, project.tree)
    if chosen.problems:
        raise UnreadableError(
            "no such file", path=name, hint="correct the path; it is relative to the working directory"
        )
    if len(chosen.paths) != 1 or not any(map(project.tree.is_file, list_possible_paths(name, root))):
        hint = "use a file that a `[[source]]` pattern in the configuration matches"
        raise DuvetError(f"{quote_text(name)} is not a source file", hint=hint)
    (path,) = chosen.paths
    style = choose_style(styles[path], kind)
    kind = kind or style.kind
    if kind is Kind.EXCEPTION and not fields.get("reason", "").strip():
        raise DuvetError("an exception needs a reason", hint="add --reason TEXT")
    before = project.tree.read(path)
    annotation = NewAnnotation(citable.target, citable.quote, kind, fields)
    new = insert_annotation(path, decode_utf8(before, path), line, annotation, style, width)
    after = new.text.encode()
    ##= man/spec/cite.md#refusals
    ##% `duvet cite` MUST NOT write a citation that `duvet validate` would report for any reason other than a partial
    ##% quote.
    old, found = (
        [one.problem for one in validate(tree).found if one.problem.code != QUOTE_PARTIAL.code]
        for tree in (project, overlay_project(project, {path: after}))
    )
    # Not by line, because the insertion moves lines.
    known = Counter((one.path, one.code, one.message) for one in old)
    problems: list[Problem] = []
    for one in found:
        if known[one.path, one.code, one.message]:
            known[one.path, one.code, one.message] -= 1
        else:
            problems.append(_move_back(one, path, line, len(new.lines)))
    if problems:
        raise ProblemsError(tuple(problems))
    return CitedFile(path, line, new.lines, before, after)


def _move_back(problem: Problem, path: str, line: int, count: int) -> Problem:
    if problem.code == CITATION_REPEATED.code and problem.path == path:
        # Name the line of the existing annotation.
        lines = [place.line for place in (problem.place, *(note.place for note in problem.notes))]
        there = next((one for one in lines if not line <= one < line + count), problem.place.line)
        there -= count if there > line else 0
        return Problem(
            problem.code, f"{path}:{there} already contains this annotation; nothing was written", path, Place(there)
        )

    if problem.code == CITATION_EXCEPTED.code and not (
        problem.path == path and line <= problem.place.line < line + count
    ):
        # The new annotation is the exception, and the problem is at a citation of the same text.
        there = problem.place.line
        there -= count if problem.path == path and there > line else 0
        message = f"{problem.path}:{there} cites the text of this exception"
        hint = "remove that citation, or choose another requirement"
        return Problem(problem.code, message, path, Place(line), hint=hint)

    def replace_line(place: re.Match[str]) -> str:
        number = int(place[1])
        return f"{path}:{number - count if number >= line + count else number}"

    message = re.sub(rf"{re.escape(path)}:(\d+)", replace_line, problem.message)
    place = Place(line) if problem.path == path else problem.place
    return Problem(problem.code, message, problem.path, place, hint=_HINTS.get(problem.code, problem.hint))


def write_cited_file(project: Project, found: CitedFile) -> None:
    target = project.disk.at(found.path)
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST refuse a file that has changed since duvet read it.
    if project.disk.read(found.path) != found.before:
        raise OutputError("this file changed while duvet was running", path=found.path, hint="run the command again")
    if not os.access(target, os.W_OK):
        raise OutputError("this file is read-only", path=found.path)
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST write the file completely or not at all, and keep its permissions and symbolic links.
    store_file(target, found.after)
