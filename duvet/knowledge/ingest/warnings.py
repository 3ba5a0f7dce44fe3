"""What is told of files that could not be taken in as they should be."""

from __future__ import annotations

from duvet.errors import DuvetError
from duvet.model import Place, Problem, ProblemsError, Severity


def warning(message: str, path: str = "", place: Place = Place(), hint: str = "") -> Problem:  # noqa: B008 - frozen
    """A problem that keeps nothing from going on."""
    return Problem("", message, path, place, hint=hint, severity=Severity.WARNING)


def warned(error: DuvetError) -> tuple[Problem, ...]:
    """The same of an error."""
    if isinstance(error, ProblemsError):
        return tuple(warning(one.message, one.path, one.place, one.hint) for one in error.problems)
    return (warning(error.message, error.path, Place(error.line), error.hint),)


def in_words(problem: Problem) -> str:
    """A problem on one line."""
    place = f"{problem.path}:{problem.place.line}: " if problem.place.line else f"{problem.path}: " * bool(problem.path)
    return as_text(place + problem.message)


def as_text(words: str) -> str:
    """Words in which a name may stand that is no text."""
    return words.encode(errors="surrogateescape").decode(errors="backslashreplace")


def reason_of(error: BaseException) -> str:
    """Why a run has come to nothing."""
    if isinstance(error, DuvetError):
        return as_text(str(error))
    # What stops a run from outside says where that came from, which nobody needs to know.
    said = str(error) if isinstance(error, Exception) else ""
    return as_text(f"{type(error).__name__}: {said}".rstrip(": "))
