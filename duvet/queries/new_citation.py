"""New citations in source files, validated in memory before they are written."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from duvet.errors import DuvetError, OutputError, ProblemsError, UnreadableError
from duvet.model import Kind, Place, Problem
from duvet.project.findings import Finding, choose_inputs
from duvet.project.project import Project
from duvet.project.validation import overlay_project, validate
from duvet.queries.references import CitableText
from duvet.rules import CITATION_REPEATED, QUOTE_PARTIAL
from duvet.sources.editor import NewAnnotation, choose_style, insert_annotation
from duvet.text import decode_utf8, quote_text
from duvet.trace.locations import list_possible_paths
from duvet.tree.outputs import store_file


class CiteOptions(Struct, frozen=True):
    name: str  # The path of the file, relative to the working directory.
    line: int
    kind: Kind | None = None  # None for the default type of the source.
    fields: Mapping[str, str] = {}
    width: int = 100  # The maximum line width.


class CitedFile(Struct, frozen=True):
    path: str
    line: int
    lines: tuple[str, ...]
    before: bytes
    after: bytes


def insert_citation(project: Project, citable: CitableText, options: CiteOptions) -> CitedFile:
    """Insert the citation in memory; raise DuvetError if it would not be valid."""
    styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
    name, root = options.name, project.root
    chosen = choose_inputs([name], styles, root, project.tree)
    if chosen.problems:
        raise UnreadableError("no such file", path=name, hint="write the path relative to the working directory")
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse a file that no source pattern matches, and a line that the file does not have. `duvet
    ##% cite` MUST refuse to insert a citation inside an annotation or inside a statement that continues on the next
    ##% line.
    if len(chosen.paths) != 1 or not any(map(project.tree.is_file, list_possible_paths(name, root))):
        hint = "use a file that a `[[source]]` pattern in the configuration matches"
        raise DuvetError(f"{quote_text(name)} is not a source file", hint=hint)
    (path,) = chosen.paths
    style = choose_style(styles[path], options.kind)
    kind = options.kind or style.kind
    if kind is Kind.EXCEPTION and not options.fields.get("reason", "").strip():
        raise DuvetError("an exception needs a reason", hint="add --reason TEXT")
    before = project.tree.read(path)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST insert the citation above the given line, in the comment style of the file and with the
    ##% indentation of the line.
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST leave out the type of the annotation if it is the default for the file.
    annotation = NewAnnotation(citable.target, citable.quote, kind, options.fields)
    new = insert_annotation(path, decode_utf8(before, path), options.line, annotation, style, options.width)
    after = new.text.encode()
    # Report only the problems that the new citation causes.
    count = len(new.lines)
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST NOT write a citation that `duvet validate` would report, except a citation that quotes only a
    ##% part of its requirement.
    old, found = (
        [one for one in validate(tree).found if one.problem.code != QUOTE_PARTIAL.code]
        for tree in (project, overlay_project(project, {path: after}))
    )
    known = Counter(_keys(old))
    problems: list[Problem] = []
    for one, key in zip(found, _keys(found), strict=True):
        if known[key]:
            known[key] -= 1
        elif one.problem.code == CITATION_REPEATED.code and one.problem.path == path:
            problems.append(_describe_repetition(one.problem, options.line, count))
        else:
            problems.append(_move_back(one.problem, path, options.line, count))
    if problems:
        raise ProblemsError(tuple(problems))
    return CitedFile(path, options.line, new.lines, before, after)


def _keys(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    """Yield the identity of each problem without its line, because the insertion moves lines."""
    return ((one.problem.path, one.problem.code, one.problem.message) for one in findings)


def _describe_repetition(problem: Problem, line: int, count: int) -> Problem:
    """Return the problem with the line of the existing annotation."""
    ##= man/spec/cite.md#what-is-refused
    ##% If the file already contains the same annotation, `duvet cite` MUST refuse to repeat it and print its line.
    lines = [place.line for place in (problem.place, *(note.place for note in problem.notes))]
    there = next((one for one in lines if not line <= one < line + count), problem.place.line)
    there -= count if there > line else 0
    message = f"{problem.path}:{there} already cites this; nothing was written"
    return Problem(problem.code, message, problem.path, Place(there))


def _move_back(problem: Problem, path: str, line: int, count: int) -> Problem:
    """Return the problem with the current lines of the file; the new annotation gets the line where it would begin."""

    def replace_line(place: re.Match[str]) -> str:
        number = int(place[1])
        return f"{path}:{number - count if number >= line + count else number}"

    message = re.sub(rf"{re.escape(path)}:(\d+)", replace_line, problem.message)
    place = Place(line) if problem.path == path else problem.place
    return Problem(problem.code, message, problem.path, place, hint=problem.hint)


def write_cited_file(project: Project, found: CitedFile) -> None:
    """Write the file, unless it has changed since it was read."""
    target = project.disk.at(found.path)
    if project.disk.read(found.path) != found.before:
        raise OutputError("this file changed while duvet was running", path=found.path, hint="run the command again")
    if not os.access(target, os.W_OK):
        raise OutputError("this file is read-only", path=found.path)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST write the file completely or not at all, and keep its permissions. `duvet cite` MUST write the
    ##% file that a symbolic link leads to, and keep the link. `duvet cite` MUST NOT write a file that has changed since
    ##% duvet read it.
    store_file(target, found.after)
