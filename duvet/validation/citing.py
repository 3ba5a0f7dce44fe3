"""A new annotation for a source of a project, validated in memory before it is written."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from duvet.errors import DuvetError, OutputError, UnreadableError
from duvet.model import Kind, Place, Problem, ProblemsError
from duvet.outputs import store
from duvet.project import Project
from duvet.queries.citable import Citable
from duvet.queries.places import plain_paths
from duvet.sources.inserting import Wanted, insertion, style_of
from duvet.sources.style import Style
from duvet.text import decode, quoted
from duvet.validation.choosing import choose
from duvet.validation.findings import Finding
from duvet.validation.overlay import overlaid
from duvet.validation.validate import validate


class Wish(Struct, frozen=True):
    """How to cite, and where."""

    name: str
    """The file, as people call it."""
    line: int
    kind: Kind | None = None
    """None for what the source gives by itself."""
    fields: Mapping[str, str] = {}
    most: int = 100
    """How wide lines may be."""


class Cited(Struct, frozen=True):
    """What a file held, and what it holds with the annotation."""

    path: str
    line: int
    lines: tuple[str, ...]
    before: bytes
    after: bytes


def cited(project: Project, wanted: Citable, wish: Wish) -> Cited:
    """The file with the annotation in it, of which nothing is written; DuvetError where it would not be valid."""
    path, styles = _source(project, wish.name)
    style = style_of(styles, wish.kind)
    kind = wish.kind or style.kind
    if kind is Kind.EXCEPTION and not wish.fields.get("reason", "").strip():
        raise DuvetError("an exception needs a reason", hint="give it with --reason")
    before = project.tree.read(path)
    ##= man/spec/cite.md#what-is-written
    ##% A type that the source gives by itself MUST NOT be written.
    said = Wanted(wanted.target, wanted.quote, kind, wish.fields)
    new = insertion(path, decode(before, path), wish.line, said, style, wish.most)
    after = new.text.encode()
    _check(project, path, wish.line, len(new.lines), after)
    return Cited(path, wish.line, new.lines, before, after)


def _source(project: Project, name: str) -> tuple[str, tuple[Style, ...]]:
    """The source of that name, and how it writes annotations."""
    styles = {path: styles for styles, paths in project.inputs.sources for path in paths}
    chosen = choose([name], styles, project.root, project.tree)
    if chosen.problems:
        raise UnreadableError("there is no such file", path=name, hint="paths begin in the working directory")
    ##= man/spec/cite.md#what-is-refused
    ##% A file that no source pattern matches MUST NOT be changed.
    if len(chosen.paths) != 1 or not any(map(project.tree.is_file, plain_paths(name, project.root))):
        raise DuvetError(
            f"{quoted(name)} is no source", hint="no `[[source]]` of the configuration has a pattern that matches it"
        )
    (path,) = chosen.paths
    return path, styles[path]


def _check(project: Project, path: str, line: int, count: int, after: bytes) -> None:
    """ProblemsError with what is wrong with the project, once the file holds this, that was right before."""
    ##= man/spec/cite.md#what-is-refused
    ##% What `duvet validate` would find something wrong with MUST NOT be written.
    known = Counter(_kinds(validate(project).found))
    found = validate(overlaid(project, {path: after})).found
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


def write_cited(project: Project, found: Cited) -> None:
    """Write the file, unless it has changed since."""
    target = project.disk.at(found.path)
    ##= man/spec/cite.md#what-is-refused
    ##% A file that has changed since it was read MUST NOT be written.
    if project.disk.read(found.path) != found.before:
        raise OutputError("this file has changed meanwhile", path=found.path, hint="run the same command again")
    if not os.access(target, os.W_OK):
        raise OutputError("this file is read-only", path=found.path)
    ##= man/spec/cite.md#what-is-written
    ##% The file MUST be written whole or not at all, with its permissions, and through links.
    store(target, found.after)
