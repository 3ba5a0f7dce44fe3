"""All that can be mended, mended: in memory first, where it is validated again, then on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct

from duvet import rules
from duvet.errors import DuvetError, OutputError
from duvet.model import Edit, Problem
from duvet.outputs import together
from duvet.project import Project
from duvet.sources.edit import edited
from duvet.trace.places import Places
from duvet.validation.findings import Findings
from duvet.validation.overlay import overlaid
from duvet.validation.validate import validate

# A mend makes its annotation valid, so that a second look finds little to do, and a third one nothing.
_MOST_LOOKS = 5


class Mended(Struct, frozen=True):
    """What files held, what they are to hold, and what is still wrong then."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    first: Findings
    """What was wrong before."""
    findings: Findings
    citations: int
    """How many annotations were mended."""


def mended(project: Project, chosen: Callable[[Findings], Iterable[str]]) -> Mended:
    """What comes of mending all that can be mended in the inputs that are chosen; nothing is written."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    ids: set[int] = set()
    ##= man/spec/validate.md#mending
    ##% Mending what has been mended MUST change nothing.
    current, first = project, None
    for _ in range(_MOST_LOOKS):
        places = Places(current.tree)
        findings = validate(current, places)
        first = first or findings
        edits = _edits(findings, chosen(findings))
        if not edits:
            break
        for path, found in edits.items():
            text = places.text(path)
            before.setdefault(path, text.encode())
            after[path] = edited(text, [edit for _, one in found for edit in one]).encode()
            ids.update(id for id, _ in found)
        current = overlaid(project, after)
    return Mended(before, after, first or findings, findings, len(ids))


def _edits(findings: Findings, paths: Iterable[str]) -> dict[str, list[tuple[int, tuple[Edit, ...]]]]:
    """The edits by file, with the annotations that they are for."""
    wanted = frozenset(paths)
    found: dict[str, list[tuple[int, tuple[Edit, ...]]]] = {}
    for one in findings.found:
        if one.problem.fix is not None and one.problem.path in wanted:
            found.setdefault(one.problem.path, []).append((one.id, one.problem.fix.edits))
    return found


def write_mended(project: Project, found: Mended) -> tuple[Problem, ...]:
    """Write what was mended, all of it or nothing; what keeps it from being written."""
    problems = [problem for path in found.after if (problem := _obstacle(project, path, found.before[path]))]
    if problems:
        return tuple(problems)
    ##= man/spec/validate.md#mending
    ##% A file that is mended MUST be written whole or not at all, and MUST keep its permissions and the links to it.
    try:
        with together() as write:
            for path, data in found.after.items():
                write(project.disk.at(path), data)
    except OutputError as error:
        return (rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint),)
    return ()


def _obstacle(project: Project, path: str, before: bytes) -> Problem | None:
    """Why a file must not be written."""
    ##= man/spec/validate.md#mending
    ##% A file that changed after it was read, or that must not be written to, MUST be left alone.
    with suppress(DuvetError):
        if project.disk.read(path) == before:
            if os.access(project.disk.at(path), os.W_OK):
                return None
            return rules.FILE_UNWRITABLE.problem("this file is read-only, so it was not mended", path)
    message = "this file changed while it was checked, so it was not mended"
    return rules.FILE_UNWRITABLE.problem(message, path, hint="run the same command again")
