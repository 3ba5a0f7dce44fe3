"""Creates a citation for a requirement, validated in memory before it is written."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from duvet.errors import DuvetError, OutputError, UnreadableError
from duvet.model import Kind, Place, Problem, ProblemsError
from duvet.project.project import Project
from duvet.project.validation import Finding, choose_inputs, overlay_project, validate
from duvet.queries.references import CitableText
from duvet.sources.comments import SourceStyle
from duvet.sources.editor import NewAnnotation, choose_style, insert_annotation
from duvet.text import decode_utf8, quote_text
from duvet.trace.locations import list_possible_paths
from duvet.tree.outputs import store_file


class CiteOptions(Struct, frozen=True):
    """How to cite, and where."""

    name: str
    """The file, as people call it."""
    line: int
    kind: Kind | None = None
    """None for what the source gives by itself."""
    fields: Mapping[str, str] = {}
    most: int = 100
    """How wide lines may be."""


class CitedFile(Struct, frozen=True):
    """What a file held, and what it holds with the annotation."""

    path: str
    line: int
    lines: tuple[str, ...]
    before: bytes
    after: bytes


def insert_citation(project: Project, wanted: CitableText, wish: CiteOptions) -> CitedFile:
    """The file with the annotation in it, of which nothing is written; DuvetError where it would not be valid."""
    path, styles = _source(project, wish.name)
    style = choose_style(styles, wish.kind)
    kind = wish.kind or style.kind
    if kind is Kind.EXCEPTION and not wish.fields.get("reason", "").strip():
        raise DuvetError("an exception needs a reason", hint="give it with --reason")
    before = project.tree.read(path)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST insert a citation above the given line, in the comment style of the source, with the line's
    ##% indentation and without an implied type.
    said = NewAnnotation(wanted.target, wanted.quote, kind, wish.fields)
    new = insert_annotation(path, decode_utf8(before, path), wish.line, said, style, wish.most)
    after = new.text.encode()
    _check(project, path, wish.line, len(new.lines), after)
    return CitedFile(path, wish.line, new.lines, before, after)


def _source(project: Project, name: str) -> tuple[str, tuple[SourceStyle, ...]]:
    """The source of that name, and how it writes annotations."""
    styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
    chosen = choose_inputs([name], styles, project.root, project.tree)
    if chosen.problems:
        raise UnreadableError("there is no such file", path=name, hint="paths begin in the working directory")
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse a file that no source pattern matches, a line that the file does not have, and a place
    ##% inside an annotation or a continued line.
    if len(chosen.paths) != 1 or not any(map(project.tree.is_file, list_possible_paths(name, project.root))):
        raise DuvetError(
            f"{quote_text(name)} is no source",
            hint="no `[[source]]` of the configuration has a pattern that matches it",
        )
    (path,) = chosen.paths
    return path, styles[path]


def _check(project: Project, path: str, line: int, count: int, after: bytes) -> None:
    """ProblemsError with what is wrong with the project, once the file holds this, that was right before."""
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST NOT write a citation in which `duvet validate` would find a problem.
    known = Counter(_kinds(validate(project).found))
    found = validate(overlay_project(project, {path: after})).found
    problems: list[Problem] = []
    for one, kind in zip(found, _kinds(found), strict=True):
        if known[kind]:
            known[kind] -= 1
        else:
            problems.append(_told(one.problem, path, line, count))
    if problems:
        raise ProblemsError(tuple(problems))


def _kinds(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    """What problems say, wherever it stands: lines move when others come."""
    return ((one.problem.path, one.problem.code, one.problem.message) for one in findings)


def _told(problem: Problem, path: str, line: int, count: int) -> Problem:
    """The problem with places in the file as it is: that of the annotation is where it should have come to stand."""

    def unmoved(place: re.Match[str]) -> str:
        there = int(place[1])
        return f"{path}:{there - count if there >= line + count else there}"

    message = re.sub(rf"{re.escape(path)}:(\d+)", unmoved, problem.message)
    place = Place(line) if problem.path == path else problem.place
    return Problem(problem.code, message, problem.path, place, hint=problem.hint)


def write_cited_file(project: Project, found: CitedFile) -> None:
    """Write the file, unless it has changed since."""
    target = project.disk.at(found.path)
    if project.disk.read(found.path) != found.before:
        raise OutputError("this file has changed meanwhile", path=found.path, hint="run the same command again")
    if not os.access(target, os.W_OK):
        raise OutputError("this file is read-only", path=found.path)
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST write the file completely or not at all, through links and with its permissions, unless the
    ##% file has changed since it was read.
    store_file(target, found.after)
