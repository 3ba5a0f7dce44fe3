"""The formats of problems, and what all of them take."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module

from msgspec import Struct

from duvet.model import Problem, Severity

ReadLine = Callable[[str, int], str | None]
"""The text of a line of a file, or None where there is none."""

# Compiled when it is wanted: most runs have no problem to tell.
_ABSOLUTE = r"/|[A-Za-z]:[\\/]|\\\\"


class ProblemFormat(StrEnum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"


class View(Struct, frozen=True):
    """What a format may need to know beside the problems."""

    read_line: ReadLine = lambda path, line: None
    colour: bool = False
    folder: str = ""
    """The path from the root of the repository to where the paths of problems begin."""


Render = Callable[[Sequence[Problem], View], bytes]

_MODULES = {
    ProblemFormat.TEXT: "problems",
    ProblemFormat.JSON: "problems_json",
    ProblemFormat.SARIF: "sarif",
    ProblemFormat.GITHUB: "github",
    ProblemFormat.JUNIT: "junit",
}


def render(problems: Sequence[Problem], format: ProblemFormat, view: View = View()) -> bytes:  # noqa: B008 - frozen
    """The problems in that format."""
    # A format is imported where it is wanted.
    ##= man/spec/problems.md#formats
    ##% With `--format`, problems MUST be written as `text`, `json`, `sarif`, `github` or `junit`.
    chosen: Render = import_module(f"duvet.reports.{_MODULES[format]}").render
    return chosen(problems, view)


def tally(problems: Sequence[Problem]) -> tuple[int, int]:
    """How many errors and how many warnings these are."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    return errors, len(problems) - errors


def from_root(path: str, folder: str) -> str:
    """The path seen from the root of the repository; what begins elsewhere stays as it is."""
    if not path or not folder or is_absolute(path):
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def is_absolute(path: str) -> bool:
    """Whether a path, on whatever system, says where it begins."""
    return re.match(_ABSOLUTE, path) is not None
