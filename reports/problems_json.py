"""Problems as JSON for programs: one object, whose shape has a version."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from duvet.model import Fix, Place, Problem
from duvet.reports.problems import ProblemContext, count_problems
from duvet.reports.tables import encode_json
from duvet.rules import find_rule_name

PROBLEMS_VERSION = 1
"""It goes up when a key goes or changes its meaning; a key that is new is no reason."""


class _Span(Struct, frozen=True, kw_only=True):
    """Lines and columns count characters from 1; null is unknown, and without columns the whole line is meant."""

    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None  # The column after the last character.


class NoteRecord(_Span, frozen=True, kw_only=True):
    """Something else in the file of a problem that belongs to it."""

    label: str


class ProblemRecord(Struct, frozen=True, kw_only=True):
    """A problem; its path begins in the folder that the run began in."""

    code: str
    name: str
    severity: str
    message: str
    path: str
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    label: str
    hint: str
    notes: tuple[NoteRecord, ...]
    fix: Fix | None


class ProblemsRecord(Struct, frozen=True):
    """All problems of a run, by path and place."""

    version: int
    problems: tuple[ProblemRecord, ...]
    errors: int
    warnings: int


def render_problems_json(problems: Sequence[Problem], view: ProblemContext) -> bytes:
    """One object with every problem."""
    ##= man/spec/problems.md#json
    ##% JSON MUST be one object with the version of its shape, every problem, and the numbers of errors and warnings.
    return encode_json(ProblemsRecord(PROBLEMS_VERSION, tuple(map(_record, problems)), *count_problems(problems)))


def _record(problem: Problem) -> ProblemRecord:
    return ProblemRecord(
        code=problem.code,
        name=find_rule_name(problem.code),
        severity=problem.severity.value,
        message=problem.message,
        path=problem.path,
        **_span(problem.place),
        label=problem.label,
        hint=problem.hint,
        notes=tuple(NoteRecord(**_span(note.place), label=note.label) for note in problem.notes),
        fix=problem.fix,
    )


def _span(place: Place) -> dict[str, int | None]:
    line = place.line or None
    column = place.column if line and place.column else None
    return {"line": line, "column": column, "end_line": line, "end_column": place.end_column if column else None}
