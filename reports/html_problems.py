"""The problems on the page."""

from __future__ import annotations

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Problem
from duvet.reports.html_references import References


class ProblemView(Struct, frozen=True):
    """A problem with its places linked."""

    problem: Problem
    place: Markup
    notes: tuple[tuple[Markup, str], ...]


def problem_view(problem: Problem, references: References) -> ProblemView:
    """A problem as it is shown."""
    path = problem.path
    notes = ((Markup(references.place(path, note.place)), note.label) for note in problem.notes)
    return ProblemView(problem, Markup(references.place(path, problem.place) if path else ""), tuple(notes))
