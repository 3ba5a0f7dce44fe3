"""The errors that duvet raises, from the general to the specific."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duvet.model import Problem


class DuvetError(Exception):
    """An error that a user can fix; the message says what and where, the hint how."""

    def __init__(self, message: str, *, path: str = "", line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return place + self.message


class ProblemsError(DuvetError):
    """The run can't continue because of these problems."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        first = problems[0]
        super().__init__(first.message, path=first.path, line=first.place.line, hint=first.hint)
        self.problems = problems


class UnreadableError(DuvetError):
    """A file can't be read."""


class NotRegularError(UnreadableError):
    """The path of a file names a folder or a device."""


class MarkdownError(UnreadableError):
    """The Markdown parser fails on a text."""


class ConfigAbsentError(UnreadableError):
    """The project has no configuration."""


class FetchError(DuvetError):
    """A specification can't be downloaded."""


class NotFoundError(DuvetError):
    """A name matches nothing, or several things."""


class QueryError(DuvetError):
    """A query is not valid."""


class OutputError(DuvetError):
    """A result can't be written."""


class OutputExistsError(OutputError):
    """The output file exists and must not be replaced."""


def describe_os_error(error: OSError | ValueError) -> str:
    """Return the system's message and error number, or the message for a path with a NUL, which is a ValueError."""
    if isinstance(error, OSError):
        return f"{error.strerror or error} (os error {error.errno})"
    return "paths can't contain NUL characters"
