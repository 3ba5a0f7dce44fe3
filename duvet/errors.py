"""The errors that several packages raise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duvet.model import Problem


class DuvetError(Exception):
    """An error that a user can fix: what is wrong, where, and how to fix it."""

    rule_code = "DUV122"  # The rule of an error that ends a command.

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
    """Raised when problems keep the run from continuing."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        first = problems[0]
        super().__init__(first.message, path=first.path, line=first.place.line, hint=first.hint)
        self.problems = problems


class UnreadableError(DuvetError):
    """Raised when a file can't be read."""


class NotRegularError(UnreadableError):
    pass


class MarkdownError(UnreadableError):
    pass


class ConfigAbsentError(UnreadableError):
    pass


class FetchError(DuvetError):
    """Raised when a specification's text is not available, for example because a download failed."""


class NotFoundError(DuvetError):
    """Raised when a name matches nothing, or is ambiguous."""

    rule_code = "DUV120"


class NoSectionError(NotFoundError):
    """Raised when a section does not exist and no name is similar."""

    def __init__(self, message: str, specification: str) -> None:
        super().__init__(message, hint=f"run `duvet show {specification or 'SPEC'}` to list the sections")
        self.specification = specification
        """The id of the specification; empty if several were searched."""


class QueryError(DuvetError):
    pass


class OutputError(DuvetError):
    pass


class OutputExistsError(OutputError):
    pass


_PLAIN_WORDS = {
    "No such file or directory": ("it does not exist", "correct the path, or create the file"),
    "Is a directory": ("it is a folder", "name a file"),
    "Not a directory": ("a part of its path is not a folder", "correct the path"),
    "Permission denied": ("permission denied", "change its permissions, or name another file"),
    "No space left on device": ("no space left on the device", ""),
    "Too many levels of symbolic links": ("its symbolic links form a loop", ""),
    "File name too long": ("its name is too long", ""),
}
"""System errors in plain words, each with a hint."""
_OS_ERROR = r"(?P<words>[^:]*) \(os error \d+\)\Z"


def describe_plainly(message: str) -> tuple[str, str]:
    found = re.search(_OS_ERROR, message)
    if found is None:
        return message, ""
    words = found["words"].strip()
    reason, hint = _PLAIN_WORDS.get(words, (f"{words[:1].lower()}{words[1:]}", ""))
    if before := message[: found.start()]:
        return f"{before} {reason}", hint
    return re.sub(r"\A(?:it|its)\b", lambda it: {"it": "this path", "its": "this path's"}[it[0]], reason), hint


def describe_os_error(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error} (os error {error.errno})"
    return "paths can't contain NUL characters"
