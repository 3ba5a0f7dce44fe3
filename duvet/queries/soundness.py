"""Whether everything in a project counts, and the words for where it doesn't."""

from __future__ import annotations

from duvet.model import Problem, Severity
from duvet.queries.catalogue import Catalogue
from duvet.text import plural

NO_REQUIREMENTS = "the project has no requirements"


def errors(catalogue: Catalogue) -> tuple[Problem, ...]:
    """What is wrong in the project; while anything is, not everything counts."""
    return tuple(problem for problem in catalogue.problems if problem.severity is Severity.ERROR)


def counted(catalogue: Catalogue) -> str:
    """How many errors there are."""
    return f"{plural(len(errors(catalogue)), 'error')} in the project"


def not_everything(catalogue: Catalogue) -> str:
    """That not everything counts; nothing where it does."""
    return f"{counted(catalogue)}, so not everything counts" if errors(catalogue) else ""
